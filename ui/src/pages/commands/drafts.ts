/**
 * Notes that were typed and not sent, kept in the tab for the next time: each of one person, as others may use the tab
 * later.
 */

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** What a draft is kept by. @param place an Alert Group, or a dialog about one */
export const draftFor = (user: { readonly id: string }, place: string): string => `${user.id}.${place}`;

const keyOf = (of: string) => `tocsin.note.${of}`;

export const readDraft = (of: string, storage: Kept = sessionStorage): string =>
  storage.getItem(keyOf(of)) ?? '';

export function keepDraft(of: string, text: string, storage: Kept = sessionStorage): void {
  if (text === '') storage.removeItem(keyOf(of));
  else storage.setItem(keyOf(of), text);
}

/** What was sent is no draft any more, also when its field is gone by then: it would be sent twice. */
export function draftSent(of: string, sent: string, storage: Kept = sessionStorage): void {
  keepDraft(of, restOf(readDraft(of, storage), sent), storage);
}

/** What was typed since `sent` was. */
export const restOf = (text: string, sent: string): string =>
  text.startsWith(sent) ? text.slice(sent.length).trimStart() : text;
