/**
 * A strict Bot API server in memory: who may post where, what is answered to a deleted message, lost rights, a revoked
 * token, a text that is no HTML, and to too many messages. Its rules are those of the Bot API documentation and of the
 * server's own sources (telegram-bot-api/Client.cpp, td/), named where they are kept. What no server would refuse though a
 * careful client never sends it is noted in `violations`.
 */

import type { WireAnswer, WireRequest } from '../listener.ts';
import { mentionsIn, type Parsed, parseHtml, Unreadable } from './html.ts';
import { BODIES, bodyOf, done, type Keyboard, limited, type Method, Refusal } from './shapes.ts';
import { type PostUpdate, Updates } from './updates.ts';
import {
  chatShape,
  type FakeChat,
  type FakeMessage,
  type FakePerson,
  messageShape,
  personShape,
  World,
} from './world.ts';

export interface FakeOptions {
  /** Unix ms. */
  readonly now: () => number;
  readonly token: string;
  /** How a poll waits; left out: it does not. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly post?: PostUpdate;
}

/** "sendMessage": 1 to 4096 characters after entities parsing; counted here in UTF-16 units, which are never fewer. */
const LONGEST_TEXT = 4_096;
/** Markup included (Client.cpp, `get_formatted_text`). */
const LARGEST_SOURCE = 32_768;
/** "InlineKeyboardButton": callback_data, 1 to 64 bytes. */
const LARGEST_DATA = 64;
/** Rows and buttons beyond these are dropped (td/telegram/ReplyMarkup.cpp). */
const MOST_IN_ROW = 12;
/** "answerCallbackQuery": text, 0 to 200 characters; refused some time after the press, which is not documented. */
const LONGEST_ANSWER = 200;
const ANSWERED_WITHIN_MS = 15_000;
/** Bots FAQ, "My bot is hitting limits": per second and bot, per minute and group, per second and chat with short bursts. */
export const PER_SECOND = 30;
export const PER_MINUTE_IN_GROUP = 20;
const BURST_IN_CHAT = 20;

export interface AnsweredQuery {
  readonly queryId: string;
  readonly person: FakePerson;
  readonly text: string;
  readonly isAlert: boolean;
  /** Unix ms, from the press. */
  readonly after: number;
}

export class FakeBotApi {
  readonly world = new World();
  readonly violations: string[] = [];
  /** Names of methods, in order; the token is in no path here. */
  readonly calls: string[] = [];
  /** Whom a message may ring: `<chat>/<message> @name` or `<chat>/<message> <id>`. */
  readonly notices: string[] = [];
  readonly answers: AnsweredQuery[] = [];
  readonly updates: Updates;
  readonly settings = {
    token: '',
    /** Which posts of a channel are forwarded into its group, and whether an edit shows buttons there (not documented). */
    copies: 'always' as 'always' | 'without_buttons' | 'never',
    copiesShowButtons: false,
    /** False: a copy is made when `forward` is called. */
    copiesAtOnce: true,
    /** No copy is made for now. */
    copiesHeld: false,
    /** An own server: webhooks over HTTP and to any port. */
    isLocal: false,
    limits: true,
    /** Before Bot API 7.3. */
    saysReplyNotFound: false,
    /** Answered to everything, as a proxy does; null: the server answers. */
    instead: null as WireAnswer | null,
  };
  /** Calls that were refused by the limits. */
  tooMany = 0;
  readonly #options: FakeOptions;
  readonly #queries = new Map<string, { readonly at: number; readonly person: FakePerson }>();
  readonly #recent: number[] = [];
  #uncopied: FakeMessage[] = [];
  #webhookSetAt = Number.NEGATIVE_INFINITY;
  #queryNumber = 4_381;

  constructor(options: FakeOptions) {
    const { now, sleep = async () => undefined, post } = options;
    this.#options = options;
    this.settings.token = options.token;
    this.updates = new Updates({ now, sleep, post, violations: this.violations });
  }

  async answer(request: WireRequest): Promise<WireAnswer> {
    const { pathname } = new URL(request.target, 'http://fake.invalid');
    const [, token = '', name = ''] = /\/bot([^/]*)\/(\w+)$/.exec(pathname) ?? [];
    this.calls.push(name);
    if (this.settings.instead) return this.settings.instead;
    try {
      if (token !== this.settings.token)
        throw new Refusal(401, /^\d+:[\w-]{3,}$/.test(token) ? '' : ': invalid token specified');
      const method = name.toLowerCase();
      if (!(method in BODIES)) throw new Refusal(404, ': method not found');
      return await this.#call(method as Method, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.answer.status === 429) this.tooMany++;
      return error.answer;
    }
  }

  async #call(method: Method, { body, headers }: WireRequest): Promise<WireAnswer> {
    if (body !== '' && headers['content-type'] !== 'application/json') this.violations.push('Content-Type');
    const read = <Name extends Method>(name: Name) => bodyOf(name, body, this.violations);
    switch (method) {
      case 'getme':
        return done(this.#botShape({ can_join_groups: true, can_read_all_group_messages: false }));
      case 'getwebhookinfo':
        return done(this.#webhookInfo());
      case 'setwebhook':
        return this.#setWebhook(read('setwebhook'));
      case 'deletewebhook': {
        const wasSet = this.updates.webhook !== null;
        this.updates.setWebhook(null);
        return done(true, wasSet ? 'Webhook was deleted' : 'Webhook is already deleted');
      }
      case 'getupdates':
        return this.updates.poll(read('getupdates'));
      case 'getchat':
        return this.#getChat(read('getchat').chat_id);
      case 'getchatmember':
        return this.#getMember(read('getchatmember'));
      case 'sendmessage':
        return this.#send(read('sendmessage'));
      case 'editmessagetext':
        return this.#edit(read('editmessagetext'));
      case 'answercallbackquery':
        return this.#answerQuery(read('answercallbackquery'));
    }
  }

  #send(asked: ReturnType<typeof bodyOf<'sendmessage'>>): WireAnswer {
    const chat = this.#writable(asked.chat_id);
    const keyboard = this.#keyboard(asked.reply_markup);
    const parsed = this.#text(asked.text, asked.parse_mode);
    const replyTo = asked.reply_parameters?.message_id ?? null;
    if (replyTo !== null && chat.type === 'channel') this.violations.push('a reply inside a channel');
    if (replyTo !== null && !this.world.message(chat.id, replyTo)) {
      const said = this.settings.saysReplyNotFound ? 'message to reply' : 'message to be replied';
      throw new Refusal(400, `${said} not found`);
    }
    this.#count(chat);
    const { disable_notification: isQuiet = false, text: source } = asked;
    const message = this.world.add(chat, {
      ...parsed,
      source,
      keyboard,
      isQuiet,
      replyTo,
      date: this.#seconds(),
    });
    this.#notify(message);
    if (chat.type === 'channel') this.#uncopied.push(message);
    if (this.settings.copiesAtOnce) this.forward();
    return done(messageShape(this.world, message));
  }

  #edit(asked: ReturnType<typeof bodyOf<'editmessagetext'>>): WireAnswer {
    const chat = this.#known(asked.chat_id);
    const message = this.world.message(chat.id, asked.message_id);
    if (!message) throw new Refusal(400, 'message to edit not found');
    const { status, canPost, canEdit } = chat.bot ?? { status: 'left', canPost: false, canEdit: false };
    const mayEdit = chat.type !== 'channel' || status === 'creator' || canPost || canEdit;
    if (message.by !== null || message.copyOf || !mayEdit) throw new Refusal(400, "message can't be edited");
    const keyboard = this.#keyboard(asked.reply_markup);
    const parsed = this.#text(asked.text, asked.parse_mode);
    const content = JSON.stringify([parsed.text, parsed.entities, keyboard]);
    if (content === JSON.stringify([message.text, message.entities, message.keyboard]))
      throw new Refusal(400, NOT_MODIFIED);
    this.#count(chat);
    const changed = { text: parsed.text, entities: parsed.entities, source: asked.text };
    Object.assign(message, { ...changed, keyboard, editDate: this.#seconds() });
    // Edits never notify; the copy follows by itself, and no update tells of it.
    const copy = this.#copyOf(message);
    if (copy) Object.assign(copy, { ...changed, keyboard: this.settings.copiesShowButtons ? keyboard : [] });
    return done(messageShape(this.world, message));
  }

  /** @throws {Refusal} for a text that cannot be shown */
  #text(source: string, mode: 'HTML' | undefined): Pick<Parsed, 'text' | 'entities'> {
    if (Buffer.byteLength(source) > LARGEST_SOURCE) throw new Refusal(400, 'text is too long');
    try {
      const { text, entities, violations } =
        mode === undefined ? { text: source, entities: [], violations: [] } : parseHtml(source);
      this.violations.push(...violations);
      if (text.trim() === '') throw new Refusal(400, 'message text is empty');
      if (text.length > LONGEST_TEXT) throw new Refusal(400, 'message is too long');
      return { text, entities };
    } catch (error) {
      if (error instanceof Unreadable) throw new Refusal(400, `can't parse entities: ${error.message}`);
      throw error;
    }
  }

  #keyboard(markup: Keyboard | undefined): Keyboard['inline_keyboard'] {
    const rows = markup?.inline_keyboard ?? [];
    for (const row of rows) {
      if (row.length === 0 || row.length > MOST_IN_ROW)
        this.violations.push(`${row.length} buttons in a row`);
      for (const { text, callback_data: data } of row) {
        const bytes = Buffer.byteLength(data);
        if (bytes < 1 || bytes > LARGEST_DATA) throw new Refusal(400, 'BUTTON_DATA_INVALID');
        if (text === '') this.violations.push('a button without text');
      }
    }
    return rows;
  }

  /** A chat that the bot sees. What a bot that was there before is told differs from what a stranger is. */
  #known(asked: number | string): FakeChat {
    const chat = this.world.find(asked);
    if (!chat || (chat.type !== 'private' && chat.bot === null)) throw new Refusal(400, 'chat not found');
    if (chat.movedTo !== null)
      throw new Refusal(400, 'group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: chat.movedTo,
      });
    const kind = chat.type === 'channel' ? 'channel' : 'supergroup';
    if (chat.bot?.status === 'kicked') throw new Refusal(403, `bot was kicked from the ${kind} chat`);
    if (chat.bot?.status === 'left' && chat.username === null)
      throw new Refusal(403, `bot is not a member of the ${kind} chat`);
    return chat;
  }

  #writable(asked: number | string): FakeChat {
    const chat = this.#known(asked);
    if (chat.type === 'private') {
      const { bot } = this.world.people.get(chat.id) ?? { bot: 'unknown' };
      if (bot === 'blocked') throw new Refusal(403, 'bot was blocked by the user');
      if (bot === 'unknown') throw new Refusal(403, "bot can't initiate conversation with a user");
      return chat;
    }
    const { status = 'left', canPost = false } = chat.bot ?? {};
    if (chat.type === 'channel' && status !== 'creator' && !(status === 'administrator' && canPost))
      throw new Refusal(400, 'need administrator rights in the channel chat');
    if (status === 'left') throw new Refusal(403, 'bot is not a member of the supergroup chat');
    return chat;
  }

  /** @throws {Refusal} 429 beyond the documented limits; nothing of the call happened */
  #count(chat: FakeChat): void {
    if (!this.settings.limits) return;
    const now = this.#options.now();
    const within = (times: number[], ms: number) => times.filter((at) => now - at < ms);
    if (within(this.#recent, 1_000).length >= PER_SECOND) throw limited(1);
    const most = chat.type === 'private' ? BURST_IN_CHAT : PER_MINUTE_IN_GROUP;
    const minute = within(chat.recent, chat.type === 'private' ? BURST_IN_CHAT * 1_000 : 60_000);
    const [oldest = now] = minute;
    if (minute.length >= most) throw limited(Math.max(1, Math.ceil((oldest + 60_000 - now) / 1_000)));
    chat.recent.splice(0, chat.recent.length, ...minute, now);
    this.#recent.push(now);
    if (this.#recent.length > 10 * PER_SECOND) this.#recent.splice(0, this.#recent.length - PER_SECOND);
  }

  #notify({ chatId, messageId, text, entities }: FakeMessage): void {
    for (const name of mentionsIn(text)) this.notices.push(`${chatId}/${messageId} @${name}`);
    for (const { user } of entities)
      if (user !== undefined) this.notices.push(`${chatId}/${messageId} ${user}`);
  }

  #copyOf({ chatId, messageId }: FakeMessage): FakeMessage | undefined {
    const group = this.world.chats.get(this.world.chats.get(chatId)?.linked ?? 0);
    return group?.messages.find(({ copyOf }) => copyOf?.chatId === chatId && copyOf.messageId === messageId);
  }

  /** Forwards posts into the discussion group, in order; the bot is told when it is an administrator there. */
  forward(): void {
    if (this.settings.copiesHeld) return;
    for (const post of this.#uncopied.splice(0)) {
      const group = this.world.chats.get(this.world.chats.get(post.chatId)?.linked ?? 0);
      const { copies } = this.settings;
      if (!group || copies === 'never' || (copies === 'without_buttons' && post.keyboard.length > 0))
        continue;
      const { text, source, entities } = post;
      const copyOf = { chatId: post.chatId, messageId: post.messageId };
      const copy = this.world.add(group, { text, source, entities, copyOf, date: this.#seconds() });
      this.tell(group, 'message', messageShape(this.world, copy));
    }
  }

  /** Hands an update about a chat out, if the bot gets updates of it: in groups with privacy mode as administrator only. */
  tell(chat: FakeChat, kind: string, content: object): void {
    const { status } = chat.bot ?? { status: 'left' };
    if (chat.type === 'private' || status === 'administrator' || status === 'creator')
      this.updates.add(kind, content);
  }

  /** A person presses a button. @returns the id of the query that their client waits for */
  press(message: FakeMessage, label: string, person: FakePerson): string {
    const button = message.keyboard.flat().find(({ text }) => text === label);
    if (!button) throw new Error(`no button ${label} under ${message.chatId}/${message.messageId}`);
    const queryId = String(++this.#queryNumber);
    this.#queries.set(queryId, { at: this.#options.now(), person });
    this.updates.add('callback_query', {
      ...{ id: queryId, from: personShape(person), message: messageShape(this.world, message) },
      ...{ chat_instance: '-7712345678901234567', data: button.callback_data },
    });
    return queryId;
  }

  /** A person writes: to the bot, or into a group, maybe as a reply. */
  write(chat: FakeChat, by: FakePerson, text: string, replyTo: number | null = null): FakeMessage {
    if (chat.type === 'private') by.bot = 'started';
    const message = this.world.add(chat, { by, text, replyTo, date: this.#seconds() });
    this.tell(chat, 'message', messageShape(this.world, message));
    return message;
  }

  /** The rights of the bot in a chat are changed by a person. */
  setRights(chat: FakeChat, rights: Partial<NonNullable<FakeChat['bot']>>): void {
    const former = this.#memberShape(chat);
    chat.bot = { status: 'left', canPost: false, canEdit: false, ...chat.bot, ...rights };
    const [by] = this.world.people.values();
    this.updates.add('my_chat_member', {
      ...{
        chat: chatShape(chat),
        from: by ? personShape(by) : { id: 1, is_bot: false, first_name: 'Admin' },
      },
      ...{ date: this.#seconds(), old_chat_member: former, new_chat_member: this.#memberShape(chat) },
    });
  }

  /** A group becomes a supergroup, which has another id; its channel is linked to that one or not. */
  upgrade(group: FakeChat, id: number): FakeChat {
    const next = this.world.addChat(id, 'supergroup', group.title);
    group.movedTo = id;
    const message = this.world.add(group, { text: '', date: this.#seconds() });
    this.tell(group, 'message', {
      ...messageShape(this.world, message),
      text: undefined,
      migrate_to_chat_id: id,
    });
    return next;
  }

  #answerQuery(asked: ReturnType<typeof bodyOf<'answercallbackquery'>>): WireAnswer {
    const { callback_query_id: queryId, text, show_alert: isAlert } = asked;
    const query = this.#queries.get(queryId);
    const after = this.#options.now() - (query?.at ?? 0);
    if (text.length > LONGEST_ANSWER) throw new Refusal(400, 'MESSAGE_TOO_LONG');
    if (!query || after > ANSWERED_WITHIN_MS)
      throw new Refusal(400, 'query is too old and response timeout expired or query ID is invalid');
    if (this.answers.some((given) => given.queryId === queryId))
      this.violations.push('a query answered twice');
    this.answers.push({ queryId, person: query.person, text, isAlert, after });
    return done(true);
  }

  #getChat(asked: number | string): WireAnswer {
    const chat = this.#known(asked);
    const linked = chat.linked === null ? {} : { linked_chat_id: chat.linked };
    return done({ ...chatShape(chat), ...linked, accent_color_id: 2, max_reaction_count: 11 });
  }

  #getMember({ chat_id: asked, user_id: user }: ReturnType<typeof bodyOf<'getchatmember'>>): WireAnswer {
    const chat = this.#known(asked);
    if (user !== this.world.bot.id) throw new Refusal(400, 'member not found');
    return done(this.#memberShape(chat));
  }

  /** "ChatMember": the two rights exist for administrators of channels only. */
  #memberShape(chat: FakeChat): object {
    const { status, canPost, canEdit } = chat.bot ?? { status: 'left', canPost: false, canEdit: false };
    const isChannelAdmin = chat.type === 'channel' && status === 'administrator';
    const rights = isChannelAdmin ? { can_post_messages: canPost, can_edit_messages: canEdit } : {};
    return { user: this.#botShape({}), status, ...rights };
  }

  #botShape(others: object): object {
    const { id, username, firstName } = this.world.bot;
    return { id, is_bot: true, first_name: firstName, username, ...others };
  }

  #setWebhook({
    url,
    secret_token: secret,
    allowed_updates: allowed,
  }: ReturnType<typeof bodyOf<'setwebhook'>>): WireAnswer {
    const now = this.#options.now();
    if (now - this.#webhookSetAt < 1_000) throw limited(1);
    this.#webhookSetAt = now;
    if (!/^[A-Za-z0-9_-]{1,256}$/.test(secret))
      throw new Refusal(400, 'secret token contains unallowed characters');
    const isSame = this.updates.webhook?.url === url && this.updates.webhook.secret === secret;
    // Removed before the new one is looked at.
    this.updates.setWebhook(null);
    const { protocol, port } = URL.canParse(url) ? new URL(url) : { protocol: '', port: '' };
    if (!/^https?:$/.test(protocol)) throw new Refusal(400, 'invalid webhook URL specified');
    if (!this.settings.isLocal && protocol !== 'https:')
      throw new Refusal(400, 'bad webhook: An HTTPS URL must be provided for webhook');
    if (!this.settings.isLocal && !['', '443', '80', '88', '8443'].includes(port))
      throw new Refusal(400, 'bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443');
    this.updates.setWebhook({ url, secret, allowed });
    return done(true, isSame ? 'Webhook is already set' : 'Webhook was set');
  }

  #webhookInfo(): object {
    const { webhook, lastError, waiting } = this.updates;
    return {
      ...{ url: webhook?.url ?? '', has_custom_certificate: false, pending_update_count: waiting.length },
      ...(webhook ? { max_connections: 1, ip_address: '203.0.113.7', allowed_updates: webhook.allowed } : {}),
      ...(lastError ? { last_error_date: lastError.at, last_error_message: lastError.text } : {}),
    };
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}

const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the same as a current content ' +
  'and reply markup of the message';
