/** The sockets of the ingest listener, and its prepared answers (ingestion §3, §12). */
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { RefusedProofs } from '../../actors/access/refused-proofs.ts';
import { PROBLEM_TYPES, type ProblemType } from '../problem.ts';
import type { ClientAddress } from '../server/exchange.ts';
import {
  type Admitted,
  admit,
  type BodyPace,
  type Inflow,
  openInflow,
  type Peers,
  refuseFraming,
} from '../server/inflow.ts';
import { type Accept, bearerToken } from './accept.ts';
import type { HeartbeatSignal } from './heartbeat.ts';
import type { RequestOutcome } from './metrics.ts';

export interface IngestRouteDeps {
  readonly accept: Accept;
  readonly signal: HeartbeatSignal;
  readonly pace: BodyPace;
  readonly clientAddress: ClientAddress;
  readonly refusedProofs: RefusedProofs;
  /** Whether the process stops: every answer then ends its connection, so that senders go elsewhere. */
  readonly isDraining: () => boolean;
}

const INGEST = '/api/v1/ingest';
const HEARTBEAT = '/api/v1/heartbeat';
const TOKEN_PARAMETER = '{ingest_token}';

/** Adds the paths to an app; every other path is the caller's. */
export function registerIngest(app: TemplatedApp, peers: Peers | null, deps: IngestRouteDeps): void {
  const framed = (handle: Handle) => (res: HttpResponse, req: HttpRequest) => {
    const admitted = admit(res, req, peers);
    // Nothing of a request is taken whose end is unclear: the one case that is answered 400.
    if (!admitted) refuseFraming(res);
    else handle(openDelivery(deps, res, req, admitted), req);
  };
  app.post(
    INGEST,
    framed((delivery, req) =>
      receive(deps, delivery, req, INGEST, bearerToken(req.getHeader('authorization'))),
    ),
  );
  app.post(
    `${INGEST}/:token`,
    framed((delivery, req) =>
      receive(deps, delivery, req, `${INGEST}/${TOKEN_PARAMETER}`, req.getParameter(0) || null),
    ),
  );
  for (const method of ['get', 'post'] as const) {
    app[method](
      HEARTBEAT,
      framed((delivery, req) =>
        signal(deps, delivery, HEARTBEAT, bearerToken(req.getHeader('authorization'))),
      ),
    );
    app[method](
      `${HEARTBEAT}/:token`,
      framed((delivery, req) =>
        signal(deps, delivery, `${HEARTBEAT}/${TOKEN_PARAMETER}`, req.getParameter(0) || null),
      ),
    );
  }
  for (const path of [INGEST, `${INGEST}/*`, HEARTBEAT, `${HEARTBEAT}/*`]) {
    app.any(
      path,
      framed((delivery) => delivery.answer(NOT_FOUND)),
    );
  }
}

type Handle = (delivery: Delivery, req: HttpRequest) => void;

/** One request and its answer. */
interface Delivery {
  readonly inflow: Inflow;
  /** Announced length of the body, bytes; null for a chunked one. */
  readonly length: number | null;
  /** Answers unless the client is gone. Only the first answer counts. */
  answer(prepared: PreparedAnswer): void;
  onGone(listener: () => void): void;
  /** Of the client. Asked for before it is gone, it can be asked for later. */
  address(): string;
}

function openDelivery(
  { pace, isDraining, clientAddress }: IngestRouteDeps,
  res: HttpResponse,
  req: HttpRequest,
  { framing, peer, ending }: Admitted,
): Delivery {
  const inflow = openInflow(res, framing, pace);
  const forwardedFor = req.getHeader('x-forwarded-for') || null;
  let address: string | null = null;
  const gone: (() => void)[] = [];
  let isOver = false;
  res.onAborted(() => {
    inflow.gone();
    isOver = true;
    for (const listener of gone) listener();
  });
  return {
    inflow,
    length: framing.length,
    answer(prepared) {
      if (isOver) return;
      isOver = true;
      inflow.answer((mustClose) => {
        const closes = mustClose || prepared.closes || isDraining();
        if (closes) ending();
        send(res, prepared, closes);
      });
    },
    onGone: (listener) => void gone.push(listener),
    address() {
      address ??= clientAddress(peer(), forwardedFor);
      return address;
    },
  };
}

function receive(
  deps: IngestRouteDeps,
  delivery: Delivery,
  req: HttpRequest,
  pattern: string,
  token: string | null,
): void {
  if (token === null && pattern !== INGEST) {
    delivery.answer(NOT_FOUND);
    return;
  }
  const reception = deps.accept(
    {
      token,
      contentLength: delivery.length,
      contentType: req.getHeader('content-type'),
      pattern,
      address: delivery.address,
    },
    (outcome) => {
      if (outcome === 'unauthorized') noteRefused(deps, delivery, token);
      delivery.answer(INGEST_ANSWERS[outcome]);
    },
  );
  delivery.onGone(() => reception.abort());
  delivery.inflow.collect((piece, isLast) => reception.push(piece, isLast));
}

/** The body of a signal, if any, is discarded unread. */
function signal(deps: IngestRouteDeps, delivery: Delivery, pattern: string, token: string | null): void {
  deps.signal({ token, pattern, address: delivery.address }, (outcome) => {
    if (outcome === 'unauthorized') noteRefused(deps, delivery, token);
    delivery.answer(HEARTBEAT_ANSWERS[outcome]);
  });
}

/** Whoever refuses logs the address, so that it is known here although the client may be gone. */
function noteRefused({ refusedProofs }: IngestRouteDeps, { address }: Delivery, token: string | null): void {
  if (token === null) return;
  refusedProofs.note({ kind: 'integration_token', address: address(), reason: 'unknown', resourceId: null });
}

/** What the ingest listener answers (ingestion §3, §12). Problems here carry no `instance`. */
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
      title: PROBLEM_TYPES[type][0],
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
const INGEST_ANSWERS: Readonly<Record<RequestOutcome, PreparedAnswer>> = {
  ...REFUSALS,
  accepted: { status: '202 Accepted', ...NO_BODY },
};

/** Answers to Heartbeat signals. */
const HEARTBEAT_ANSWERS: Readonly<Record<RequestOutcome, PreparedAnswer>> = {
  ...REFUSALS,
  accepted: { status: '204 No Content', ...NO_BODY },
};

const NOT_FOUND: PreparedAnswer = problemAnswer('404 Not Found', 'not-found', {
  detail: 'There is nothing here. Webhooks go to POST /api/v1/ingest.',
});

/** Writes an answer; the response must still be valid. `closes` ends the connection with it. */
function send(res: HttpResponse, answer: PreparedAnswer, closes: boolean): void {
  res.cork(() => {
    res.writeStatus(answer.status);
    for (const [name, value] of answer.headers) res.writeHeader(name, value);
    res.end(answer.body, closes);
  });
}
