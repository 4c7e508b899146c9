/** What each listener answers: the API and the UI, what ingestion leaves over, health and metrics (api §1.1). */
import type { Clock } from '../runtime/clock.ts';
import { SECOND } from '../runtime/clock.ts';
import type { Dispatch } from './dispatch.ts';
import { NOT_FOUND, problemReply } from './errors.ts';
import type { Handler, Reply, Request } from './exchange.ts';
import type { HeaderList } from './headers.ts';
import type { HttpMetrics } from './metrics.ts';
import type { Match, Router } from './router.ts';
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
  return { reply: deps.files(request), pattern: '/*' };
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

export type NotReady = 'starting' | 'database unavailable' | 'shutting down';

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
