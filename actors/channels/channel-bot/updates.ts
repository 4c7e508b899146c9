/** What a messenger tells a bot, as far as the service needs it (channel-bot §4, §8.1, §9, §10). */
import * as v from 'valibot';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { MessengerAccount } from '../../account-links/link.ts';
import type { CopyTold } from '../../connection/messages.ts';

/** Ids have at most 52 bits; they are kept as decimal text. */
const id = v.pipe(v.number(), v.safeInteger(), v.transform(String));
const messageId = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.transform(String));
const text = (most: number) => v.pipe(v.string(), v.maxLength(most));

const Person = v.object({
  id,
  is_bot: v.boolean(),
  first_name: v.fallback(v.nullable(text(256)), null),
  last_name: v.fallback(v.nullable(text(256)), null),
  username: v.fallback(v.nullable(text(64)), null),
});

const Press = v.object({
  id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)),
  from: Person,
  message: v.fallback(
    v.nullable(v.object({ message_id: id, chat: v.object({ id, type: v.fallback(v.string(), '') }) })),
    null,
  ),
  data: v.fallback(v.nullable(text(256)), null),
});

const Chat = v.object({ id, type: v.string() });
const Origin = v.object({ type: v.literal('channel'), chat: v.object({ id }), message_id: messageId });
/** Servers before Bot API 7.0 name the origin in two fields; later ones send them beside `forward_origin`. */
const Copied = v.object({
  message_id: messageId,
  is_automatic_forward: v.literal(true),
  forward_origin: v.fallback(v.nullable(Origin), null),
  forward_from_chat: v.fallback(v.nullable(v.object({ id })), null),
  forward_from_message_id: v.fallback(v.nullable(messageId), null),
  text: v.fallback(v.string(), ''),
  entities: v.fallback(v.array(v.object({ offset: v.number(), url: v.optional(v.string(), '') })), []),
});
const Message = v.object({
  chat: Chat,
  from: v.fallback(v.nullable(Person), null),
  text: v.fallback(v.nullable(v.string()), null),
  migrate_to_chat_id: v.fallback(v.nullable(id), null),
});
const Membership = v.object({
  chat: Chat,
  new_chat_member: v.object({
    status: v.string(),
    can_post_messages: v.fallback(v.boolean(), false),
    can_edit_messages: v.fallback(v.boolean(), false),
  }),
});
/** The heading of a Root message: an emoji and #N, which links to the page of its Alert Group. */
const HEADING = /^\S+ (?=#\d)/;
const PAGE = /\/alert-groups\/(AG[0-9A-Z]{12})$/;
/** Positive, of 32 bits at the public service. */
const Numbered = v.object({ update_id: v.pipe(v.number(), v.safeInteger()) });

/** Whom a press or a private message is from. */
export interface Sender extends MessengerAccount {
  readonly isBot: boolean;
}

export type BotUpdate = { readonly id: string } & (
  | {
      readonly type: 'press';
      readonly occurredAt: Micros;
      /** By which it is answered. */
      readonly queryId: string;
      readonly from: Sender;
      /** Null: the messenger does not say which. */
      readonly message: {
        readonly chatId: string;
        readonly messageId: string;
        readonly isChannel: boolean;
      } | null;
      readonly data: string | null;
    }
  | { readonly type: 'copy'; readonly copy: CopyTold }
  | { readonly type: 'private'; readonly from: Sender; readonly chatId: string; readonly text: string }
  | { readonly type: 'rights'; readonly chatId: string; readonly lost: LostRights | null }
  | { readonly type: 'moved'; readonly chatId: string; readonly to: string }
  /** Nothing to us. */
  | { readonly type: 'other'; readonly chatId: string | null }
);

/** What the bot may do no more in a chat; in the group of a channel only `no_admin` matters. */
export type LostRights = 'no_admin' | 'no_posts' | 'no_edits';

/** Number of an update; null: it has none. */
export function updateNumber(value: unknown): number | null {
  const read = v.safeParse(Numbered, value);
  return read.success ? read.output.update_id : null;
}

/**
 * Null for what can never be handled: it has no number.
 * @param gap for how long nothing could be received before: a press in it happened in that time (channel-bot §4.4)
 */
export function readUpdate(value: unknown, now: Micros, gap: Micros | null): BotUpdate | null {
  const number = updateNumber(value);
  if (number === null) return null;
  const { callback_query: query, message, my_chat_member: member } = value as Record<string, unknown>;
  const read = query ? pressOf(query, now - (gap ?? 0)) : message ? messageOf(message) : rightsOf(member);
  return { id: `update-${number}`, ...(read ?? { type: 'other', chatId: null }) };
}

type Content = BotUpdate extends infer Update
  ? Update extends BotUpdate
    ? Omit<Update, 'id'>
    : never
  : never;

function pressOf(value: unknown, occurredAt: Micros): Content | null {
  const read = v.safeParse(Press, value, { abortEarly: true });
  if (!read.success) return null;
  const { id: queryId, from, message, data } = read.output;
  const pressed = message && {
    ...{ chatId: message.chat.id, messageId: message.message_id, isChannel: message.chat.type === 'channel' },
  };
  return { type: 'press', occurredAt, queryId, from: senderOf(from), message: pressed, data };
}

function messageOf(value: unknown): Content | null {
  const read = v.safeParse(Message, value, { abortEarly: true });
  if (!read.success) return null;
  const { chat, from, text: said, migrate_to_chat_id: to } = read.output;
  if (chat.type === 'private') {
    return from && said !== null
      ? { type: 'private', from: senderOf(from), chatId: chat.id, text: said }
      : { type: 'other', chatId: chat.id };
  }
  if (to !== null) return { type: 'moved', chatId: chat.id, to };
  // A comment under a post shows the copy that it replies to.
  const { reply_to_message: repliedTo } = value as Record<string, unknown>;
  const copy = copyOf(value, chat.id) ?? copyOf(repliedTo, chat.id);
  return copy ? { type: 'copy', copy } : { type: 'other', chatId: chat.id };
}

function copyOf(value: unknown, groupId: string): CopyTold | null {
  const read = v.safeParse(Copied, value, { abortEarly: true });
  if (!read.success) return null;
  const { message_id: copyId, forward_origin: origin, forward_from_chat: from } = read.output;
  const channelId = origin?.chat.id ?? from?.id;
  const postId = origin?.message_id ?? read.output.forward_from_message_id;
  return channelId && postId ? { channelId, postId, groupId, copyId, about: aboutOf(read.output) } : null;
}

/** By the address that the heading leads to: other installations may post #N to the channel as well. */
function aboutOf({ text: shown, entities }: v.InferOutput<typeof Copied>): PublicId | null {
  const [before] = HEADING.exec(shown) ?? [];
  const heading = entities.find(({ offset, url }) => offset === before?.length && url !== '');
  return (PAGE.exec(heading?.url ?? '')?.[1] ?? null) as PublicId | null;
}

function rightsOf(value: unknown): Content | null {
  const read = v.safeParse(Membership, value, { abortEarly: true });
  if (!read.success) return null;
  const { chat, new_chat_member: bot } = read.output;
  return { type: 'rights', chatId: chat.id, lost: lostRights(chat.type, bot) };
}

function lostRights(
  chatType: string,
  bot: v.InferOutput<typeof Membership>['new_chat_member'],
): LostRights | null {
  if (bot.status === 'creator') return null;
  if (bot.status !== 'administrator') return 'no_admin';
  if (chatType !== 'channel') return null;
  if (!bot.can_post_messages) return 'no_posts';
  return bot.can_edit_messages ? null : 'no_edits';
}

function senderOf(person: v.InferOutput<typeof Person>): Sender {
  const name = [person.first_name, person.last_name].filter((part) => part !== null && part !== '').join(' ');
  return {
    externalId: person.id,
    username: person.username,
    displayName: name === '' ? null : name,
    isBot: person.is_bot,
  };
}

/** Where an update has to wait for others: those of one chat are handled in order, presses by message and person. */
export function lanesOf(update: BotUpdate): readonly string[] {
  switch (update.type) {
    case 'press': {
      const { from, message } = update;
      const of = message ? [`message ${message.chatId}/${message.messageId}`] : [];
      return [...of, `person ${from.externalId}`];
    }
    case 'copy':
      return [`chat ${update.copy.groupId}`];
    case 'other':
      return update.chatId === null ? [] : [`chat ${update.chatId}`];
    default:
      return [`chat ${update.chatId}`];
  }
}
