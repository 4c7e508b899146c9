/** Problems as answers, what a thrown error means to the caller (api §1.8), and bounds on waiting. */
import { BusyError, StoreUnavailableError, UnavailableError } from '../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../runtime/clock.ts';
import {
  cutText,
  FIELD_ERROR_LIMIT,
  type FieldError,
  POINTER_LIMIT,
  PROBLEM_TYPES,
  type Problem,
} from './problem.ts';
import type { HeaderList, Reply } from './server/exchange.ts';

export const PROBLEM_BASE = 'https://tocsin.invalid/problems/';

/** Seconds after which a caller may try again when something needed is away. */
const UNAVAILABLE_RETRY = 5;

/** Types whose name is their code, too. */
const NAMED_BY_TYPE: ReadonlySet<Problem['type']> = new Set([
  'default-route-immutable',
  'route-has-open-alert-groups',
]);

/** Longest path that an answer repeats, and longest sentence about one field, characters. */
const INSTANCE_LIMIT = 1_024;
const FIELD_DETAIL_LIMIT = 1_000;

/** What the errors of one answer may take, bytes; whole answers stay below 64 KiB (api §1.8). */
const ERRORS_BYTES = 48 * 1024;

/**
 * Bounded in number and size whatever the request was; what is beyond the bounds is left out.
 * @param instance path of the request; null leaves it out (ingest listener)
 */
export function problemBody(problem: Problem, instance: string | null): Readonly<Record<string, unknown>> {
  const { status, type, detail, errors } = problem;
  const code = problem.code ?? (NAMED_BY_TYPE.has(type) ? type : undefined);
  return {
    type: PROBLEM_BASE + type,
    title: PROBLEM_TYPES[type][0],
    status,
    ...(detail === undefined ? {} : { detail }),
    ...(instance === null ? {} : { instance: cutText(instance, INSTANCE_LIMIT) }),
    ...(code === undefined ? {} : { code }),
    ...(errors === undefined ? {} : { errors: boundedErrors(errors) }),
    ...(problem.openAlertGroupCount === undefined
      ? {}
      : { open_alert_group_count: problem.openAlertGroupCount }),
    ...(problem.relatedAlertGroup === undefined ? {} : { related_alert_group: problem.relatedAlertGroup }),
    ...(problem.linkRules === undefined ? {} : { link_rules: problem.linkRules.slice(0, FIELD_ERROR_LIMIT) }),
    ...(problem.retryAfterSeconds === undefined ? {} : { retry_after_seconds: problem.retryAfterSeconds }),
  };
}

function boundedErrors(errors: readonly FieldError[]): readonly FieldError[] {
  const bounded: FieldError[] = [];
  let left = ERRORS_BYTES;
  for (const error of errors.slice(0, FIELD_ERROR_LIMIT)) {
    const pointer = cutText(error.pointer, POINTER_LIMIT);
    const detail = cutText(error.detail, FIELD_DETAIL_LIMIT);
    left -= Buffer.byteLength(JSON.stringify({ ...error, pointer, detail }));
    if (left < 0) break;
    bounded.push({ ...error, pointer, detail });
  }
  return bounded;
}

/** The answer for a problem, with Retry-After where it says so. */
export function problemReply(problem: Problem, instance: string | null, base: HeaderList): Reply {
  const headers: [string, string][] = [
    ['Content-Type', 'application/problem+json'],
    ['Cache-Control', 'no-store'],
  ];
  if (problem.retryAfterSeconds !== undefined) {
    headers.push(['Retry-After', String(problem.retryAfterSeconds)]);
  }
  return {
    status: problem.status,
    headers: [...headers, ...Object.entries(problem.headers ?? {}), ...base],
    content: JSON.stringify(problemBody(problem, instance)),
  };
}

export const NOT_FOUND: Problem = { status: 404, type: 'not-found' };

export const PAYLOAD_TOO_LARGE: Problem = {
  status: 413,
  type: 'payload-too-large',
  detail: 'The body is larger than this listener takes.',
};

export const UNAVAILABLE: Problem = {
  status: 503,
  type: 'coordination-unavailable',
  detail: 'Something this needs cannot be reached right now. Try again.',
  retryAfterSeconds: UNAVAILABLE_RETRY,
};

export const INTERNAL: Problem = {
  status: 500,
  type: 'internal',
  detail: 'Something went wrong inside Tocsin. The log of the service says what.',
};

/** No token of a limiter within the time that a person waits (delivery §6). */
export function messengerBusy(retryAfterSeconds: number): Problem {
  return {
    status: 503,
    type: 'interactive-budget-exhausted',
    detail: 'The limit of calls to this messenger is used up for the moment. Try again.',
    retryAfterSeconds,
  };
}

/** Says whether a thrown error of the database driver means that the database is away. */
export type IsUnavailable = (error: unknown) => boolean;

/** The problem behind an exception: infrastructure that is away is 503, anything else a defect. */
export function problemOfError(error: unknown, isUnavailable: IsUnavailable): Problem {
  const away =
    error instanceof BusyError ||
    error instanceof UnavailableError ||
    error instanceof StoreUnavailableError ||
    isUnavailable(error);
  return away ? UNAVAILABLE : INTERNAL;
}

/** Bounds on waiting: the pool of the database has none of its own (operations §5.6). */
const LONGEST_WAIT: Micros = 5 * SECOND;

/** What `work` gives, unless that takes too long. @throws {UnavailableError} it does; the work itself goes on */
export async function within<Result>(
  clock: Clock,
  work: Promise<Result>,
  longest = LONGEST_WAIT,
): Promise<Result> {
  let timer = { cancel: (): void => undefined };
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(longest, () => reject(new UnavailableError('no answer in time')));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
