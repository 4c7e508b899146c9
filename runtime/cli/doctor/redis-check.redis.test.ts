/** The check `redis` against real servers, with replicas that met there. */
import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RecordView, ReplicaView } from '../../../storage/engine/replica-records.ts';
import { type RedisServer, startRedis } from '../../../test/redis.ts';
import { SHARDS } from '../../actor/index.ts';
import { SECOND, systemClock } from '../../clock.ts';
import { silentLog } from '../../log.ts';
import { createTrust } from '../../outbound/trust.ts';
import { openRedis, type Redis } from '../../redis/index.ts';
import { runChecks } from './check.ts';
import type { ReadOnlyDatabase } from './database-checks.ts';
import { redisCheck } from './redis-check.ts';

const PASSWORD = 'canary-redis-password';
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);
const me = { id: 'tocsin-0', boot: 'b00t' };

let server: RedisServer;
let redis: Redis | null;

beforeEach(async () => {
  server = await startRedis({ password: PASSWORD });
  redis = null;
});

afterEach(async () => {
  await redis?.close();
  await server.stop();
});

/** A replica that leads, has every shard, and stays. */
async function meet(prefix = 'tocsin:'): Promise<void> {
  redis = await openRedis({
    url: server.url,
    prefix,
    clock: systemClock,
    log: silentLog,
    registry: new Registry(),
    trust: createTrust(),
  });
  const { coordination } = redis;
  const beat = { ...me, version: '0.1.0', isDraining: false, holds: ALL };
  await coordination.beat(beat);
  await coordination.assign(
    me,
    0,
    ALL.map(() => me.id),
  );
  await coordination.beat(beat);
}

function record(more: Partial<RecordView> = {}): RecordView {
  const now = systemClock.now();
  return {
    ...me,
    version: '0.1.0',
    keyIds: [],
    isLeader: true,
    hasRedis: true,
    startedAt: now,
    refreshedAt: now,
    ...more,
  };
}

/** Holds these records. */
function databaseOf(records: readonly RecordView[]): ReadOnlyDatabase {
  const view: ReplicaView = { records, shards: [], aliveMarkedAt: null };
  // The only read of this check.
  return { read: async <Result>() => view as Result, close: async () => undefined };
}

async function examine(records: readonly RecordView[], url = server.url): Promise<string> {
  const check = redisCheck({ url, prefix: 'tocsin:', database: databaseOf(records), clock: systemClock });
  const lines: string[] = [];
  await runChecks([check], systemClock, ({ verdict, detail }) => lines.push(`${verdict} ${detail}`));
  return lines.join('\n');
}

const keys = async () => (await server.command('keys', '*')) as readonly string[];
const lasting = async () => [
  await server.command('hgetall', 'tocsin:v1.grants'),
  await server.command('get', 'tocsin:v1.assignment'),
];

test('with replicas that met is OK, and is left as it was', async () => {
  await meet();
  const before = { keys: await keys(), lasting: await lasting() };
  expect(await examine([record()])).toMatch(
    /^OK 127\.0\.0\.1:\d+, version [\d.]+, answers in [\d.]+ ms; members, Leader and shards fit$/,
  );
  expect(await lasting()).toEqual(before.lasting);
  // A lease may lapse meanwhile; nothing may come.
  expect(before.keys).toEqual(expect.arrayContaining([...(await keys())]));
});

test('needs no rights beyond those that the documentation gives to replicas', async () => {
  const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  const rights = /^ACL SETUSER tocsin on >password (.+)$/m.exec(page)?.[1]?.split(' ') ?? [];
  await server.command('acl', 'setuser', 'tocsin', 'on', '>pw', ...rights);
  await meet();
  expect(await examine([record()], `redis://tocsin:pw@127.0.0.1:${server.port}`)).toMatch(/^OK /);
});

test('that is empty while nobody runs is OK', async () => {
  expect(await examine([])).toMatch(/^OK /);
  expect(await server.command('dbsize')).toBe(0);
});

test('whose leases lapsed is WARN for whoever has a fresh record', async () => {
  await meet();
  await redis?.coordination.leave(me);
  expect(await examine([record()])).toMatch(/^WARN tocsin-0 have a fresh record and no lease here/);
});

test('a grant that is missing at two looks is WARN', async () => {
  await meet();
  await server.command('hdel', 'tocsin:v1.grants', '3', '4');
  expect(await examine([record()])).toContain('Granted to nobody who lives: 2 shards.');
}, 20_000);

test('that holds other things under its keys is WARN', async () => {
  await server.command('set', 'tocsin:v1.replicas', 'something else');
  expect(await examine([])).toMatch(/^WARN Something else is kept under the keys of SVC_REDIS_PREFIX/);
});

describe('it fails, without the password,', () => {
  test('when nothing listens', async () => {
    await server.kill();
    expect(await examine([])).toMatch(
      /^FAIL 127\.0\.0\.1:\d+: .*ECONNREFUSED.*SVC_REDIS_URL names a running server/,
    );
  });

  test('when the login is refused', async () => {
    const wrong = await examine([], server.url.replace(PASSWORD, 'wrong-canary'));
    expect(wrong).toMatch(/^FAIL .*WRONGPASS/);
    expect(wrong).not.toContain('canary');
  });

  test('when it does not answer', async () => {
    server.freeze();
    const from = performance.now();
    const said = await examine([]);
    expect(performance.now() - from).toBeLessThan((10 * SECOND) / 1000);
    expect(said).toMatch(/^FAIL /);
    expect(said).not.toContain(PASSWORD);
    server.thaw();
  });

  test('when it copies another server', async () => {
    const copy = await startRedis({ password: PASSWORD, replicaOf: server.port });
    expect(await examine([], copy.url)).toMatch(/^FAIL .*copies another server and takes no writes/);
    await copy.stop();
  });
});
