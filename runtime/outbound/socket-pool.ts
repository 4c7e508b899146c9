/**
 * Kept-alive connections of one owner to one origin: one HTTP client a socket, so that a policy change can close the
 * idle ones and let the busy ones finish (outbound-http §1.3, §2.4).
 */
import { Client } from 'undici';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import { type ConnectDependencies, openSocket } from './connect.ts';

/** Idle sockets kept per origin; surplus ones are closed after a second, so that bursts do not reconnect each time. */
const IDLE_KEPT = 4;
const SURPLUS_LINGER = SECOND;
const IDLE_MILLISECONDS = 30_000;

export interface Lease {
  readonly client: Client;
  /** The client served a request before; its socket may have gone stale. */
  readonly reused: boolean;
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

export function createSocketPool(origin: URL, dependencies: ConnectDependencies): SocketPool {
  const { clock } = dependencies;
  const idle: Client[] = [];
  let generation = new WeakSet<Client>();
  let trimming: Timer | null = null;

  const fresh = (): Lease => {
    const client = openClient(origin, dependencies);
    generation.add(client);
    return { client, reused: false };
  };

  return {
    fresh,
    take() {
      const client = idle.pop();
      return client ? { client, reused: true } : fresh();
    },
    give({ client }, broken) {
      if (broken || !generation.has(client)) return discard(client);
      idle.push(client);
      if (idle.length > IDLE_KEPT) trimming ??= trimLater(clock, idle, () => (trimming = null));
    },
    retire() {
      generation = new WeakSet();
      for (const client of idle.splice(0)) discard(client);
    },
  };
}

function trimLater(clock: Clock, idle: Client[], done: () => void): Timer {
  return clock.after(SURPLUS_LINGER, () => {
    done();
    for (const client of idle.splice(0, Math.max(0, idle.length - IDLE_KEPT))) discard(client);
  });
}

function openClient(origin: URL, dependencies: ConnectDependencies): Client {
  return new Client(origin.origin, {
    pipelining: 1,
    keepAliveTimeout: IDLE_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_MILLISECONDS,
    // The client above has its own deadline for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connect: (_options, callback) => {
      openSocket(origin, dependencies).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}

/** Nothing waits on a discarded connection, so how its end goes concerns nobody. */
function discard(client: Client): void {
  client.destroy().catch(() => undefined);
}
