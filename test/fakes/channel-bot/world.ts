/** Chats, people and messages of a messenger with bots, as its server keeps them: nobody's client is careful about them. */
import type { Entity } from './html.ts';
import type { Keyboard } from './shapes.ts';

export interface FakePerson {
  readonly id: number;
  username: string;
  readonly firstName: string;
  /** Blocked the bot, or wrote to it: without that it cannot write to them. */
  bot: 'unknown' | 'started' | 'blocked';
}

/** Of the bot in a chat; `can*` count for administrators of channels. */
export interface Membership {
  status: 'creator' | 'administrator' | 'member' | 'left' | 'kicked';
  canPost: boolean;
  canEdit: boolean;
}

export interface FakeMessage {
  readonly chatId: number;
  readonly messageId: number;
  /** Unix seconds. */
  readonly date: number;
  editDate: number | null;
  /** Null: the bot. */
  readonly by: FakePerson | null;
  text: string;
  /** As it was sent, markup included. */
  source: string;
  entities: readonly Entity[];
  keyboard: Keyboard['inline_keyboard'];
  readonly isQuiet: boolean;
  /** The message of the same chat that it replies to. */
  readonly replyTo: number | null;
  /** The post of the linked channel that it is the automatic forward of. */
  readonly copyOf: { readonly chatId: number; readonly messageId: number } | null;
  isDeleted: boolean;
}

export interface FakeChat {
  readonly id: number;
  readonly type: 'channel' | 'supergroup' | 'group' | 'private';
  title: string;
  username: string | null;
  /** Of a channel its discussion group, of that group its channel. */
  linked: number | null;
  /** A basic group that became a supergroup. */
  movedTo: number | null;
  /** Of the bot; null: it was never there. */
  bot: Membership | null;
  readonly messages: FakeMessage[];
  /** The bot's sends and edits of the last minute, Unix ms. */
  readonly recent: number[];
}

export const CHANNEL_ID = -1_001_234_567_890;
export const GROUP_ID = -1_009_876_543_210;
const ADMIN: Membership = { status: 'administrator', canPost: true, canEdit: true };

export class World {
  readonly chats = new Map<number, FakeChat>();
  readonly people = new Map<number, FakePerson>();
  readonly bot = { id: 123_456, username: 'oncall_bot', firstName: 'On-call' };
  /** The public channel of alerts, and its discussion group. */
  readonly channel: FakeChat;
  readonly group: FakeChat;

  constructor() {
    this.channel = this.addChat(CHANNEL_ID, 'channel', 'Alerts', 'alerts');
    this.group = this.addChat(GROUP_ID, 'supergroup', 'Alerts talk', null);
    this.link(this.channel, this.group);
  }

  addChat(id: number, type: FakeChat['type'], title: string, username: string | null = null): FakeChat {
    const bot = type === 'private' ? null : { ...ADMIN };
    const chat: FakeChat = {
      ...{ id, type, title, username, linked: null, movedTo: null, bot, messages: [], recent: [] },
    };
    this.chats.set(id, chat);
    return chat;
  }

  /** Comments of a channel are turned on, or go to another group; null: off. */
  link(channel: FakeChat, group: FakeChat | null): void {
    const former = channel.linked === null ? undefined : this.chats.get(channel.linked);
    if (former) former.linked = null;
    channel.linked = group?.id ?? null;
    if (group) group.linked = channel.id;
  }

  addPerson(id: number, username: string): FakePerson {
    const person: FakePerson = { id, username, firstName: username, bot: 'unknown' };
    this.people.set(id, person);
    this.addChat(id, 'private', username, username);
    return person;
  }

  find(chat: number | string): FakeChat | undefined {
    if (typeof chat === 'number') return this.chats.get(chat);
    const name = chat.slice(1).toLowerCase();
    return [...this.chats.values()].find(({ username }) => username?.toLowerCase() === name);
  }

  /** Numbers of messages rise within a chat; of a private chat they are the bot's own. */
  add(chat: FakeChat, made: Pick<FakeMessage, 'date' | 'text'> & Partial<FakeMessage>): FakeMessage {
    const message: FakeMessage = {
      ...{ editDate: null, by: null, source: made.text, entities: [], keyboard: [], isQuiet: false },
      ...{ replyTo: null, copyOf: null, isDeleted: false },
      ...made,
      ...{ chatId: chat.id, messageId: (chat.messages.at(-1)?.messageId ?? 0) + 1 },
    };
    chat.messages.push(message);
    return message;
  }

  message(chatId: number, messageId: number): FakeMessage | undefined {
    const found = this.chats.get(chatId)?.messages.find((one) => one.messageId === messageId);
    return found?.isDeleted ? undefined : found;
  }

  /** Messages that are there, in the order in which they were posted in each chat. */
  messages(chat: FakeChat): readonly FakeMessage[] {
    return chat.messages.filter(({ isDeleted }) => !isDeleted);
  }
}

/** "Chat", as it is shown inside of messages. */
export function chatShape({ id, type, title, username }: FakeChat): object {
  const named = username === null ? {} : { username };
  return type === 'private' ? { id, type, first_name: title, ...named } : { id, type, title, ...named };
}

export function personShape({ id, username, firstName }: FakePerson): object {
  return { id, is_bot: false, first_name: firstName, username, language_code: 'en' };
}

/** "Message", with the fields of older servers beside the newer ones. */
export function messageShape(world: World, message: FakeMessage): object {
  const chat = world.chats.get(message.chatId);
  if (!chat) throw new Error(`no chat ${message.chatId}`);
  const { copyOf, by, editDate, keyboard, replyTo } = message;
  const origin = copyOf && world.chats.get(copyOf.chatId);
  const bot = {
    id: world.bot.id,
    is_bot: true,
    first_name: world.bot.firstName,
    username: world.bot.username,
  };
  const answered = replyTo === null ? undefined : world.message(chat.id, replyTo);
  return {
    message_id: message.messageId,
    ...(chat.type === 'channel' ? { sender_chat: chatShape(chat) } : { from: by ? personShape(by) : bot }),
    ...(origin ? { from: FORWARDER, sender_chat: chatShape(origin) } : {}),
    ...{ chat: chatShape(chat), date: message.date },
    ...(editDate === null ? {} : { edit_date: editDate }),
    ...(origin ? forwardShape(message, origin) : {}),
    ...(answered ? { message_thread_id: replyTo, reply_to_message: messageShape(world, answered) } : {}),
    ...{ text: message.text, link_preview_options: { is_disabled: true } },
    entities: message.entities.map(({ user, ...entity }) =>
      user === undefined ? entity : { ...entity, user: { id: user, is_bot: false, first_name: 'Someone' } },
    ),
    ...(keyboard.length > 0 ? { reply_markup: { inline_keyboard: keyboard } } : {}),
  };
}

/** Who forwards posts into groups ("Message", `is_automatic_forward`). */
const FORWARDER = { id: 777_000, is_bot: false, first_name: 'Telegram' };

function forwardShape({ copyOf, date }: FakeMessage, origin: FakeChat): object {
  const post = { chat: chatShape(origin), message_id: copyOf?.messageId, date };
  return {
    ...{ forward_origin: { type: 'channel', ...post }, is_automatic_forward: true },
    ...{ forward_from_chat: post.chat, forward_from_message_id: post.message_id, forward_date: date },
  };
}
