/**
 * Redis: where replicas meet and how they call each other (operations §5.2, §5.5). It is a shortcut; emptied or gone, it
 * takes nothing with it that is not in the database.
 */
import type { SecureContext } from 'node:tls';
import type { Registry } from 'prom-client';
import type { Signals } from '../broadcast.ts';
import { type Clock, type Micros, SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Coordination, CoordinationUnavailableError } from '../placement/coordination.ts';
import { describeAddress, parseRedisUrl } from './address.ts';
import { Connection } from './connection.ts';
import { createCoordination } from './coordination.ts';
import { type Client, createRedisMetrics, failureOf } from './link.ts';

/** How long a start waits for Redis (operations §1.3). */
const PATIENCE: Micros = 30 * SECOND;

export interface RedisOptions {
  /** As SVC_REDIS_URL has it. */
  readonly url: string;
  /** Begins every key and channel. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  /** Trusted roots of TLS connections. */
  readonly trust: () => SecureContext;
  /** Spreads the tries of many replicas to connect again; from 0 to 1. */
  readonly random?: () => number;
  /** How long to wait for the first answer, µs. */
  readonly patience?: Micros;
}

export interface Redis {
  readonly coordination: Coordination;
  readonly signals: Signals;
  /** Version of the server, as in `7.0.15`. */
  readonly version: string;
  /** Ends after what is under way. Calls fail from then on. */
  close(): Promise<void>;
}

/**
 * Connects to Redis, waiting for it if need be, and stays connected until closed.
 * @throws {Error} for people: the address without the password, and why it cannot be used: no answer in time, a refused
 *   login, a version before 6.2
 */
export async function openRedis(options: RedisOptions): Promise<Redis> {
  const { url, prefix, clock, log, registry, trust, random = Math.random, patience = PATIENCE } = options;
  const address = parseRedisUrl(url);
  if (address === null) throw new Error('The settings let a Redis URL pass that names no server.');
  const metrics = createRedisMetrics(registry);
  const connection = new Connection({ address, prefix, trust, clock, log, metrics, random });
  try {
    const version = await connection.start(patience);
    return {
      coordination: createCoordination(connection, prefix),
      signals: createSignals(connection, prefix),
      version,
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw new Error(`Redis at ${describeAddress(address)} cannot be used: ${failureOf(error).message}`);
  }
}

/** Signals through Redis pub/sub. What is published in one turn of the event loop goes out in one write. */
function createSignals(connection: Connection, prefix: string): Signals {
  const nameOf = (channel: string) => `${prefix}signal.${channel}`;
  let waiting: (readonly [channel: string, message: string])[] = [];

  const send = (): void => {
    const batch = waiting;
    waiting = [];
    connection
      .call((client) => publishAll(client, batch))
      .catch((error: unknown) => {
        // They are lost, as signals may be; the connection tells of the outage.
        if (!(error instanceof CoordinationUnavailableError)) throw error;
      });
  };

  return {
    get isUp() {
      return connection.isUp;
    },
    onState: (listener) => connection.onState(listener),
    publish(channel, message) {
      if (waiting.push([nameOf(channel), message]) === 1) setImmediate(send);
    },
    subscribe: (channel, ...listeners) => connection.subscribe(nameOf(channel), ...listeners),
  };
}

async function publishAll(client: Client, batch: readonly (readonly [string, string])[]): Promise<void> {
  const pipeline = client.pipeline();
  for (const [channel, message] of batch) pipeline.publish(channel, message);
  for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
}
