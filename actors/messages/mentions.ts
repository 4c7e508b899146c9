/** How each messenger writes a Mention (messages §4). Whoever cannot be mentioned is named in plain text. */
import type { MentionTarget } from '../templates/index.ts';
import type { MessageFormat } from './formats/format.ts';
import { html } from './formats/html.ts';
import { commonmark, markdown } from './formats/markdown.ts';
import type { MessageMention } from './input.ts';

/** Writes the Mentions of one message. */
export type WriteMention = (mention: MessageMention) => string;

/** Writes what a template's `mention` asks for. */
export type WriteTarget = (target: MentionTarget) => string;

/** A Mention marker of a bridge's body and the person behind it (bridge §3.6). */
export interface BridgeMention {
  readonly ref: string;
  readonly type: 'user';
  readonly user: {
    readonly external_id: string;
    readonly username: string | null;
    readonly display_name: string | null;
  };
}

/** Nobody is notified: a Quiet message, an edit, a preview. */
export function plainMention(format: MessageFormat): WriteMention {
  return (mention) => format.value(mention.type === 'everyone' ? mention.as : mention.name);
}

/** What a template asks for, in a message that names its Owner as `owner`: what it says of them notifies nobody. */
export function mentionOf(target: MentionTarget, owner: string | null): MessageMention {
  switch (target.type) {
    case 'everyone':
      return { type: 'everyone', as: target.everyone };
    case 'group':
      return { type: 'group', name: target.name };
    case 'owner':
      return { type: 'user', name: owner ?? '', account: null };
    case 'user':
      return { type: 'user', name: target.name, account: null };
  }
}

/** A preview says whom a message would name: `@all`, `@owner`, `@sre`. */
export function previewMention(format: MessageFormat): WriteTarget {
  return (target) => `@${plainMention(format)(mentionOf(target, 'owner'))}`;
}

/** Equal for Mentions of the same people. */
export function mentionKey(mention: MessageMention): string {
  switch (mention.type) {
    case 'everyone':
      return `everyone ${mention.as}`;
    case 'group':
      return `group ${mention.name}`;
    case 'user':
      return `user ${mention.account?.externalId ?? mention.name}`;
  }
}

const GROUP_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const USERNAME = /^[A-Za-z0-9._-]+$/;

export const chatServerMention: WriteMention = (mention) => {
  switch (mention.type) {
    case 'everyone':
      return `@${mention.as}`;
    case 'group':
      return GROUP_NAME.test(mention.name) ? `@${mention.name}` : markdown.value(mention.name);
    case 'user': {
      const username = mention.account?.username ?? '';
      return USERNAME.test(username) ? `@${username}` : markdown.value(mention.name);
    }
  }
};

export const channelBotMention: WriteMention = (mention) => {
  const id = mention.type === 'user' ? (mention.account?.externalId ?? '') : '';
  const shown = plainMention(html)(mention);
  return /^\d{1,20}$/.test(id) ? `<a href="tg://user?id=${id}">${shown}</a>` : shown;
};

/** A writer of markers, and the Mentions that they refer to once the message is laid out. */
export function bridgeMentions(): { readonly write: WriteMention; usedIn(body: string): BridgeMention[] } {
  const made = new Map<string, BridgeMention>();
  const refOf = (externalId: string, user: Omit<BridgeMention['user'], 'external_id'>): string => {
    const ref = made.get(externalId)?.ref ?? `m${made.size + 1}`;
    made.set(externalId, { ref, type: 'user', user: { external_id: externalId, ...user } });
    return ref;
  };
  return {
    write(mention) {
      const shown = plainMention(commonmark)(mention);
      if (mention.type !== 'user' || mention.account === null) return shown;
      const { externalId, username, displayName } = mention.account;
      const ref = refOf(externalId, { username, display_name: displayName });
      return `[@${shown}](svc-mention:${ref})`;
    },
    usedIn: (body) => [...made.values()].filter(({ ref }) => body.includes(`(svc-mention:${ref})`)),
  };
}
