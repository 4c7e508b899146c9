/** Problems as answers, and what a thrown error means to the caller (api §1.8). */
import { BusyError, StoreUnavailableError, UnavailableError } from '../runtime/actor/index.ts';
import type { Reply } from './exchange.ts';
import type { HeaderList } from './headers.ts';
import { PROBLEM_TYPES, type Problem } from './problem.ts';

export const PROBLEM_BASE = 'https://tocsin.invalid/problems/';

/** Seconds after which a caller may try again when something needed is away. */
const UNAVAILABLE_RETRY = 5;

/** Types whose name is their code, too. */
const NAMED_BY_TYPE: ReadonlySet<Problem['type']> = new Set([
  'default-route-immutable',
  'route-has-open-alert-groups',
]);

/** @param instance path of the request; null leaves it out (ingest listener) */
export function problemBody(problem: Problem, instance: string | null): Readonly<Record<string, unknown>> {
  const { status, type, detail, errors } = problem;
  const code = problem.code ?? (NAMED_BY_TYPE.has(type) ? type : undefined);
  return {
    type: PROBLEM_BASE + type,
    title: PROBLEM_TYPES[type],
    status,
    ...(detail === undefined ? {} : { detail }),
    ...(instance === null ? {} : { instance }),
    ...(code === undefined ? {} : { code }),
    ...(errors === undefined ? {} : { errors }),
    ...(problem.openAlertGroupCount === undefined
      ? {}
      : { open_alert_group_count: problem.openAlertGroupCount }),
    ...(problem.relatedAlertGroup === undefined ? {} : { related_alert_group: problem.relatedAlertGroup }),
    ...(problem.linkRules === undefined ? {} : { link_rules: problem.linkRules }),
    ...(problem.retryAfterSeconds === undefined ? {} : { retry_after_seconds: problem.retryAfterSeconds }),
  };
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

export const NOT_IMPLEMENTED: Problem = {
  status: 501,
  type: 'not-implemented',
  detail: 'This version of Tocsin does not do this yet.',
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
