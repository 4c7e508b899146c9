/** A real server for the tests of a file, adapters on it that end with each test, and members that meet there. */
import type { SecureContext } from 'node:tls';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { type RedisServer, type RedisServerOptions, startRedis } from '../../test/redis.ts';
import { SHARDS } from '../actor/index.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Beat, Member, Targets } from '../placement/coordination.ts';
import { LEASE_TTL } from '../placement/lease-times.ts';
import { openRedis, type Redis, type RedisOptions } from './index.ts';

export const PREFIX = 'tocsin:';

export interface OpenedRedis extends Redis {
  readonly registry: Registry;
  /** Events and what they carry, oldest first. */
  readonly logged: readonly (readonly [event: string, fields: unknown])[];
}

export interface TestRedis {
  readonly server: RedisServer;
  /** An adapter as a replica has it, closed after the test. */
  open(options?: Partial<RedisOptions>): Promise<OpenedRedis>;
}

/** Gives the calling file a server, running and empty before each of its tests. */
export function useRedis(options: RedisServerOptions = {}): TestRedis {
  let server: RedisServer | null = null;
  const required = () => {
    if (server === null) throw new Error('The server exists inside tests and hooks only.');
    return server;
  };
  beforeAll(async () => {
    server = await startRedis(options);
  });
  afterEach(() => required().flush());
  afterAll(() => server?.stop());
  const open = useAdapters();
  return {
    get server() {
      return required();
    },
    open: (overrides = {}) => open({ url: required().url, ...overrides }),
  };
}

/** Opens adapters and closes them after each test. */
export function useAdapters(): (
  options: Partial<RedisOptions> & Pick<RedisOptions, 'url'>,
) => Promise<OpenedRedis> {
  const opened: Redis[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((redis) => redis.close()));
  });
  return async (options) => {
    const logged: [string, unknown][] = [];
    const log: Log = (event, fields) => void logged.push([event, fields]);
    const registry = new Registry();
    const redis = await openRedis({
      prefix: PREFIX,
      clock: systemClock,
      log,
      registry,
      trust: noTrust,
      ...options,
    });
    opened.push(redis);
    return { ...redis, registry, logged };
  };
}

export const ann: Member = { id: 'ann', boot: 'a1' };
export const bob: Member = { id: 'bob', boot: 'b1' };

export function beatOf(member: Member, rest: Partial<Beat> = {}): Beat {
  return { ...member, version: '0.1.0', isDraining: false, holds: [], ...rest };
}

/** All shards to the same replica, but for those named otherwise. */
export function targets(id: string | null, others: Readonly<Record<number, string | null>> = {}): Targets {
  return Array.from({ length: SHARDS }, (_, shard) => (shard in others ? (others[shard] ?? null) : id));
}

/** Lets the lease of a replica lapse, and its lead, as three silent seconds do. */
export async function lapse(server: RedisServer, { id, boot }: Member): Promise<void> {
  const said = JSON.parse(String(await server.command('hget', `${PREFIX}v1.replicas`, id)));
  const late = { ...said, expiry: said.expiry - LEASE_TTL / 1000 };
  await server.command('hset', `${PREFIX}v1.replicas`, id, JSON.stringify(late));
  if ((await server.command('get', `${PREFIX}v1.leader`)) === `${id}/${boot}`)
    await server.command('del', `${PREFIX}v1.leader`);
}

/** Waits until an adapter can be used, or cannot. */
export async function untilUp({ signals }: Redis, isUp = true, seconds = 10): Promise<void> {
  await until(isUp ? 'Redis to be up' : 'Redis to be down', async () => signals.isUp === isUp, seconds);
}

/** The value of a metric without labels. */
export async function metric({ registry }: OpenedRedis, name: string): Promise<number | undefined> {
  const found = await registry.getSingleMetric(name)?.get();
  return found?.values[0]?.value;
}

function noTrust(): SecureContext {
  throw new Error('This connection has no TLS.');
}
