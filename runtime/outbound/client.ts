/**
 * The one outbound HTTP client (outbound-http §1): HTTP/1.1, no redirects, no cookies, no proxy variables, no decoding
 * of answers, every address judged by the policy. It reports what happened; what that means is the caller's mapping.
 */
import type { Dispatcher } from 'undici';
import { type Clock, type Micros, SECOND } from '../clock.ts';
import {
  type AddressPolicy,
  createAddressPolicy,
  type OutboundPolicy,
  type Refusal,
} from './address-policy.ts';
import { type ConnectDependencies, isAbsoluteForm } from './connect.ts';
import { exchangeFailure, type FailureCode, OutboundFailure, OutboundRefused } from './failure.ts';
import { type Resolve, systemResolve } from './judge-target.ts';
import { type ProxyRoute, proxyAuthorization, proxyFingerprint } from './proxy.ts';
import { proxyRefusedLogin } from './proxy-tunnel.ts';
import { createSocketPool, type Lease, type SocketPool } from './socket-pool.ts';
import { createTrust } from './trust.ts';

export type RequestClass = 'delivery' | 'interactive' | 'background' | 'heartbeat';

export interface OutboundRequest {
  /** Whose connections are used: `<kind>/<id>`. Pools are never shared between owners or classes. */
  readonly owner: string;
  readonly class: RequestClass;
  /** The owner's proxy; without one the request goes straight to its target. */
  readonly proxy?: ProxyRoute | null;
  /** Changes with the owner's secrets: connections made with others are not used. */
  readonly credentials?: string;
  readonly method: string;
  /** Absolute http or https URL without user information. */
  readonly url: URL;
  /** As they go on the wire, in order. */
  readonly headers: HeaderList;
  readonly body: Buffer | null;
  /** For the whole exchange, µs. */
  readonly timeout: Micros;
  /** Bytes of the answer that are read. */
  readonly answerLimit: number;
  /** Asked when the connection stands, right before the first byte is sent; false fails the request as `withheld`. */
  readonly mayBegin?: () => boolean;
  /** Ends the request as `cancelled`. */
  readonly signal?: AbortSignal;
  /** Told how it went, right before the result is given. */
  readonly observe?: (trace: OutboundTrace) => void;
}

/** What an observer learns of a request beside its result. */
export interface OutboundTrace {
  readonly via: 'direct' | 'proxy';
  /** Connecting included, µs. */
  readonly began: Micros;
  readonly ended: Micros;
  /** Only the proxy could resolve the target: its address was not seen. */
  readonly isUnverified: boolean;
  /** In the order in which they came; null without an answer. */
  readonly answerHeaders: HeaderList | null;
}

export type OutboundResult = OutboundAnswer | OutboundNoAnswer | OutboundBlocked;

export interface OutboundAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Lower-case names; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** More than `answerLimit` bytes came; the rest was not read. */
  readonly tooLarge: boolean;
}

export interface OutboundNoAnswer {
  readonly kind: 'failed';
  readonly code: FailureCode;
  /** For people; holds no part of the URL but the host. */
  readonly error: string;
}

export interface OutboundBlocked {
  readonly kind: 'blocked';
  readonly refusal: Refusal;
}

export interface OutboundClient {
  request(request: OutboundRequest): Promise<OutboundResult>;
  /** Puts a policy in force: idle sockets close, requests in flight finish. */
  setPolicy(policy: OutboundPolicy): void;
  /** Closes the idle sockets of an owner that was saved or deleted. */
  release(owner: string): void;
  /** Ends everything in flight as `cancelled` and takes no more requests. */
  close(): void;
}

export interface OutboundDependencies {
  readonly clock: Clock;
  readonly policy: OutboundPolicy;
  readonly resolve?: Resolve;
  /** PEM roots trusted besides Node's and the system's. */
  readonly extraRoots?: readonly string[];
}

/** Methods that may be repeated when a kept-alive socket turns out to be dead. */
const REPEATABLE = new Set(['GET', 'PUT', 'DELETE']);

export function createOutboundClient(dependencies: OutboundDependencies): OutboundClient {
  const { clock } = dependencies;
  const pools = new Map<string, { readonly route: string; readonly pool: SocketPool }>();
  const inFlight = new Set<AbortController>();
  let policy: AddressPolicy = createAddressPolicy(dependencies.policy);
  let closed = false;

  const connecting: ConnectDependencies = {
    clock,
    resolve: dependencies.resolve ?? systemResolve,
    policy: () => policy,
    tls: createTrust(dependencies.extraRoots),
  };

  const poolOf = ({
    owner,
    class: kind,
    url,
    proxy = null,
    credentials = '',
  }: OutboundRequest): SocketPool => {
    const key = `${owner} ${kind} ${url.origin}`;
    const route = `${proxyFingerprint(proxy)} ${credentials}`;
    const present = pools.get(key);
    if (present?.route === route) return present.pool;
    present?.pool.retire();
    const pool = createSocketPool(url, proxy, connecting);
    pools.set(key, { route, pool });
    return pool;
  };

  const retire = (prefix: string): void => {
    for (const [key, { pool }] of pools) {
      if (!key.startsWith(prefix)) continue;
      pool.retire();
      pools.delete(key);
    }
  };

  const attempt = async (
    request: OutboundRequest,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<OutboundAnswer> => {
    const pool = poolOf(request);
    const lease = pool.take();
    try {
      return await exchange(pool, lease, request, progress, signal);
    } catch (error) {
      if (!isStale(error, lease, progress, request) || signal.aborted) throw error;
      return exchange(pool, pool.fresh(), request, progress, signal);
    }
  };

  const perform = async (request: OutboundRequest, progress: Progress): Promise<OutboundResult> => {
    const controller = new AbortController();
    const cancel = (): void =>
      controller.abort(new OutboundFailure('cancelled', 'the request was called off'));
    const timer = clock.after(request.timeout, () =>
      controller.abort(new OutboundFailure('timeout', `no answer within ${request.timeout / SECOND} s`)),
    );
    inFlight.add(controller);
    request.signal?.addEventListener('abort', cancel);
    if (request.signal?.aborted) cancel();
    try {
      return await attempt(request, progress, controller.signal);
    } catch (error) {
      if (error instanceof OutboundRefused) return { kind: 'blocked', refusal: error.refusal };
      const failure = exchangeFailure(controller.signal.aborted ? controller.signal.reason : error);
      return { kind: 'failed', code: failure.failure, error: failure.message };
    } finally {
      timer.cancel();
      inFlight.delete(controller);
      request.signal?.removeEventListener('abort', cancel);
    }
  };

  return {
    async request(request) {
      if (closed) return { kind: 'failed', code: 'cancelled', error: 'the service is stopping' };
      const began = clock.now();
      const progress: Progress = { answerHeaders: null, isUnverified: false };
      const result = await perform(request, progress);
      const via = request.proxy ? 'proxy' : 'direct';
      request.observe?.({ via, began, ended: clock.now(), ...progress });
      return result;
    },
    setPolicy(saved) {
      policy = createAddressPolicy(saved);
      retire('');
    },
    release(owner) {
      retire(`${owner} `);
    },
    close() {
      closed = true;
      for (const controller of inFlight) {
        controller.abort(new OutboundFailure('cancelled', 'the service is stopping'));
      }
      retire('');
    },
  };
}

/** Whether a kept-alive socket had died before it was used again: nothing was answered on it. */
function isStale(error: unknown, lease: Lease, progress: Progress, request: OutboundRequest): boolean {
  if (!lease.reused || progress.answerHeaders !== null || !REPEATABLE.has(request.method)) return false;
  return !(error instanceof OutboundRefused) && exchangeFailure(error).failure === 'connection_lost';
}

/** One request on one connection: what goes on the wire, and what of the answer is read (outbound-http §1.3). */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** How far an exchange came. */
interface Progress {
  /** Headers of the answer as they came; null before. */
  answerHeaders: HeaderList | null;
  isUnverified: boolean;
}

/**
 * Makes the request. The lease goes back when the answer was read to its end.
 * @throws {OutboundFailure} proxy_auth_failed when the proxy answers itself that it takes no such login
 */
async function exchange(
  pool: SocketPool,
  lease: Lease,
  request: OutboundRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  let whole = false;
  const { url, proxy = null } = request;
  const direct = proxy === null || !isAbsoluteForm(url, proxy);
  const options: Dispatcher.DispatchOptions = {
    method: request.method as Dispatcher.HttpMethod,
    path: direct ? url.pathname + url.search : url.origin + url.pathname + url.search,
    headers: [...request.headers, ...(direct ? [] : proxyHeaders(proxy))].flat(),
    body: request.body,
  };
  try {
    const answer = await answerTo(options, lease.client, request, progress, signal);
    whole = !answer.tooLarge;
    if (!direct && answer.status === 407) throw proxyRefusedLogin();
    return answer;
  } finally {
    progress.isUnverified = lease.isUnverified();
    pool.give(lease, !whole);
  }
}

function proxyHeaders(proxy: ProxyRoute): HeaderList {
  const authorization = proxyAuthorization(proxy);
  return authorization === null ? [] : [['Proxy-Authorization', authorization]];
}

/** Asks the caller once more right before the first byte, and collects the answer. */
function answerTo(
  options: Dispatcher.DispatchOptions,
  client: Dispatcher,
  { mayBegin, answerLimit }: OutboundRequest,
  progress: Progress,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let headers: Readonly<Record<string, string>> = {};
    const chunks: Buffer[] = [];
    let size = 0;
    const answered = () => {
      const body = Buffer.concat(chunks).subarray(0, answerLimit);
      resolve({ kind: 'answer', status, headers, body, tooLarge: size > answerLimit });
    };
    client.dispatch(options, {
      onRequestStart(controller) {
        const abort = () => controller.abort(signal.reason);
        signal.addEventListener('abort', abort);
        if (signal.aborted) abort();
        else if (mayBegin?.() === false)
          controller.abort(new OutboundFailure('withheld', 'not begun: the caller did not want it any more'));
      },
      onResponseStart(controller, code, received) {
        progress.answerHeaders = pairs(controller.rawHeaders ?? []);
        status = code;
        headers = flatten(received);
      },
      onResponseData(controller, chunk) {
        chunks.push(chunk);
        size += chunk.length;
        if (size <= answerLimit) return;
        answered();
        controller.abort(new OutboundFailure('cancelled', 'the rest of the answer is not read'));
      },
      onResponseEnd: answered,
      onResponseError: (_, error) => reject(error),
    });
  });
}

/** Names and values come one after the other. */
function pairs(raw: readonly (Buffer | string)[] | NodeJS.Dict<string | string[]>): HeaderList {
  if (!Array.isArray(raw)) return [];
  const texts = raw.map((part: Buffer | string) => part.toString('latin1'));
  return Array.from({ length: texts.length / 2 }, (_, index) => [
    texts[2 * index] ?? '',
    texts[2 * index + 1] ?? '',
  ]);
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
