/** Every call of the bridge protocol that the service makes: its request, and the answer it has to give (bridge §2). */
import * as v from 'valibot';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { type BridgeInfo, characters, externalId, type Person, PersonShape, readInfo } from './info.ts';

/** `waits` for new events in a poll; the whole request has 15 s more. */
export const POLL_WAIT_SECONDS = 25;
const ANSWER_WITHIN: Micros = 10 * SECOND;
const POLL_WITHIN: Micros = (POLL_WAIT_SECONDS + 15) * SECOND;

export type OperationName =
  | 'getInfo'
  | 'postMessage'
  | 'editMessage'
  | 'replyInThread'
  | 'checkChannel'
  | 'findPerson'
  | 'sendDirectMessage'
  | 'answerEvent'
  | 'pollEvents';

export interface MessageButton {
  readonly text: string;
  readonly data: string;
  readonly style: 'default' | 'primary' | 'danger';
}

/** Who a marker `svc-mention:<ref>` of the body stands for. */
export interface BodyMention {
  readonly ref: string;
  readonly type: 'user';
  readonly user: Omit<Person, 'bot'>;
}

/** What a message shows; an edit replaces all of it. */
export interface MessageContent {
  readonly status: 'firing' | 'acknowledged' | 'snoozed' | 'resolved' | 'storm';
  readonly color: string;
  readonly emoji: string;
  readonly title: string;
  readonly link: { readonly url: string; readonly text: string };
  readonly body: string;
  readonly buttons: readonly MessageButton[];
}

export interface NewMessage extends MessageContent {
  readonly channel_id: string;
  readonly kind: 'root' | 'storm_summary' | 'test';
  readonly mentions: readonly BodyMention[];
  readonly notify: boolean;
}

export interface ThreadReply {
  readonly thread_ref: string | null;
  readonly body: string;
  readonly buttons: readonly MessageButton[];
  readonly mentions: readonly BodyMention[];
  readonly notify: boolean;
}

/** One request, and how its answer is read. */
export interface BridgeRequest<Value> {
  readonly operation: OperationName;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the base URL, with its query. Null: an id that no path can carry. */
  readonly path: string | null;
  readonly body: unknown;
  readonly idempotencyKey: string | null;
  readonly timeout: Micros;
  read(answer: unknown): ReadAnswer<Value>;
  /** Of polls: whether the answer brought nothing. */
  isEmpty?(value: Value): boolean;
}

export type ReadAnswer<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `as`: what an answer that is none means for the caller. */
  | { readonly ok: false; readonly as: 'unknown' | 'transient' | 'fatal'; readonly error: string };

/** What a bridge is, with what is wrong in it but does no harm. */
export interface InfoAnswer {
  readonly info: BridgeInfo;
  readonly wrong: string | null;
}

const Created = v.object({
  message_id: externalId,
  thread_ref: v.optional(v.nullable(externalId), null),
  truncated: v.boolean(),
  replayed: v.boolean(),
});
const Replied = v.object({ ...Created.entries, thread_ref: externalId });
const Edited = v.object({ truncated: v.boolean() });
const Channel = v.object({ channel_id: externalId, name: characters(1, 10_000) });
const People = v.object({ items: v.pipe(v.array(v.unknown()), v.maxLength(1), v.array(PersonShape)) });
const Sent = v.object({ message_id: externalId, replayed: v.boolean() });
/** A value that this version does not know is taken as it is. */
const Answered = v.object({ shown_as: v.string(), replayed: v.boolean() });
/** Each event is judged for itself: a wrong one must not hold up the others. */
const Events = v.object({ events: v.array(v.unknown()), next_cursor: characters(1, 1024) });

export type CreatedMessage = v.InferOutput<typeof Created>;
export type CreatedReply = v.InferOutput<typeof Replied>;
export type FoundChannel = v.InferOutput<typeof Channel>;
export type EventPage = v.InferOutput<typeof Events>;

export const bridgeCalls = {
  getInfo: (): BridgeRequest<InfoAnswer> => ({
    ...call('getInfo', 'GET', '/v1/info'),
    read: readInfoAnswer,
  }),

  postMessage: (message: NewMessage, key: string): BridgeRequest<CreatedMessage> => ({
    ...call('postMessage', 'POST', '/v1/messages'),
    body: message,
    idempotencyKey: key,
    read: reader(Created),
  }),

  editMessage: (messageId: string, content: MessageContent): BridgeRequest<v.InferOutput<typeof Edited>> => ({
    ...call('editMessage', 'PUT', below('/v1/messages/', messageId)),
    body: content,
    read: reader(Edited),
  }),

  replyInThread: (messageId: string, reply: ThreadReply, key: string): BridgeRequest<CreatedReply> => ({
    ...call('replyInThread', 'POST', below('/v1/messages/', messageId, '/replies')),
    body: reply,
    idempotencyKey: key,
    read: reader(Replied),
  }),

  checkChannel: (channelId: string): BridgeRequest<FoundChannel> => ({
    ...call('checkChannel', 'GET', below('/v1/channels/', channelId)),
    read(answer) {
      const found = reader(Channel)(answer);
      if (!found.ok || found.value.channel_id === channelId) return found;
      return { ok: false, as: 'unknown', error: 'The bridge answered for another channel.' };
    },
  }),

  findPerson: (handle: string): BridgeRequest<v.InferOutput<typeof People>> => ({
    ...call('findPerson', 'GET', `/v1/people?${new URLSearchParams({ handle })}`),
    read: reader(People),
  }),

  sendDirectMessage: (
    personId: string,
    body: string,
    key: string,
  ): BridgeRequest<v.InferOutput<typeof Sent>> => ({
    ...call('sendDirectMessage', 'POST', '/v1/direct-messages'),
    body: { user_external_id: personId, body },
    idempotencyKey: key,
    read: reader(Sent),
  }),

  answerEvent: (eventId: string, text: string): BridgeRequest<v.InferOutput<typeof Answered>> => ({
    ...call('answerEvent', 'POST', '/v1/event-answers'),
    body: { event_id: eventId, text },
    idempotencyKey: `answer-${eventId}`,
    read: reader(Answered),
  }),

  pollEvents: (cursor: string | null): BridgeRequest<EventPage> => {
    const query = new URLSearchParams({
      ...(cursor === null ? {} : { cursor }),
      wait: String(POLL_WAIT_SECONDS),
    });
    return {
      ...call('pollEvents', 'GET', `/v1/events?${query}`),
      timeout: POLL_WITHIN,
      read: reader(Events, 'transient'),
      isEmpty: ({ events }) => events.length === 0,
    };
  },
} as const;

function call(operation: OperationName, method: 'GET' | 'POST' | 'PUT', path: string | null) {
  return { operation, method, path, body: null, idempotencyKey: null, timeout: ANSWER_WITHIN };
}

/**
 * An id as one segment of a path. A segment that is only dots means another path to every URL parser, however it is
 * encoded.
 */
function below(before: string, id: string, after = ''): string | null {
  if (id === '.' || id === '..' || !isWellFormed(id)) return null;
  return before + encodeURIComponent(id) + after;
}

/** A text with half a character cannot be written in UTF-8. */
function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDFFF]/u.test(text);
}

function reader<Value>(
  schema: v.GenericSchema<unknown, Value>,
  otherwise: 'unknown' | 'transient' = 'unknown',
): (answer: unknown) => ReadAnswer<Value> {
  return (answer) => {
    const read = v.safeParse(schema, answer, { abortEarly: true });
    if (read.success) return { ok: true, value: read.output };
    const pointer = (read.issues[0].path ?? []).map(({ key }) => `/${String(key)}`).join('');
    const place = pointer === '' ? '' : ` at ${pointer}`;
    return { ok: false, as: otherwise, error: `not the answer that the protocol has${place}` };
  };
}

/** A bridge of another version is forbidden ground; a wrong Info can be right in a moment. */
function readInfoAnswer(answer: unknown): ReadAnswer<InfoAnswer> {
  const read = readInfo(answer);
  if (read.ok) return { ok: true, value: { info: read.info, wrong: read.wrong } };
  if (read.because === 'version') {
    return { ok: false, as: 'fatal', error: `protocol version ${read.version} is not supported` };
  }
  return { ok: false, as: 'unknown', error: `invalid info: ${read.pointer || '/'}` };
}
