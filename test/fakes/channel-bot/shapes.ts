/**
 * Bodies that the Bot API takes, held stricter than it does: a parameter that it does not know, or a null, is a violation
 * (Bot API documentation, "Available methods"; telegram-bot-api/Client.cpp for the texts of its refusals).
 */
import * as v from 'valibot';
import type { WireAnswer } from '../listener.ts';

/** Ids have at most 52 bits ("Chat", `id`). */
const id = v.pipe(v.number(), v.safeInteger());
const chat = v.union([id, v.pipe(v.string(), v.regex(/^@[A-Za-z][A-Za-z0-9_]*$/))]);
const updates = v.array(v.picklist(['message', 'callback_query', 'my_chat_member']));

const Keyboard = v.strictObject({
  inline_keyboard: v.array(v.array(v.strictObject({ text: v.string(), callback_data: v.string() }))),
});
const text = {
  text: v.string(),
  parse_mode: v.optional(v.literal('HTML')),
  link_preview_options: v.strictObject({ is_disabled: v.literal(true) }),
};

export const BODIES = {
  getme: v.strictObject({}),
  getwebhookinfo: v.strictObject({}),
  setwebhook: v.strictObject({
    url: v.string(),
    secret_token: v.string(),
    max_connections: v.pipe(v.number(), v.minValue(1), v.maxValue(100)),
    allowed_updates: updates,
    drop_pending_updates: v.literal(false),
  }),
  deletewebhook: v.strictObject({ drop_pending_updates: v.literal(false) }),
  getupdates: v.strictObject({
    offset: v.optional(v.pipe(v.number(), v.integer())),
    limit: v.pipe(v.number(), v.minValue(1), v.maxValue(100)),
    timeout: v.pipe(v.number(), v.minValue(0)),
    allowed_updates: updates,
  }),
  getchat: v.strictObject({ chat_id: chat }),
  getchatmember: v.strictObject({ chat_id: chat, user_id: id }),
  sendmessage: v.strictObject({
    ...{ chat_id: chat, ...text },
    /** Of the plain replies to a person, who gets no link. */
    link_preview_options: v.optional(text.link_preview_options),
    disable_notification: v.optional(v.boolean()),
    reply_parameters: v.optional(v.strictObject({ message_id: id })),
    reply_markup: v.optional(Keyboard),
  }),
  editmessagetext: v.strictObject({ chat_id: chat, message_id: id, ...text, reply_markup: Keyboard }),
  answercallbackquery: v.strictObject({
    callback_query_id: v.string(),
    text: v.string(),
    show_alert: v.boolean(),
  }),
} as const;
export type Method = keyof typeof BODIES;
export type Keyboard = v.InferOutput<typeof Keyboard>;

/** "Making requests": `error_code` and status are the same. */
const PREFIXES: Readonly<Record<number, string>> = {
  ...{ 400: 'Bad Request: ', 401: 'Unauthorized', 403: 'Forbidden: ', 404: 'Not Found', 409: 'Conflict: ' },
  ...{ 429: 'Too Many Requests: ', 500: 'Internal Server Error: ' },
};

/** An answer of the server that is no success. */
export class Refusal extends Error {
  readonly answer: WireAnswer;

  constructor(
    status: number,
    said: string,
    parameters: { readonly retry_after?: number; readonly migrate_to_chat_id?: number } | null = null,
  ) {
    super(said);
    const description = `${PREFIXES[status] ?? ''}${said}`;
    const wait = parameters?.retry_after;
    this.answer = {
      status,
      headers: { ...JSON_TYPE, ...(wait === undefined ? {} : { 'retry-after': String(wait) }) },
      body: JSON.stringify({
        ok: false,
        error_code: status,
        description,
        ...(parameters ? { parameters } : {}),
      }),
    };
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** @param description said with some successes, as with that of setWebhook */
export function done(result: unknown, description?: string): WireAnswer {
  return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ ok: true, result, description }) };
}

/** "Limits": what the server asks for when it had too much. */
export function limited(seconds: number): Refusal {
  return new Refusal(429, `retry after ${seconds}`, { retry_after: seconds });
}

/** @throws {Refusal} with what the server says of a body that it cannot take */
export function bodyOf<Name extends Method>(
  name: Name,
  body: string,
  violations: string[],
): v.InferOutput<(typeof BODIES)[Name]> {
  let parsed: unknown;
  try {
    parsed = body === '' ? {} : JSON.parse(body);
  } catch {
    throw new Refusal(400, "can't parse JSON object");
  }
  const read = v.safeParse(BODIES[name], parsed);
  if (read.success) return read.output as v.InferOutput<(typeof BODIES)[Name]>;
  violations.push(`${name}: ${v.summarize(read.issues)}`);
  throw new Refusal(400, 'object expected as body');
}
