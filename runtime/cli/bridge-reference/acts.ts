/** What people do in the messenger, by the web page or by `/_sim/`, and the events that come of it. */
import type { Bot, BridgeEvent } from './events.ts';
import { plain } from './markdown.ts';
import type { Messenger, Post } from './messenger.ts';
import { lengthOf, type Person, type Settings } from './shapes.ts';
import { Refusal } from './wire.ts';

const LEAVE = /^\/?unlink$/i;
const TOKEN = /^(?:(?:\/start|start|link)\s+)?([A-Za-z0-9_-]{43})$/i;
const LONGEST_TEXT = 10_000;

/** The ids of what an act made; null where it is not reported. */
export interface Acted {
  readonly event_id: string | null;
  readonly message_id?: string;
}

export interface Acts {
  press(messageId: string, data: string, user: Person): Acted;
  writeInThread(messageId: string, text: string, user: Person): Acted;
  writeDirectly(bot: number, text: string, user: Person): Acted;
  delete(messageId: string, user: Person | null): Acted;
}

export function createActs(messenger: Messenger, bots: readonly Bot[], settings: Settings): Acts {
  const report = (bot: number, event: Omit<BridgeEvent, 'id' | 'occurred_at'>): string | null =>
    bots[bot]?.events.append(event).id ?? null;

  const present = (messageId: string): Post => {
    const post = messenger.find(messageId);
    if (!post || post.deleted) throw new Refusal(404, 'there is no such message', { class: 'gone' });
    return post;
  };

  return {
    press(messageId, data, user) {
      const { bot } = present(messageId);
      if (settings.without.has('buttons') || user.bot) return { event_id: null };
      return { event_id: report(bot, { type: 'press', message_id: messageId, user, data }) };
    },
    writeInThread(messageId, text, user) {
      const named = present(messageId);
      const root = named.root_id === null ? named : present(named.root_id);
      root.thread_ref ??= threadOf(root.message_id);
      const { bot, message_id: rootId, thread_ref } = root;
      const { message_id } = messenger.post({
        ...{ bot, kind: 'reply', root_id: rootId, thread_ref, by: user, body: text, html: plain(text) },
      });
      if (settings.without.has('thread_messages') || user.bot) return { event_id: null, message_id };
      const cut = lengthOf(text) > LONGEST_TEXT ? [...text].slice(0, LONGEST_TEXT).join('') : text;
      const event = { type: 'thread_message', message_id: rootId, thread_ref, reply_id: message_id } as const;
      return { event_id: report(bot, { ...event, user, text: cut }), message_id };
    },
    writeDirectly(bot, text, user) {
      const chat = { direct_with: user.external_id, by: user };
      const { message_id } = messenger.post({ bot, kind: 'direct', body: text, html: plain(text), ...chat });
      const token = LEAVE.test(text.trim()) ? 'unlink' : TOKEN.exec(text.trim())?.[1];
      if (token === undefined || user.bot) return { event_id: null, message_id };
      return { event_id: report(bot, { type: 'account_link', user, token }), message_id };
    },
    delete(messageId, user) {
      const post = present(messageId);
      post.deleted = true;
      const isDelivered = post.by === null && post.kind !== 'answer' && post.kind !== 'direct';
      if (!isDelivered || settings.without.has('deletion_events')) return { event_id: null };
      return { event_id: report(post.bot, { type: 'message_deleted', message_id: messageId, user }) };
    },
  };
}

export function threadOf(messageId: string): string {
  return `t-${messageId}`;
}
