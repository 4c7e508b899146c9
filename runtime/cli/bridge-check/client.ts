/** Calls to the bridge under the rules that hold for every check: in time, no redirect, no unknown class. */
import { type Clock, SECOND } from '../../clock.ts';
import type { RawAnswer, Send, SentRequest } from './send.ts';

export const CLASSES = ['transient', 'rate_limited', 'gone', 'forbidden', 'invalid'] as const;
export type ProblemClass = (typeof CLASSES)[number];

export interface Answer extends RawAnswer {
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
  /** Members of the body when it is an object. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

/** A request and its outcome, for the report. */
export interface Exchange {
  readonly request: SentRequest;
  readonly answer: Answer | null;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path under the base URL and query, percent-encoded. */
  readonly path: string;
  /** null: no Authorization. */
  readonly token?: string | null;
  readonly key?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string;
  /** How long the answer may take. */
  readonly seconds?: number;
}

export interface BridgeClient {
  readonly baseUrl: string;
  /** @throws Unmet when a rule that holds everywhere is broken */
  call(call: Call): Promise<Answer>;
  /** Everything since it was last asked. */
  takeExchanges(): readonly Exchange[];
  /** Errors of the whole run. */
  readonly errors: readonly Answer[];
  pause(seconds: number): Promise<void>;
}

const LIMIT_SECONDS = 10;
/** Throttling is no fault: such a call is repeated, this often and after this long at most. */
const MOST_REPEATS = 3;
const LONGEST_THROTTLE_SECONDS = 60;

export interface ClientParts {
  readonly baseUrl: string;
  readonly token: string;
  readonly send: Send;
  readonly clock: Clock;
}

export function createClient({ baseUrl, token, send, clock }: ClientParts): BridgeClient {
  const errors: Answer[] = [];
  let exchanges: Exchange[] = [];
  const pause = (seconds: number) =>
    new Promise<void>((resolve) => {
      clock.after(seconds * SECOND, resolve);
    });

  const once = async (call: Call): Promise<Answer> => {
    const request = requestOf(call, baseUrl, token);
    const started = clock.now();
    const raw = await inTime(send, request, clock, call.seconds ?? LIMIT_SECONDS).catch((error: unknown) => {
      exchanges.push({ request, answer: null });
      throw error;
    });
    const answer = { ...raw, ...parsed(raw.body), seconds: (clock.now() - started) / SECOND };
    exchanges.push({ request, answer });
    if (answer.status >= 400) errors.push(answer);
    demand(answer.status < 300 || answer.status >= 400, `the answer is a redirect (${answer.status})`);
    const named = isProblem(answer) ? answer.fields.class : undefined;
    demand(
      named == null || isClass(named),
      `the problem's class is ${JSON.stringify(named)}, which nobody knows`,
    );
    return answer;
  };

  return {
    baseUrl,
    errors,
    pause,
    async call(call) {
      for (let repeat = 0; ; repeat++) {
        const answer = await once(call);
        const after = classOf(answer) === 'rate_limited' ? Number(answer.headers['retry-after']) : Number.NaN;
        if (!(after <= LONGEST_THROTTLE_SECONDS) || repeat === MOST_REPEATS) return answer;
        await pause(after);
      }
    },
    takeExchanges() {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
  };
}

function requestOf(call: Call, baseUrl: string, own: string): SentRequest {
  const { method, path, key, raw, token = own } = call;
  const body = raw ?? (call.body === undefined ? null : JSON.stringify(call.body));
  return {
    ...{ method, url: baseUrl + path, body },
    headers: {
      accept: 'application/json, application/problem+json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  };
}

async function inTime(send: Send, request: SentRequest, clock: Clock, seconds: number): Promise<RawAnswer> {
  const ended = new AbortController();
  const tooLate = new Promise<never>((_, reject) => {
    ended.signal.addEventListener('abort', () => reject(new Unmet(`no answer came within ${seconds} s`)));
  });
  const timer = clock.after(seconds * SECOND, () => ended.abort());
  try {
    return await Promise.race([send(request, ended.signal), tooLate]);
  } catch (error) {
    if (error instanceof Unmet || ended.signal.aborted) throw new Unmet(`no answer came within ${seconds} s`);
    throw new Unmet(`the connection failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    timer.cancel();
  }
}

function parsed(body: string): Pick<Answer, 'json' | 'fields'> {
  try {
    const json: unknown = JSON.parse(body);
    return { json, fields: isObject(json) ? json : {} };
  } catch {
    return { json: undefined, fields: {} };
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isClass(value: unknown): value is ProblemClass {
  return CLASSES.some((known) => known === value);
}

export function isProblem({ status, headers }: RawAnswer): boolean {
  return status >= 400 && /^application\/problem\+json\b/i.test(headers['content-type'] ?? '');
}

/** What the service takes the answer for (bridge §2.2); null: a success. */
export function classOf(answer: Answer): ProblemClass | null {
  const { status, headers, fields } = answer;
  if (status < 300) return null;
  if (isProblem(answer) && isClass(fields.class)) return fields.class;
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 429 || (status === 503 && headers['retry-after'] !== undefined)) return 'rate_limited';
  return status === 408 || status >= 500 ? 'transient' : 'invalid';
}

/** A rule that the bridge does not keep. */
export class Unmet extends Error {}

/** @throws Unmet */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Unmet(otherwise);
}
