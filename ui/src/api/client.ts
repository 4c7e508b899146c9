/**
 * The one way to the service: JSON over same-origin fetch with the CSRF token of the session (api §1.9), one retry
 * after a stale token, and every refusal as a value.
 */
import { type Problem, readProblem, unreachable } from './problem.ts';
import type { Session } from './shapes.ts';

const BASE = '/api/v1';

export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly etag: string | null }
  | { readonly ok: false; readonly problem: Problem };

export type Query = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** ETag for `If-Match`. */
  readonly ifMatch?: string | null;
  readonly signal?: AbortSignal;
}

/** What the client needs to know about the session, and whom it tells when the session is over. */
export interface SessionPort {
  csrfToken(): string | null;
  /** A fresh session was read because the CSRF token was stale. */
  refreshed(session: Session): void;
  /** 401 to a request that had a session. */
  ended(code: string | null): void;
  /** 403: the session waits for a second factor or an enrolment. */
  limited(code: 'totp_required' | 'totp_enrolment_required'): void;
}

export interface ApiClient {
  get<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  post<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  put<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  delete(path: string, options?: RequestOptions): Promise<Answer<null>>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export function createApiClient(fetchJson: typeof fetch, session: SessionPort): ApiClient {
  async function attempt<T>(method: Method, path: string, options: RequestOptions): Promise<Answer<T>> {
    const headers = new Headers({ Accept: 'application/json' });
    if (options.body !== undefined) headers.set('Content-Type', 'application/json');
    if (options.ifMatch) headers.set('If-Match', options.ifMatch);
    const csrf = session.csrfToken();
    if (method !== 'GET' && csrf !== null) headers.set('X-CSRF-Token', csrf);
    let response: Response;
    try {
      response = await fetchJson(`${BASE}${path}${queryString(options.query)}`, {
        method,
        headers,
        credentials: 'same-origin',
        cache: 'no-store',
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: options.signal ?? null,
      });
    } catch {
      // Whatever fetch throws means the same here: no answer came.
      return { ok: false, problem: unreachable() };
    }
    const body = await readBody(response);
    if (response.ok) return { ok: true, value: body as T, etag: response.headers.get('ETag') };
    return {
      ok: false,
      problem: readProblem(response.status, body, response.headers.get('Retry-After')),
    };
  }

  async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    let answer = await attempt<T>(method, path, options);
    if (!answer.ok && answer.problem.code === 'csrf_invalid' && session.csrfToken() !== null) {
      const current = await attempt<Session>('GET', '/sessions/current', {});
      if (current.ok) {
        session.refreshed(current.value);
        answer = await attempt<T>(method, path, options);
      } else {
        answer = current;
      }
    }
    if (!answer.ok) report(answer.problem);
    return answer;
  }

  function report(problem: Problem): void {
    if (problem.status === 401) session.ended(problem.code);
    const { code } = problem;
    if (problem.status === 403 && (code === 'totp_required' || code === 'totp_enrolment_required')) {
      session.limited(code);
    }
  }

  return {
    get: (path, options) => request('GET', path, options),
    post: (path, options) => request('POST', path, options),
    put: (path, options) => request('PUT', path, options),
    delete: (path, options) => request('DELETE', path, options),
  };
}

/** `?a=1&b=x&b=y`; null, undefined, empty strings and empty arrays are left out. */
export function queryString(query: Query | undefined): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === null || value === undefined || value === '') continue;
    if (typeof value === 'object') for (const item of value) params.append(name, item);
    else params.append(name, String(value));
  }
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
}

async function readBody(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  } catch {
    // A body that breaks off or is not JSON: the status alone says what happened.
    return null;
  }
}
