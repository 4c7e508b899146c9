/** `/_sim/`: what tests use instead of people, and what they look at. */
import * as v from 'valibot';
import type { Acts } from './acts.ts';
import { type Messenger, PEOPLE } from './messenger.ts';
import { OPERATION_NAMES, type OperationName } from './operations.ts';
import { PERSON, type Person, readBody } from './shapes.ts';
import {
  type BridgeAnswer,
  type BridgeRequest,
  CLASSES,
  invalid,
  json,
  notOffered,
  Refusal,
} from './wire.ts';

export interface RecordedRequest {
  readonly at: string;
  readonly operation: OperationName | null;
  /** Which token it came with, counted from 0; null: none of ours. */
  readonly bot: number | null;
  readonly method: string;
  readonly target: string;
  readonly idempotency_key: string | null;
  readonly body: string;
  /** null while it is at work. */
  status: number | null;
  lost: boolean;
}

export interface Sim {
  readonly messenger: Messenger;
  readonly acts: Acts;
  readonly requests: readonly RecordedRequest[];
  setFaults(faults: readonly Fault[]): void;
}

/** Somebody the messenger knows, by id, or anybody, as a Person. */
const USER = v.union([v.string(), PERSON]);
const PRESS = v.object({ message_id: v.string(), data: v.string(), user: USER });
const THREAD_MESSAGE = v.object({ message_id: v.string(), user: USER, text: v.string() });
const WRITE_DIRECTLY = v.object({ user: USER, text: v.string(), bot: v.optional(v.number(), 0) });
const DELETE = v.object({ message_id: v.string(), user: v.nullish(USER, null) });

type Road = (sim: Sim, body: string) => BridgeAnswer;

const ROADS: Readonly<Record<string, Road>> = {
  'GET /_sim/messages': ({ messenger }) => json(200, messenger.posts),
  'GET /_sim/requests': ({ requests }) => json(200, requests),
  'PUT /_sim/faults': ({ setFaults }, body) => {
    setFaults(readBody(FAULTS, body));
    return { status: 204, headers: {}, body: '' };
  },
  'POST /_sim/press': ({ acts }, body) => {
    const { message_id, data, user } = readBody(PRESS, body);
    return json(200, acts.press(message_id, data, personOf(user)));
  },
  'POST /_sim/thread-message': ({ acts }, body) => {
    const { message_id, user, text } = readBody(THREAD_MESSAGE, body);
    return json(200, acts.writeInThread(message_id, text, personOf(user)));
  },
  'POST /_sim/direct': ({ acts }, body) => {
    const { user, text, bot } = readBody(WRITE_DIRECTLY, body);
    return json(200, acts.writeDirectly(bot, text, personOf(user)));
  },
  'POST /_sim/delete': ({ acts }, body) => {
    const { message_id, user } = readBody(DELETE, body);
    return json(200, acts.delete(message_id, user === null ? null : personOf(user)));
  },
};

/** @throws Refusal */
export function answerSim({ method, target, body, headers }: BridgeRequest, sim: Sim): BridgeAnswer {
  const road = ROADS[`${method} ${target}`];
  if (!road) throw notOffered(`${method} ${target}`);
  // A page of somebody else's must not act here through a person's browser: it cannot send this type unasked.
  if (method !== 'GET' && !headers['content-type']?.startsWith('application/json'))
    throw invalid('Content-Type', 'must be application/json');
  return road(sim, body);
}

function personOf(user: string | Person): Person {
  if (typeof user !== 'string') return user;
  const known = PEOPLE.find(({ person }) => person.external_id === user);
  if (!known) throw invalid('user', 'is nobody here');
  return known.person;
}

/** Faults that tests ask for by `PUT /_sim/faults`. */
const FAULTS = v.array(
  v.strictObject({
    operation: v.picklist(OPERATION_NAMES),
    /** How many requests it meets. */
    times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1),
    /** Answers this instead of doing anything; without it the operation is done. */
    status: v.optional(v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599))),
    class: v.optional(v.picklist(CLASSES)),
    reason: v.optional(v.string()),
    scope: v.optional(v.picklist(['bot', 'channel'])),
    /** Seconds. */
    retry_after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
    delay_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
    /** Does the work and ends the connection without an answer. */
    drop_answer: v.optional(v.boolean(), false),
  }),
);
export type Fault = v.InferOutput<typeof FAULTS>[number];

export interface Faults {
  set(faults: readonly Fault[]): void;
  /** The fault that meets this request. */
  take(operation: OperationName): Fault | null;
}

export function createFaults(): Faults {
  let left: { readonly fault: Fault; times: number }[] = [];
  return {
    set: (faults) => {
      left = faults.map((fault) => ({ fault, times: fault.times }));
    },
    take(operation) {
      const found = left.find(({ fault, times }) => fault.operation === operation && times > 0);
      if (!found) return null;
      found.times--;
      return found.fault;
    },
  };
}

/** What a fault with a status answers. */
export function refusalOf({ status, class: named, reason, scope, retry_after }: Fault): Refusal | null {
  if (status === undefined) return null;
  return new Refusal(status, 'asked for by /_sim/faults', { class: named, reason, scope, retry_after });
}
