/**
 * Kept-alive connections of one owner to one origin, through one proxy or none: one HTTP client a socket, so that a policy change can close the
 * idle ones and let the busy ones finish (outbound-http §1.3, §2.4).
 */
import { Client } from 'undici';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import { type ConnectDependencies, openSocket } from './connect.ts';
import type { ProxyRoute } from './proxy.ts';

/** Idle sockets kept per origin; surplus ones are closed after a second, so that bursts do not reconnect each time. */
const IDLE_KEPT = 4;
const SURPLUS_LINGER = SECOND;
const IDLE_MILLISECONDS = 30_000;

export interface Lease {
  readonly client: Client;
  /** The client served a request before; its socket may have gone stale. */
  readonly reused: boolean;
  /** The address behind its socket was not seen: only the proxy could resolve the name. */
  isUnverified(): boolean;
}

export interface SocketPool {
  take(): Lease;
  /** A connection that nobody used before. */
  fresh(): Lease;
  /** Gives a lease back. `broken`: its socket must not be used again. */
  give(lease: Lease, broken: boolean): void;
  /** Closes idle connections now and the busy ones as they come back. */
  retire(): void;
}

export function createSocketPool(
  origin: URL,
  proxy: ProxyRoute | null,
  dependencies: ConnectDependencies,
): SocketPool {
  const { clock } = dependencies;
  const idle: Lease[] = [];
  let generation = new WeakSet<Client>();
  let trimming: Timer | null = null;

  const fresh = (): Lease => {
    const lease = openLease(origin, proxy, dependencies);
    generation.add(lease.client);
    return lease;
  };

  return {
    fresh,
    take() {
      const lease = idle.pop();
      return lease ? { ...lease, reused: true } : fresh();
    },
    give(lease, broken) {
      if (broken || !generation.has(lease.client)) return discard(lease);
      idle.push(lease);
      if (idle.length > IDLE_KEPT) trimming ??= trimLater(clock, idle, () => (trimming = null));
    },
    retire() {
      generation = new WeakSet();
      for (const lease of idle.splice(0)) discard(lease);
    },
  };
}

function trimLater(clock: Clock, idle: Lease[], done: () => void): Timer {
  return clock.after(SURPLUS_LINGER, () => {
    done();
    for (const lease of idle.splice(0, Math.max(0, idle.length - IDLE_KEPT))) discard(lease);
  });
}

function openLease(origin: URL, proxy: ProxyRoute | null, dependencies: ConnectDependencies): Lease {
  let isUnverified = false;
  const client = new Client(origin.origin, {
    pipelining: 1,
    keepAliveTimeout: IDLE_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_MILLISECONDS,
    // The client above has its own deadline for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connect: (_options, callback) => {
      openSocket(origin, proxy, dependencies).then(
        (opened) => {
          isUnverified = opened.isUnverified;
          callback(null, opened.socket);
        },
        (error: Error) => callback(error, null),
      );
    },
  });
  return { client, reused: false, isUnverified: () => isUnverified };
}

/** Nothing waits on a discarded connection, so how its end goes concerns nobody. */
function discard({ client }: Lease): void {
  client.destroy().catch(() => undefined);
}
