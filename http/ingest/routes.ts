/** The ingest listener's own paths on uWebSockets.js (ingestion §3, §12). */
import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { hasBrokenLength, refuseFraming } from '../framing.ts';
import type { Accept, Reception } from './accept.ts';
import { HEARTBEAT_ANSWERS, INGEST_ANSWERS, NOT_FOUND, send } from './answers.ts';
import type { HeartbeatSignal } from './heartbeat.ts';
import { bearerToken } from './token.ts';

export interface IngestRouteDeps {
  readonly accept: Accept;
  readonly signal: HeartbeatSignal;
  /** Whether the process stops: every answer then ends its connection, so that senders go elsewhere. */
  readonly isDraining: () => boolean;
}

const INGEST = '/api/v1/ingest';
const HEARTBEAT = '/api/v1/heartbeat';
const TOKEN_PARAMETER = '{ingest_token}';

/** Adds the paths to an app; every other path is the caller's. */
export function registerIngest(app: TemplatedApp, deps: IngestRouteDeps): void {
  app.post(
    INGEST,
    framed((res, req) => receive(deps, res, req, INGEST, bearerToken(req.getHeader('authorization')))),
  );
  app.post(
    `${INGEST}/:token`,
    framed((res, req) =>
      receive(deps, res, req, `${INGEST}/${TOKEN_PARAMETER}`, req.getParameter(0) || null),
    ),
  );
  for (const method of ['get', 'post'] as const) {
    app[method](
      HEARTBEAT,
      framed((res, req) => signal(deps, res, HEARTBEAT, bearerToken(req.getHeader('authorization')))),
    );
    app[method](
      `${HEARTBEAT}/:token`,
      framed((res, req) => signal(deps, res, `${HEARTBEAT}/${TOKEN_PARAMETER}`, req.getParameter(0) || null)),
    );
  }
  for (const path of [INGEST, `${INGEST}/*`, HEARTBEAT, `${HEARTBEAT}/*`]) {
    app.any(
      path,
      framed((res) => notFound(deps, res)),
    );
  }
}

type Handle = (res: HttpResponse, req: HttpRequest) => void;

/** Nothing of a request is taken whose length is unclear: the one case that is answered 400. */
function framed(handle: Handle): Handle {
  return (res, req) => {
    if (hasBrokenLength(req)) refuseFraming(res);
    else handle(res, req);
  };
}

function receive(
  deps: IngestRouteDeps,
  res: HttpResponse,
  req: HttpRequest,
  pattern: string,
  token: string | null,
): void {
  if (token === null && pattern !== INGEST) {
    notFound(deps, res);
    return;
  }
  let isGone = false;
  let reception: Reception | null = null;
  res.onAborted(() => {
    isGone = true;
    reception?.abort();
  });
  const begun = deps.accept(
    {
      token,
      contentLength: declaredLength(req.getHeader('content-length')),
      contentType: req.getHeader('content-type'),
      pattern,
      address: () => addressOf(res),
    },
    (outcome) => {
      if (isGone) return;
      isGone = true;
      send(res, INGEST_ANSWERS[outcome], deps.isDraining());
    },
  );
  // Refused already: the response is over, and the server discards the rest of the body.
  if (isGone) return;
  reception = begun;
  res.onData((piece, isLast) => begun.push(piece, isLast));
}

/** The body of a signal, if any, is discarded unread. */
function signal(deps: IngestRouteDeps, res: HttpResponse, pattern: string, token: string | null): void {
  let isGone = false;
  res.onAborted(() => {
    isGone = true;
  });
  deps.signal({ token, pattern, address: () => addressOf(res) }, (outcome) => {
    if (!isGone) send(res, HEARTBEAT_ANSWERS[outcome], deps.isDraining());
  });
}

function notFound({ isDraining }: IngestRouteDeps, res: HttpResponse): void {
  send(res, NOT_FOUND, isDraining());
}

function declaredLength(header: string): number | null {
  return /^\d+$/.test(header) ? Number(header) : null;
}

function addressOf(res: HttpResponse): string {
  return Buffer.from(res.getRemoteAddressAsText()).toString();
}
