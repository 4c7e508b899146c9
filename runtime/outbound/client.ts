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
import { type ConnectDependencies, createTrust, type Resolve, systemResolve } from './connect.ts';
import { exchangeFailure, type FailureCode, OutboundFailure, OutboundRefused } from './failure.ts';
import { createSocketPool, type Lease, type SocketPool } from './socket-pool.ts';

export type RequestClass = 'delivery' | 'interactive' | 'background' | 'heartbeat';

export interface OutboundRequest {
  /** Whose connections are used: `<kind>/<id>`. Pools are never shared between owners or classes. */
  readonly owner: string;
  readonly class: RequestClass;
  readonly method: string;
  /** Absolute http or https URL without user information. */
  readonly url: URL;
  /** As they go on the wire, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
  /** For the whole exchange, µs. */
  readonly timeout: Micros;
  /** Bytes of the answer that are read. */
  readonly answerLimit: number;
  /** Asked when the connection stands, right before the first byte is sent; false fails the request as `withheld`. */
  readonly mayBegin?: () => boolean;
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
  const pools = new Map<string, SocketPool>();
  const inFlight = new Set<AbortController>();
  let policy: AddressPolicy = createAddressPolicy(dependencies.policy);
  let closed = false;

  const connecting: ConnectDependencies = {
    clock,
    resolve: dependencies.resolve ?? systemResolve,
    policy: () => policy,
    tls: createTrust(dependencies.extraRoots),
  };

  const poolOf = (request: OutboundRequest): SocketPool => {
    const key = `${request.owner} ${request.class} ${request.url.origin}`;
    const pool = pools.get(key) ?? createSocketPool(request.url, connecting);
    pools.set(key, pool);
    return pool;
  };

  const retire = (prefix: string): void => {
    for (const [key, pool] of pools) {
      if (!key.startsWith(prefix)) continue;
      pool.retire();
      pools.delete(key);
    }
  };

  const attempt = async (request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> => {
    const pool = poolOf(request);
    const lease = pool.take();
    try {
      return await exchange(pool, lease, request, signal);
    } catch (error) {
      if (!isStale(error, lease, request) || signal.aborted) throw error;
      return exchange(pool, pool.fresh(), request, signal);
    }
  };

  return {
    async request(request) {
      if (closed) return { kind: 'failed', code: 'cancelled', error: 'the service is stopping' };
      const controller = new AbortController();
      const timer = clock.after(request.timeout, () =>
        controller.abort(new OutboundFailure('timeout', `no answer within ${request.timeout / SECOND} s`)),
      );
      inFlight.add(controller);
      try {
        return await attempt(request, controller.signal);
      } catch (error) {
        if (error instanceof OutboundRefused) return { kind: 'blocked', refusal: error.refusal };
        const failure = exchangeFailure(controller.signal.aborted ? controller.signal.reason : error);
        return { kind: 'failed', code: failure.failure, error: failure.message };
      } finally {
        timer.cancel();
        inFlight.delete(controller);
      }
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

/** One request on one connection. The lease goes back when the answer was read to its end. */
async function exchange(
  pool: SocketPool,
  lease: Lease,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  let whole = false;
  try {
    const { mayBegin } = request;
    const client = mayBegin ? lease.client.compose(unlessWithheld(mayBegin)) : lease.client;
    const answer = await client.request({
      method: request.method as Dispatcher.HttpMethod,
      path: request.url.pathname + request.url.search,
      headers: request.headers.flat(),
      body: request.body,
      signal,
    });
    const { body, tooLarge } = await readUpTo(answer.body, request.answerLimit);
    whole = !tooLarge;
    return { kind: 'answer', status: answer.statusCode, headers: flatten(answer.headers), body, tooLarge };
  } finally {
    pool.give(lease, !whole);
  }
}

function unlessWithheld(mayBegin: () => boolean): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        if (mayBegin()) handler.onRequestStart?.(controller, context);
        else
          controller.abort(new OutboundFailure('withheld', 'not begun: the caller did not want it any more'));
      },
      onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
      onResponseStart: (...args) => handler.onResponseStart?.(...args),
      onResponseData: (...args) => handler.onResponseData?.(...args),
      onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
      onResponseError: (...args) => handler.onResponseError?.(...args),
    });
}

function isStale(error: unknown, lease: Lease, request: OutboundRequest): boolean {
  if (!lease.reused || !REPEATABLE.has(request.method)) return false;
  return !(error instanceof OutboundRefused) && exchangeFailure(error).failure === 'connection_lost';
}

async function readUpTo(
  stream: AsyncIterable<Buffer>,
  limit: number,
): Promise<{ body: Buffer; tooLarge: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit) return { body: Buffer.concat(chunks).subarray(0, limit), tooLarge: true };
  }
  return { body: Buffer.concat(chunks), tooLarge: false };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
