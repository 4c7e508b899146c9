/** Words in which tests say what a broken bridge gets wrong. */
import { randomUUID } from 'node:crypto';
import { findOperation, type OperationName, split } from '../bridge-reference/operations.ts';
import {
  type BridgeAnswer,
  type BridgeRequest,
  type ProblemClass,
  problem,
  Refusal,
} from '../bridge-reference/wire.ts';
import { isObject } from './client.ts';
import { type Broken, type Deliver, TOKENS } from './in-memory.fixture.ts';

export interface BrokenBridge {
  /** The check that must notice. */
  readonly fails: string;
  /** What is wrong with it. */
  readonly bridge: string;
  /** Made anew for each run, so that it may remember things. */
  broken(): Broken;
  /** Other checks that must be made for this one to see anything. */
  readonly with?: readonly string[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** An operation of the protocol, or a path under `/_sim/`. */
export type Target = OperationName | `/_sim/${string}`;

export function isFor({ method, target }: BridgeRequest, wanted: Target): boolean {
  return target === wanted || findOperation(method, split(target).path)?.name === wanted;
}

export function fieldsOf({ body }: { readonly body: string }): Fields {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : {};
  } catch {
    // What is no JSON has no fields.
    return {};
  }
}

/** Its requests arrive changed. */
export function asking(wanted: Target, change: (request: BridgeRequest) => BridgeRequest): Broken {
  return { answer: (request, next) => next(isFor(request, wanted) ? change(request) : request) };
}

/** Its requests arrive with other fields. */
export function askingWith(wanted: Target, change: (fields: Fields) => Fields): Broken {
  return asking(wanted, (request) => ({ ...request, body: JSON.stringify(change(fieldsOf(request))) }));
}

/** Its answers leave changed. */
export function answering(
  wanted: Target,
  change: (answer: BridgeAnswer, request: BridgeRequest) => BridgeAnswer,
): Broken {
  return {
    async answer(request, next) {
      const answer = await next(request);
      return isFor(request, wanted) ? change(answer, request) : answer;
    },
  };
}

/** Its successes leave with other fields. */
export function answeringWith(
  wanted: Target,
  change: (fields: Fields, request: BridgeRequest) => Fields,
): Broken {
  return answering(wanted, (answer, request) =>
    answer.status < 300 ? { ...answer, body: JSON.stringify(change(fieldsOf(answer), request)) } : answer,
  );
}

/** Some of its requests are refused. */
export function refusing(
  wanted: Target,
  when: (request: BridgeRequest) => boolean,
  status: number,
  named: ProblemClass | undefined,
): Broken {
  const refusal = problem(new Refusal(status, 'this bridge is broken', { class: named }));
  return {
    answer: async (request, next) => (isFor(request, wanted) && when(request) ? refusal : next(request)),
  };
}

/** Its errors leave as something else. */
export function erring(
  wanted: Target,
  status: number,
  named: ProblemClass | undefined,
  more: Fields = {},
): Broken {
  return answering(wanted, (answer) => {
    if (answer.status < 400) return answer;
    const { body, ...rest } = problem(new Refusal(status, 'this bridge is broken', { class: named }));
    return { ...rest, body: JSON.stringify({ ...fieldsOf({ body }), ...more }) };
  });
}

/** Its events are polled changed; null leaves one out. */
export function reporting(change: (event: Fields) => Fields | null): Broken {
  return answeringWith('pollEvents', (page) => {
    const events = Array.isArray(page.events) ? page.events.filter(isObject) : [];
    return { ...page, events: events.map(change).filter((event) => event !== null) };
  });
}

/** Its answers are late. */
export function late(wanted: Target, seconds: number): Broken {
  return {
    async answer(request, next, { pause }) {
      if (isFor(request, wanted)) await pause(seconds);
      return next(request);
    },
  };
}

/** What it is answered to a push is taken for something else. */
export function mistaking(status: number, forStatus: number): Broken {
  return {
    async deliver(next, ...push) {
      const answered = await next(...push);
      return answered === status ? forStatus : answered;
    },
  };
}

export function pushing(change: (...push: Parameters<Deliver>) => Parameters<Deliver>): Broken {
  return { deliver: (next, ...push) => next(...change(...push)) };
}

export function withHeader(request: BridgeRequest, name: string, value: string | undefined): BridgeRequest {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

/** As if it had come with the first token. */
export function asFirst(request: BridgeRequest): BridgeRequest {
  return withHeader(request, 'authorization', bearer(TOKENS[0]));
}

export const bearer = (token: string): string => `Bearer ${token}`;

/** As if each request had a key of its own. */
export function asIfNoKey(wanted: OperationName): Broken {
  return asking(wanted, (request) => withHeader(request, 'idempotency-key', fresh()));
}

/** As if it needed no key. */
export function withoutNeed(wanted: OperationName): Broken {
  return asking(wanted, (request) =>
    request.headers['idempotency-key'] ? request : withHeader(request, 'idempotency-key', fresh()),
  );
}

export function fresh(): string {
  return `drawn-${randomUUID()}`;
}

export function countOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

/** A field cut to so many characters. */
export function cut(name: string, length: number) {
  return (fields: Fields): Fields => ({ ...fields, [name]: String(fields[name]).slice(0, length) });
}
