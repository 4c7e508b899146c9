import type { I18n } from '../../i18n/i18n.svelte.ts';

/** A kind of actor in words; one that this build has no word for by its own name. */
export function kindName(i18n: Pick<I18n, 'word'>, kind: string): string {
  const name = i18n.word('actorKind', kind);
  return name === kind ? kind.replaceAll('_', ' ') : name;
}
