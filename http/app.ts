/** What each listener answers: the API and the UI, callbacks of messengers, health and metrics (api §1.1, §19). */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { RefusedProofs } from '../actors/access/refused-proofs.ts';
import { sourceKey } from '../actors/access/throttle.ts';
import type { Callback, PushAnswer, Receiver } from '../actors/channels/channel.ts';
import { type Clock, SECOND } from '../runtime/clock.ts';
import { parsePublicId } from '../runtime/public-id.ts';
import { NOT_FOUND, problemReply, UNAVAILABLE } from './errors.ts';
import type { ProblemType } from './problem.ts';
import type { Dispatch } from './request/dispatch.ts';
import type { Match, Router } from './request/router.ts';
import type { BodyBudgets } from './server/body-budget.ts';
import {
  APP_BODY_LIMIT,
  type ClientAddress,
  type Handler,
  type HeaderList,
  type Reply,
  type Request,
} from './server/exchange.ts';
import type { StaticFiles } from './static.ts';

const API = '/api/v1';

export interface AppDeps {
  readonly router: Router;
  readonly dispatch: Dispatch;
  readonly files: StaticFiles;
  readonly headers: HeaderList;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
}

/** The app listener: the API under /api/v1, the UI everywhere else. */
export function createAppHandler(deps: AppDeps): Handler {
  return async (request) => {
    const begun = deps.clock.now();
    const { reply, pattern } = await answer(deps, request);
    if (reply) {
      const seconds = (deps.clock.now() - begun) / SECOND;
      deps.metrics.requestAnswered(pattern, methodLabel(request.method), reply.status, seconds);
    }
    return reply;
  };
}

async function answer(deps: AppDeps, request: Request): Promise<{ reply: Reply | null; pattern: string }> {
  const { path } = request;
  if (path.startsWith(`${API}/`)) {
    const match = deps.router.match(request.method, path.slice(API.length));
    return { reply: await deps.dispatch(match, request), pattern: patternOf(match) };
  }
  if (isMachinePath(path) || (request.method !== 'GET' && request.method !== 'HEAD')) {
    return { reply: problemReply(NOT_FOUND, path, deps.headers), pattern: UNMATCHED };
  }
  return { reply: await deps.files(request), pattern: '/*' };
}

const UNMATCHED = 'unmatched';

function patternOf(match: Match | null): string {
  return match ? API + match.operation.path : UNMATCHED;
}

/** Paths that are never the UI's. */
function isMachinePath(path: string): boolean {
  return ['/api', '/health', '/metrics'].some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** A closed set: clients may send any word as the method. */
function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

export interface InternalDeps {
  /** Why the replica is not ready, or null when it is (operations §4). */
  readonly readiness: () => Promise<NotReady | null>;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  readonly metricsContentType: string;
}

export type NotReady = 'starting' | 'database unavailable' | 'database disk full' | 'shutting down';

/** The internal listener: probes and metrics, plain text. */
export function createInternalHandler(deps: InternalDeps): Handler {
  return async ({ method, path }) => {
    if (method !== 'GET' && method !== 'HEAD') return text(404, 'not found');
    switch (path) {
      case '/health/live':
        return text(200, 'ok');
      case '/health/ready': {
        const reason = await deps.readiness();
        return reason === null ? text(200, 'ok') : text(503, reason);
      }
      case '/metrics':
        return text(200, await deps.metrics(), deps.metricsContentType);
      default:
        return text(404, 'not found');
    }
  };
}

function text(status: number, content: string, type = 'text/plain; charset=utf-8'): Reply {
  return {
    status,
    headers: [
      ['Content-Type', type],
      ['Cache-Control', 'no-store'],
    ],
    content,
  };
}

/** Metrics of the app listener and of sign-in (operations §8). */
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface HttpMetrics {
  /** @param pattern path template, or `unmatched` */
  requestAnswered(pattern: string, method: string, status: number, seconds: number): void;
  liveStreams(open: number): void;
  /** An attempt that was looked at and failed. */
  loginFailed(method: 'local' | 'oidc' | 'totp'): void;
}

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'svc_api_requests_total',
    help: 'Requests of the app listener.',
    labelNames: ['route_pattern', 'method', 'code'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'svc_api_request_duration_seconds',
    help: 'From the head of a request to its answer.',
    labelNames: ['route_pattern', 'method'],
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const streams = new Gauge({
    name: 'svc_live_streams',
    help: 'Open live-update streams.',
    registers: [registry],
  });
  const failures = new Counter({
    name: 'svc_login_failures_total',
    help: 'Evaluated sign-in attempts that failed.',
    labelNames: ['method'],
    registers: [registry],
  });
  for (const method of ['local', 'oidc', 'totp']) failures.inc({ method }, 0);

  return {
    requestAnswered(pattern, method, status, seconds) {
      requests.inc({ route_pattern: pattern, method, code: String(status) });
      duration.observe({ route_pattern: pattern, method }, seconds);
    },
    liveStreams: (open) => streams.set(open),
    loginFailed: (method) => failures.inc({ method }),
  };
}

/** What messengers and bridges call on the ingest listener (api §19). Every other path there is unknown. */
const CALLBACK = /^\/api\/v1\/callbacks\/([a-z-]+)\/([^/]+)$/;

/** What takes the pushes of one type of Connection. */
export type CallbackReceiver = { readonly callback: Callback; readonly receiver: Pick<Receiver, 'push'> };

export interface CallbackDeps {
  readonly callbacks: readonly CallbackReceiver[];
  readonly bodies: BodyBudgets;
  readonly clientAddress: ClientAddress;
  readonly refusedProofs: RefusedProofs;
}

/** What ingestion leaves over. */
export function createCallbackHandler(deps: CallbackDeps): Handler {
  const byPath = new Map(deps.callbacks.map((each) => [each.callback.path, each]));
  return async (request) => {
    const [, path = '', id = ''] = CALLBACK.exec(request.path) ?? [];
    const found = byPath.get(path);
    if (request.method !== 'POST' || !found) return problemReply(NOT_FOUND, null, []);
    return takePush(deps, found, request, id);
  };
}

const NO_BODY = Buffer.alloc(0);
/** What helps to find out where a push came from, besides the headers that prove it. */
const KEPT_HEADERS = ['content-type', 'user-agent'] as const;

async function takePush(
  { bodies, clientAddress, refusedProofs }: CallbackDeps,
  { callback, receiver }: CallbackReceiver,
  request: Request,
  id: string,
): Promise<Reply | null> {
  const address = clientAddress(request.socketAddress, request.header('x-forwarded-for'));
  const body = await request.body(APP_BODY_LIMIT, bodies.open('callback', sourceKey(address)));
  if (body.kind === 'aborted') return null;
  if (body.kind === 'no_room') return problemReply(UNAVAILABLE, null, []);
  const isTooLarge = body.kind === 'too_large';
  if (isTooLarge && callback.tooLarge !== 'as_empty') return refusal(callback.tooLarge);
  const headers = [...KEPT_HEADERS, ...callback.headers].flatMap((name) => {
    const value = request.header(name);
    return value === null ? [] : [[name, value] as const];
  });
  const connectionId = parsePublicId(id);
  const answer = await receiver.push({ id: connectionId, headers, body: isTooLarge ? NO_BODY : body.bytes });
  if (answer.status === 401) {
    refusedProofs.note({ kind: 'callback', address, reason: 'unproven', resourceId: connectionId });
  }
  return replyOf(answer);
}

const REFUSALS = {
  400: ['validation-failed', 'This is no event that can be handled. It need not be sent again.'],
  401: [
    'unauthenticated',
    'The signature, the time, the Connection or its mode is wrong. Correct it and send the event again.',
  ],
  413: ['payload-too-large', 'A callback takes at most 1 MiB.'],
  500: ['internal', 'The event could not be handled. Send it again.'],
} as const satisfies Record<number, readonly [ProblemType, string]>;

function replyOf(answer: PushAnswer): Reply {
  const { status } = answer;
  if (status === 204) return { status, headers: [], content: null };
  if (status !== 200) return refusal(status);
  return text(status, answer.body, 'application/json');
}

function refusal(status: keyof typeof REFUSALS): Reply {
  const [type, detail] = REFUSALS[status];
  return problemReply({ status, type, detail }, null, []);
}
