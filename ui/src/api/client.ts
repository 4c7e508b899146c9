/**
 * The one way to the service: JSON over same-origin fetch with the CSRF token of the session (api §1.9), one retry
 * after a stale token, a bound on the time of every request, and every refusal as a value.
 */
import { defect, notSent, type Problem, readProblem, unanswered, unreachable } from './problem.ts';
import type { Session } from './shapes.ts';

/** Milliseconds until a request without an answer is given up. The service itself gives up its slowest read after 30 s. */
const WITHIN_MS = { read: 35_000, change: 15_000, long: 100_000 } as const;
/** What proxies answer when they lost the service behind them, which may have done what was asked. */
const LOST_BEHIND_PROXY: ReadonlySet<number> = new Set([502, 504]);
/** 4xx answers that say nothing about what was asked: it timed out, or came too often. */
const ASK_AGAIN: ReadonlySet<number> = new Set([408, 429]);
const BASE = '/api/v1';
const CURRENT_SESSION = '/sessions/current';

export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly etag: string | null; readonly isKept?: boolean }
  | { readonly ok: false; readonly problem: Problem };

export type Query = Readonly<
  Record<string, string | number | boolean | null | undefined | readonly string[]>
>;

export interface RequestOptions {
  readonly query?: Query;
  readonly body?: unknown;
  /** ETag for `If-Match`. */
  readonly ifMatch?: string | null;
  /** The service itself calls others before it answers, or works through many objects. */
  readonly long?: boolean;
  /** A POST that changes nothing worth a warning: it is sent whatever is known, and may be repeated at will. */
  readonly harmless?: boolean;
  /** What the answer is called where it is kept, if not by path and query. */
  readonly keptAs?: string | undefined;
  /** Given when nobody waits for the answer any more: the request is given up, and says nothing about the service. */
  readonly signal?: AbortSignal;
}

/** What the client needs to know about the session, and whom it tells when the session is over. */
export interface SessionPort {
  csrfToken(): string | null;
  /**
   * A fresh session was read because the CSRF token was stale.
   * @returns whether it is the same person's; a change is never repeated in the name of somebody else
   */
  refreshed(session: Session): boolean;
  /** 401 to a request that had a session. */
  ended(code: string | null): void;
  /** 403: the session waits for a second factor or an enrolment. */
  limited(code: 'totp_required' | 'totp_enrolment_required'): void;
}

/** What the client needs from outside of it. */
export interface ClientDeps {
  readonly fetch: typeof fetch;
  readonly session: SessionPort;
  /** Whether the service is known not to answer, so that a change is not even sent. Answers within 2 s. */
  readonly isAway: () => Promise<boolean>;
  /** What reads are answered with as long as nothing came from the service. */
  readonly kept?: { answer(name: string): Promise<{ readonly at: number; readonly body: unknown } | null> };
  /** A read was answered so. @param at when that came, ms since the epoch */
  readonly gotKept?: (at: number) => void;
  readonly timers: Timers;
}

/** `setTimeout` and `clearTimeout` outside of tests. */
export interface Timers {
  set(run: () => void, ms: number): unknown;
  clear(timer: unknown): void;
}

export interface ApiClient {
  get<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  post<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  put<T>(path: string, options?: RequestOptions): Promise<Answer<T>>;
  delete(path: string, options?: RequestOptions): Promise<Answer<null>>;
  /**
   * Watches the reads that begin from now on.
   * @returns resolves when none of them is on its way, with whether each that still was got a definite answer: its
   * value, or a 4xx other than 408 and 429, or was left. After anything else what is shown is still what it was before.
   */
  watchReads(): () => Promise<boolean>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export function createApiClient(deps: ClientDeps): ApiClient {
  const { fetch, session, isAway, timers } = deps;
  /** Reads on their way, and which of all reads each is. */
  const reads = new Map<Promise<Answer<unknown>>, { number: number; left: AbortSignal | undefined }>();
  let readsBegun = 0;
  /** The service answered something: nothing kept is given any more. */
  let isAnswered = false;

  async function keptAnswer<T>(name: string): Promise<Answer<T> | null> {
    const kept = isAnswered ? null : ((await deps.kept?.answer(name)) ?? null);
    if (kept === null || isAnswered) return null;
    deps.gotKept?.(kept.at);
    return { ok: true, value: kept.body as T, etag: null, isKept: true };
  }

  async function attempt<T>(method: Method, path: string, options: RequestOptions): Promise<Answer<T>> {
    const changes = method !== 'GET' && options.harmless !== true;
    if (changes && (await isAway())) return { ok: false, problem: notSent() };
    const target = `${path}${queryString(options.query)}`;
    const keptInstead = async () => {
      const isWanted = method === 'GET' && options.signal?.aborted !== true;
      return isWanted ? keptAnswer<T>(options.keptAs ?? target) : null;
    };
    const lost = async (status: number): Promise<Answer<T>> =>
      (await keptInstead()) ?? { ok: false, problem: changes ? unanswered(status) : unreachable() };
    if (options.signal?.aborted) return lost(0);
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    const timer = timers.set(abort, bound(method, options));
    const { signal: left } = options;
    left?.addEventListener('abort', abort);
    try {
      const response = await fetch(`${BASE}${target}`, {
        method,
        headers: headersOf(method, options),
        credentials: 'same-origin',
        cache: 'no-store',
        body: options.body === undefined ? null : JSON.stringify(options.body),
        signal: giveUp.signal,
      });
      const text = await response.text();
      const { status } = response;
      const body = parse(text);
      // The service answers with an object, or with 204 to a change. Anything else is the answer of a proxy.
      const isOfService = isObject(body) || (status === 204 && method !== 'GET');
      if (response.ok && !isOfService) return lost(0);
      const problem = response.ok ? null : readProblem(status, body, response.headers.get('Retry-After'));
      const isLost = problem?.type === 'unknown' && LOST_BEHIND_PROXY.has(status);
      if (isLost && changes) return lost(status);
      isAnswered ||= !isLost;
      if (problem === null) return { ok: true, value: body as T, etag: response.headers.get('ETag') };
      return (isLost ? await keptInstead() : null) ?? { ok: false, problem };
    } catch {
      // Whatever fetch and reading the body throw means the same here: no answer came.
      return lost(0);
    } finally {
      timers.clear(timer);
      left?.removeEventListener('abort', abort);
    }
  }

  function headersOf(method: Method, options: RequestOptions): Headers {
    const headers = new Headers({ Accept: 'application/json' });
    if (options.body !== undefined) headers.set('Content-Type', 'application/json');
    if (options.ifMatch) headers.set('If-Match', options.ifMatch);
    const csrf = session.csrfToken();
    if (method !== 'GET' && csrf !== null) headers.set('X-CSRF-Token', csrf);
    return headers;
  }

  async function request<T>(method: Method, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    let answer = await attempt<T>(method, path, options);
    if (
      !answer.ok &&
      path !== CURRENT_SESSION &&
      session.csrfToken() !== null &&
      isOfOtherSession(answer.problem)
    ) {
      const current = await attempt<Session>('GET', CURRENT_SESSION, {});
      if (!current.ok) answer = current;
      else if (session.refreshed(current.value)) answer = await attempt<T>(method, path, options);
      else return answer;
    }
    if (!answer.ok) report(answer.problem);
    return answer;
  }

  async function read<T>(path: string, options?: RequestOptions): Promise<Answer<T>> {
    const answer = request<T>('GET', path, options);
    reads.set(answer, { number: readsBegun++, left: options?.signal });
    try {
      return await answer;
    } finally {
      reads.delete(answer);
    }
  }

  function report(problem: Problem): void {
    if (problem.status === 401) session.ended(problem.code);
    const { code } = problem;
    if (problem.status === 403 && (code === 'totp_required' || code === 'totp_enrolment_required')) {
      session.limited(code);
    }
  }

  return {
    get: read,
    post: (path, options) => request('POST', path, options),
    put: (path, options) => request('PUT', path, options),
    delete: (path, options) => request('DELETE', path, options),
    watchReads() {
      const first = readsBegun;
      const watched = () => [...reads].filter(([, { number }]) => number >= first);
      return async () => {
        let answered = true;
        for (let rest = watched(); rest.length > 0; rest = watched()) {
          const ends = await Promise.all(
            rest.map(async ([answer, { left }]) => isDefinite(await answer) || left?.aborted),
          );
          answered &&= ends.every(Boolean);
        }
        return answered;
      };
    },
  };
}

/** What `request` answers. No answer is a value: when it throws, the page is at fault, and the error is reported. */
export async function answerOf<T>(request: () => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await request();
  } catch (error) {
    reportError(error);
    return { ok: false, problem: defect() };
  }
}

/**
 * A read that what is shown follows the service by.
 * @param lost called when it got no definite answer, with when it began, ms since the epoch: what is shown may be old
 */
export function followed<Args extends readonly unknown[], T>(
  request: (...args: Args) => Promise<Answer<T>>,
  lost: (since: number) => void,
): (...args: Args) => Promise<Answer<T>> {
  return async (...args) => {
    const since = Date.now();
    let isLost = true;
    try {
      const answer = await request(...args);
      isLost = !answer.ok && !isDefinite(answer);
      return answer;
    } finally {
      if (isLost) lost(since);
    }
  };
}

/** Whether it was asked in a session that is over; in another tab somebody may have signed in meanwhile. */
function isOfOtherSession({ status, code }: Problem): boolean {
  return code === 'csrf_invalid' || (status === 401 && code !== 'invalid_credentials');
}

/** Whether the service said what is asked for, or that it will not. */
function isDefinite(answer: Answer<unknown>): boolean {
  if (answer.ok) return answer.isKept !== true;
  const { status } = answer.problem;
  return status >= 400 && status < 500 && !ASK_AGAIN.has(status);
}

function bound(method: Method, options: RequestOptions): number {
  if (options.long === true) return WITHIN_MS.long;
  return method === 'GET' ? WITHIN_MS.read : WITHIN_MS.change;
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

/** Null for an empty body, undefined for one that is not JSON. */
function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    // Not the service's: it answers JSON or nothing.
    return undefined;
  }
}

/** Whether two values of answers say the same: objects and lists by what they hold. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && isSame(one[name], other[name]))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
