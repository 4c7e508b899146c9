/** What the ingest listener answers (ingestion §3, §12). Problems here carry no `instance`. */
import type { HttpResponse } from 'uWebSockets.js';
import { PROBLEM_TYPES, type ProblemType } from '../problem.ts';
import type { RequestOutcome } from './metrics.ts';

interface PreparedAnswer {
  readonly status: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** The rest of the body is not wanted. */
  readonly closes: boolean;
}

const RETRY_AFTER_SECONDS = 5;

function problemAnswer(
  status: string,
  type: ProblemType,
  extra: {
    readonly detail: string;
    readonly headers?: readonly (readonly [string, string])[];
    readonly retryAfter?: number;
    readonly closes?: boolean;
  },
): PreparedAnswer {
  const { detail, headers = [], retryAfter, closes = false } = extra;
  return {
    status,
    headers: [
      ['Content-Type', 'application/problem+json'],
      ...headers,
      ...(retryAfter === undefined ? [] : [['Retry-After', String(retryAfter)] as const]),
    ],
    body: JSON.stringify({
      type: `https://tocsin.invalid/problems/${type}`,
      title: PROBLEM_TYPES[type],
      status: Number(status.slice(0, 3)),
      detail,
      ...(retryAfter === undefined ? {} : { retry_after_seconds: retryAfter }),
    }),
    closes,
  };
}

const NO_BODY = { headers: [], body: '', closes: false } as const;

const REFUSALS = {
  unauthorized: problemAnswer('401 Unauthorized', 'unauthenticated', {
    detail:
      'Send a valid Integration token: Authorization: Bearer svc_int_… or as the last part of the path.',
    headers: [['WWW-Authenticate', 'Bearer']],
  }),
  too_large: problemAnswer('413 Payload Too Large', 'payload-too-large', {
    detail: 'The body is larger than 16 MiB. Set max_alerts at the sender or split the group.',
    closes: true,
  }),
  unavailable: problemAnswer('503 Service Unavailable', 'coordination-unavailable', {
    detail: 'Nothing can be stored at the moment. Send it again.',
    retryAfter: RETRY_AFTER_SECONDS,
  }),
  failed: problemAnswer('500 Internal Server Error', 'internal', {
    detail: 'Storing failed. Send it again; the log of the service says why.',
  }),
} as const satisfies Record<Exclude<RequestOutcome, 'accepted'>, PreparedAnswer>;

/** Answers to webhooks. */
export const INGEST_ANSWERS: Readonly<Record<RequestOutcome, PreparedAnswer>> = {
  ...REFUSALS,
  accepted: { status: '202 Accepted', ...NO_BODY },
};

/** Answers to Heartbeat signals. */
export const HEARTBEAT_ANSWERS: Readonly<Record<RequestOutcome, PreparedAnswer>> = {
  ...REFUSALS,
  accepted: { status: '204 No Content', ...NO_BODY },
};

export const NOT_FOUND: PreparedAnswer = problemAnswer('404 Not Found', 'not-found', {
  detail: 'There is nothing here. Webhooks go to POST /api/v1/ingest.',
});

/** Writes an answer; the response must still be valid. `closes` ends the connection with it, whatever the answer. */
export function send(res: HttpResponse, answer: PreparedAnswer, closes: boolean): void {
  res.cork(() => {
    res.writeStatus(answer.status);
    for (const [name, value] of answer.headers) res.writeHeader(name, value);
    res.end(answer.body, closes || answer.closes);
  });
}
