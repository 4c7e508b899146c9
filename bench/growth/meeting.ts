/** What one beat costs a real Redis and the replica that reads the answer, by the number of members. */
import { Registry } from 'prom-client';
import { systemClock } from '../../runtime/clock.ts';
import { targetsOf } from '../../runtime/placement/assigner.ts';
import { LEASE_TTL } from '../../runtime/placement/lease-times.ts';
import { openRedis } from '../../runtime/redis/index.ts';
import { type RedisServer, startRedis } from '../../test/redis.ts';
import { replicaIds } from './spread.ts';

const PREFIX = 'growth:';
const VERSION = '1.0.0';
/** Leases that are written by hand must not lapse meanwhile. */
const LASTS_MS = (2 * LEASE_TTL) / 1000 - 500;
const MEASURED_MS = 2_000;

export interface BeatCost {
  readonly replicas: number;
  /** CPU of Redis, µs. */
  readonly redisMicros: number;
  /** CPU of the replica for asking and reading the answer, µs. What it makes of it is not in it. */
  readonly replicaMicros: number;
  readonly answerBytes: number;
}

/** @throws {Error} `redis-server` is not installed */
export async function measureBeats(counts: readonly number[]): Promise<BeatCost[]> {
  const server = await startRedis();
  try {
    const redis = await openRedis({
      ...{ url: server.url, prefix: PREFIX, clock: systemClock, registry: new Registry() },
      log: () => undefined,
      trust: () => {
        throw new Error('This connection has no TLS.');
      },
    });
    try {
      const costs: BeatCost[] = [];
      for (const count of counts) {
        await server.flush();
        const ids = replicaIds(count);
        const me = { id: ids[0]!, boot: bootOf(0) };
        const beat = () => redis.coordination.beat({ ...me, version: VERSION, isDraining: false, holds: [] });
        await beat();
        await redis.coordination.assign(me, 0, targetsOf(ids));
        await writeLeases(server, ids);
        for (let n = 0; n < 10; n++) await beat();
        const before = await read(server);
        const cpu = process.cpuUsage();
        const end = performance.now() + MEASURED_MS;
        let beats = 0;
        for (; performance.now() < end; beats++) await beat();
        const used = process.cpuUsage(cpu);
        const after = await read(server);
        costs.push({
          replicas: count,
          redisMicros: (after.cpuMicros - before.cpuMicros) / beats,
          replicaMicros: (used.user + used.system) / beats,
          answerBytes: (after.sentBytes - before.sentBytes) / beats,
        });
      }
      return costs;
    } finally {
      await redis.close();
    }
  } finally {
    await server.stop();
  }
}

async function writeLeases(server: RedisServer, ids: readonly string[]): Promise<void> {
  const expiry = Date.now() + LASTS_MS;
  const fields = ids.flatMap((id, n) =>
    n === 0 ? [] : [id, JSON.stringify({ boot: bootOf(n), version: VERSION, draining: false, expiry })],
  );
  if (fields.length > 0) await server.command('hset', `${PREFIX}v1.replicas`, ...fields);
}

function bootOf(n: number): string {
  return n.toString(16).padStart(16, '0');
}

async function read(server: RedisServer): Promise<{ cpuMicros: number; sentBytes: number }> {
  const text = `${await server.command('info', 'cpu')}\n${await server.command('info', 'stats')}`;
  const value = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)?.[1]);
  return {
    cpuMicros: (value('used_cpu_user') + value('used_cpu_sys')) * 1e6,
    sentBytes: value('total_net_output_bytes'),
  };
}
