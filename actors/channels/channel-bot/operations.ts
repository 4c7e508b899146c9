/** Every call of the Bot API that the service makes: its request and its answer (channel-bot §2). */
import * as v from 'valibot';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { ChatMessage } from '../../connection/ports.ts';

const ANSWER_WITHIN: Micros = 10 * SECOND;
/** The messenger holds an empty poll so long, in seconds; the whole request takes at most 10 s more. */
const POLL_SECONDS = 25;

export type BotOperation =
  | 'getMe'
  | 'getWebhookInfo'
  | 'setWebhook'
  | 'deleteWebhook'
  | 'getUpdates'
  | 'getChat'
  | 'getChatMember'
  | 'sendMessage'
  | 'editMessageText'
  | 'answerCallbackQuery';

/** One request, and how the `result` of its answer is read. */
export interface BotRequest<Value> {
  readonly operation: BotOperation;
  readonly method: 'GET' | 'POST';
  readonly body: object | null;
  readonly timeout: Micros;
  /** It replies to a message, whose absence is not that of the message it is about. */
  readonly isReply: boolean;
  /** Null for a result that lacks a field that is used. */
  read(result: unknown): Value | null;
  /** Of a poll: it brought nothing, which the Request log does not record. */
  isEmpty?(value: Value): boolean;
}

/** Messages are known to the service by chat and number, for both exist in every chat anew: `-1001234567890/57`. */
export function messageIdOf(chatId: string | number, messageId: string | number): string {
  return `${chatId}/${messageId}`;
}

/** @throws for a text that {@link messageIdOf} did not make */
export function messageRefOf(id: string): ChatMessage {
  const [, chatId, messageId] = /^(-?\d+)\/(\d+)$/.exec(id) ?? [];
  if (chatId === undefined || messageId === undefined) throw new Error(`not an id of a message: ${id}`);
  return { chatId, messageId };
}

/** Buttons by rows. */
export interface InlineKeyboard {
  readonly inline_keyboard: { text: string; callback_data: string }[][];
}

export interface NewMessage {
  readonly chatId: string;
  readonly text: string;
  /** False: `text` has no markup. */
  readonly isHtml: boolean;
  /** Shown without sound. */
  readonly isQuiet: boolean;
  /** The message of the same chat that it replies to. */
  readonly replyTo: string | null;
  /** Null: without buttons. */
  readonly keyboard: InlineKeyboard | null;
}

/** The whole keyboard is sent with every edit: left out it would be removed. */
export type MessageEdit = Pick<NewMessage, 'text' | 'isHtml'> & { readonly keyboard: InlineKeyboard };

export const UPDATE_KINDS = ['message', 'callback_query', 'my_chat_member'] as const;

const id = v.pipe(v.number(), v.safeInteger());

/** Twice the longest that the messenger gives. */
const LONGEST_NAME = 64;

const Me = v.object({ id, is_bot: v.literal(true), username: v.pipe(v.string(), v.maxLength(LONGEST_NAME)) });
const WebhookInfo = v.object({
  url: v.string(),
  pending_update_count: v.pipe(v.number(), v.integer()),
  last_error_date: v.optional(v.number(), 0),
  last_error_message: v.optional(v.string(), ''),
});
const Chat = v.object({
  id,
  type: v.string(),
  title: v.optional(v.string()),
  username: v.optional(v.string()),
  linked_chat_id: v.optional(id),
});
const Member = v.object({
  status: v.string(),
  can_post_messages: v.optional(v.boolean(), false),
  can_edit_messages: v.optional(v.boolean(), false),
});
const Message = v.object({ message_id: v.pipe(id, v.minValue(0)), date: v.number(), chat: v.object({ id }) });
/** Read by whoever handles them: one that is not understood must not hide the others. */
const Updates = v.array(v.record(v.string(), v.unknown()));
const Done = v.literal(true);

export type BotUser = v.InferOutput<typeof Me>;
export type BotWebhookInfo = v.InferOutput<typeof WebhookInfo>;
export type BotChat = v.InferOutput<typeof Chat>;
export type BotMember = v.InferOutput<typeof Member>;
export type BotMessage = v.InferOutput<typeof Message>;

export const botCalls = {
  getMe: () => get('getMe', Me),

  getWebhookInfo: () => get('getWebhookInfo', WebhookInfo),

  /** One delivery at a time, so that updates of one chat keep their order. */
  setWebhook: (url: string, secretToken: string) =>
    post(
      'setWebhook',
      {
        ...{ url, secret_token: secretToken, max_connections: 1 },
        ...{ allowed_updates: UPDATE_KINDS, drop_pending_updates: false },
      },
      Done,
    ),

  deleteWebhook: () => post('deleteWebhook', { drop_pending_updates: false }, Done),

  /** @param offset null: the oldest that waits */
  getUpdates: (offset: number | null): BotRequest<readonly Record<string, unknown>[]> => ({
    ...post(
      'getUpdates',
      {
        ...(offset === null ? {} : { offset }),
        ...{ limit: 100, timeout: POLL_SECONDS, allowed_updates: UPDATE_KINDS },
      },
      Updates,
    ),
    timeout: POLL_SECONDS * SECOND + ANSWER_WITHIN,
    isEmpty: (updates) => updates.length === 0,
  }),

  /** @param chat an id, or the `@name` of a public chat */
  getChat: (chat: string) => post('getChat', { chat_id: chatOf(chat) }, Chat),

  getChatMember: (chatId: string, userId: string) =>
    post('getChatMember', { chat_id: chatOf(chatId), user_id: Number(userId) }, Member),

  sendMessage: (message: NewMessage): BotRequest<BotMessage> => ({
    ...post('sendMessage', sendBody(message), Message),
    isReply: message.replyTo !== null,
  }),

  editMessageText: ({ chatId, messageId }: ChatMessage, edit: MessageEdit) =>
    post('editMessageText', editBody(chatId, messageId, edit), Message),

  answerCallbackQuery: (queryId: string, text: string, isAlert: boolean) =>
    post('answerCallbackQuery', { callback_query_id: queryId, text, show_alert: isAlert }, Done),
} as const;

function sendBody({ chatId, text, isHtml, isQuiet, replyTo, keyboard }: NewMessage) {
  return {
    ...{ chat_id: chatOf(chatId), text, ...markup(isHtml), disable_notification: isQuiet },
    ...(replyTo === null ? {} : { reply_parameters: { message_id: Number(replyTo) } }),
    ...(keyboard === null ? {} : { reply_markup: keyboard }),
  };
}

function editBody(chatId: string, messageId: string, { text, isHtml, keyboard }: MessageEdit) {
  return {
    ...{ chat_id: chatOf(chatId), message_id: Number(messageId), text, ...markup(isHtml) },
    reply_markup: keyboard,
  };
}

/** What is absent is left out: the messenger refuses a null. */
function markup(isHtml: boolean) {
  return {
    ...(isHtml ? ({ parse_mode: 'HTML' } as const) : {}),
    link_preview_options: { is_disabled: true },
  };
}

function chatOf(chat: string): number | string {
  return chat.startsWith('@') ? chat : Number(chat);
}

type Shape<Value> = v.GenericSchema<unknown, Value>;

function get<Value>(operation: BotOperation, schema: Shape<Value>): BotRequest<Value> {
  return request(operation, 'GET', null, schema);
}

function post<Value>(operation: BotOperation, body: object, schema: Shape<Value>): BotRequest<Value> {
  return request(operation, 'POST', body, schema);
}

function request<Value>(
  operation: BotOperation,
  method: BotRequest<Value>['method'],
  body: object | null,
  schema: Shape<Value>,
): BotRequest<Value> {
  return {
    ...{ operation, method, body, timeout: ANSWER_WITHIN, isReply: false },
    read(result) {
      const found = v.safeParse(schema, result, { abortEarly: true });
      return found.success ? found.output : null;
    },
  };
}
