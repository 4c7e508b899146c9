/** What the doctor makes of what it sees. */
import { describe, expect, test } from 'vitest';
import type { RecordView, ReplicaView, ShardView } from '../../../storage/engine/replica-records.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { SHARDS } from '../../actor/index.ts';
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../clock.ts';
import type { PublicId } from '../../public-id.ts';
import { readCheckedConfig } from '../settings.ts';
import { counted, duration, some } from './check.ts';
import { judgeLatency, judgeTls, judgeVersion } from './database-checks.ts';
import { judgeKeys, judgeSettings, secretsOf } from './keys-checks.ts';
import { judgeSingle, type Meeting, meetingFaults } from './redis-check.ts';
import { judgeReplicas } from './replicas-check.ts';
import { clockSkew, judgeBacklog, judgeIntegrations, judgePartitions, judgeSkew } from './upkeep-checks.ts';

const NOW: Micros = 1_790_000_000_000_000;

test('durations, lists and counts read well', () => {
  expect([0, SECOND, 90 * SECOND, 2 * HOUR + MINUTE, 3 * DAY].map(duration)).toEqual([
    '0 s',
    '1 s',
    '1 min',
    '2 h',
    '3 d',
  ]);
  expect(some(['a', 'b'])).toBe('a, b');
  expect(some([1, 2, 3, 4, 5, 6, 7])).toBe('1, 2, 3, 4, 5 and 2 more');
  expect([counted(1, 'shard'), counted(2, 'shard')]).toEqual(['1 shard', '2 shards']);
});

test('Integrations that need a look are named by what is the matter, with what to do', () => {
  const issue = (name: string, issue: 'heartbeat_lost' | 'snapshot_failed') => ({
    integration: { id: 'NT0000000000A1' as PublicId, name },
    issue,
    since: NOW,
  });
  expect(judgeIntegrations([])).toEqual({ verdict: 'OK', detail: 'none needs a look' });
  expect(
    judgeIntegrations([
      issue('eu', 'snapshot_failed'),
      issue('eu', 'heartbeat_lost'),
      issue('us', 'snapshot_failed'),
    ]),
  ).toEqual({
    verdict: 'WARN',
    detail:
      'The Heartbeat is lost of eu. Look at the runbook of SvcHeartbeatLost. Nobody is notified of bodies that are no Snapshots, from eu, us. `tocsin ingest failed` says why.',
  });
});

describe('settings', () => {
  const KEY = 'bm90IGEga2V5IGJ1dCAzMiBieXRlcyBsb25nIHRleHQ=';
  const FINE = {
    SVC_DATABASE_URL: 'postgres://ann:data-base-pw@db.example/oncall',
    SVC_SECRET_KEYS: KEY,
    SVC_PUBLIC_URL: 'https://oncall.example.org',
  };
  const read = (env: Readonly<Record<string, string>>) =>
    readCheckedConfig(env, {
      acceptPrintedKeys: false,
      machine: { cpus: 2, hostName: 'node', random: 'k3x9' },
    });

  test('that are right are OK', () => {
    expect(judgeSettings(read(FINE))).toEqual({
      verdict: 'OK',
      detail: 'database oncall on db.example:5432, address for people https://oncall.example.org',
    });
  });

  test('that are wrong are all named, without their values', () => {
    const { verdict, detail } = judgeSettings(
      read({ ...FINE, SVC_DATABASE_POOL_MAX: '1', SVC_SECRET_KEYS: 'c2hvcnQ=', SVC_LOG_LEVEL: 'debug' }),
    );
    expect(verdict).toBe('FAIL');
    for (const name of ['SVC_DATABASE_POOL_MAX', 'SVC_SECRET_KEYS', 'SVC_LOG_LEVEL'])
      expect(detail).toContain(name);
    expect(detail).not.toContain('c2hvcnQ=');
  });

  test.each([
    [{ SVC_TYPO: '1' }, 'SVC_TYPO is no setting'],
    [{ SVC_DATABASE_HOST: 'other' }, 'SVC_DATABASE_URL counts, SVC_DATABASE_HOST is ignored'],
    [{ SVC_PUBLIC_URL: 'http://oncall.example.org' }, 'not https'],
    [{ SVC_LISTEN_INTERNAL: ':8080' }, 'as open as :8080'],
  ])('that a start would log about are WARN: %j', (env, said) => {
    const { verdict, detail } = judgeSettings(read({ ...FINE, ...env }));
    expect(verdict).toBe('WARN');
    expect(detail).toContain(said);
  });

  const TOKEN = `svc_int_${'a'.repeat(43)}`;

  test('secret ones are known to the mask, as they are written and as they are sent', () => {
    const checked = read({
      ...FINE,
      SVC_REDIS_URL: 'redis://:re%2Fdis-pw@r.example',
      SVC_BOOTSTRAP_ADMIN_EMAIL: 'a@b.example',
      SVC_BOOTSTRAP_ADMIN_PASSWORD: 'boot-strap-pw',
      SVC_BOOTSTRAP_INTEGRATION_TOKEN: TOKEN,
    });
    if ('errors' in checked) throw new Error(checked.errors.join());
    expect(secretsOf(checked.config)).toEqual(
      expect.arrayContaining(['data-base-pw', 're/dis-pw', 'boot-strap-pw', TOKEN, KEY]),
    );
  });
});

describe('the database', () => {
  test.each([
    [SECOND / 1000, 'OK', '1.0 ms'],
    [SECOND / 10, 'WARN', '100.0 ms'],
  ])('with a round trip of %d µs', (roundTrip, verdict, said) => {
    const found = judgeLatency('x on db:5432', roundTrip);
    expect(found.verdict).toBe(verdict);
    expect(found.detail).toContain(said);
  });

  test.each([
    [14, '14.9', 'FAIL'],
    [15, '15.1', 'OK'],
    [18, '18.4', 'OK'],
  ])('of version %d', (major, version, verdict) => {
    expect(judgeVersion({ major, version })).toMatchObject({ verdict });
  });

  test.each([
    ['TLSv1.3', 'db.example', 'verify-full', 'OK', 'TLSv1.3, certificate verified'],
    ['TLSv1.3', 'db.example', 'require', 'OK', 'certificate not verified'],
    [null, 'db.example', 'prefer', 'WARN', 'clear text'],
    [null, '10.0.0.7', 'disable', 'WARN', 'clear text'],
    [null, '/run/postgresql', 'disable', 'OK', 'does not leave this machine'],
    [null, '::1', 'prefer', 'OK', 'does not leave this machine'],
    [null, '127.0.0.9', 'prefer', 'OK', 'does not leave this machine'],
    [null, 'localhost', 'prefer', 'OK', 'does not leave this machine'],
  ] as const)('with %s to %s and sslmode %s', (tlsVersion, host, sslmode, verdict, said) => {
    const found = judgeTls({ encrypted: tlsVersion !== null, tlsVersion }, { host, sslmode });
    expect(found.verdict).toBe(verdict);
    expect(found.detail).toContain(said);
  });
});

function record(id: string, more: Partial<RecordView> = {}): RecordView {
  return {
    id,
    boot: `${id}1`,
    version: '0.3.1',
    keyIds: ['k-1'],
    isLeader: id === 'a',
    hasRedis: true,
    startedAt: NOW - HOUR,
    refreshedAt: NOW - 10 * SECOND,
    ...more,
  };
}

function shards(owner: string | null, takenAt = NOW - HOUR): ShardView[] {
  return Array.from({ length: SHARDS }, (_, shard) => ({ shard, owner, takenAt }));
}

function view(records: readonly RecordView[], more: Partial<ReplicaView> = {}): ReplicaView {
  return { records, shards: shards('a/a1'), aliveMarkedAt: NOW - 20 * SECOND, ...more };
}

describe('replicas', () => {
  test('that live, one of them leading, are OK', () => {
    expect(judgeReplicas(view([record('a'), record('b', { version: '0.4.0' })]), NOW)).toEqual({
      verdict: 'OK',
      detail: '2 replicas (a, b), version 0.3.1, 0.4.0, Leader a, sign of life 20 s ago',
    });
  });

  test('need not run', () => {
    const stopped = view([], { aliveMarkedAt: NOW - 3 * DAY, shards: shards('x/x1') });
    expect(judgeReplicas(stopped, NOW)).toEqual({
      verdict: 'OK',
      detail: 'none runs; the last sign of life was 3 d ago',
    });
    expect(judgeReplicas(view([], { aliveMarkedAt: null }), NOW)).toEqual({
      verdict: 'OK',
      detail: 'none runs',
    });
  });

  test.each<[string, ReplicaView, string]>([
    [
      'of three minor versions',
      view([record('a'), record('b', { version: '0.4.0' }), record('c', { version: '0.5.9' })]),
      '0.3, 0.4, 0.5 run together',
    ],
    [
      'of versions that are not adjacent',
      view([record('a', { version: '0.9.0' }), record('b', { version: '0.11.0' })]),
      '0.9, 0.11 run together',
    ],
    [
      'of two major versions',
      view([record('a', { version: '1.0.0' }), record('b', { version: '2.0.0' })]),
      '1.0, 2.0 run together',
    ],
    [
      'without anybody leading for minutes',
      view([record('b')], { aliveMarkedAt: NOW - 5 * MINUTE, shards: shards('b/b1') }),
      'No replica has led for 5 min',
    ],
    [
      'of which none says that it leads',
      view([record('b')], { shards: shards('b/b1') }),
      'No replica says that it leads',
    ],
    ['of which two lead', view([record('a'), record('b', { isLeader: true })]), 'a, b say that they lead'],
    [
      'one of which is silent',
      view([record('a'), record('b', { refreshedAt: NOW - 10 * MINUTE })]),
      'Silent: b/b1 10 min',
    ],
    [
      'with shards of a dead one',
      view([record('a')], {
        shards: [...shards('a/a1').slice(2), ...shards('gone/g1').slice(0, 2)],
      }),
      'Owned by nobody who lives: 2 shards (owner by record: gone/g1)',
    ],
    [
      'with shards that nobody ever took',
      view([record('a')], { shards: shards(null) }),
      'Owned by nobody who lives: 256 shards (owner by record: nobody)',
    ],
  ])('%s are WARN', (_, seen, said) => {
    const found = judgeReplicas(seen, NOW);
    expect(found.verdict).toBe('WARN');
    expect(found.detail).toContain(said);
  });

  test('the runs before of a replica that came back under its id are over', () => {
    const again = record('a', { boot: 'a2', startedAt: NOW - MINUTE });
    const before = record('a', { refreshedAt: NOW - 5 * MINUTE });
    expect(judgeReplicas(view([again, before], { shards: shards('a/a2') }), NOW).verdict).toBe('OK');
  });

  test('shards that were taken a moment ago may be of a run that has yet to write its record', () => {
    const starting = view([record('a')], { shards: shards('b/b1', NOW - SECOND) });
    expect(judgeReplicas(starting, NOW).verdict).toBe('OK');
  });

  test('one that has just begun need not lead yet', () => {
    const begun = record('b', { startedAt: NOW - SECOND, isLeader: false });
    expect(judgeReplicas(view([begun], { shards: shards('b/b1') }), NOW).verdict).toBe('OK');
  });
});

describe('keys', () => {
  const seen = (listed: string[], used: Record<string, number>, active: string | null = 'k-1') => ({
    listed,
    use: {
      activeKeyId: active,
      sealedWith: new Map(Object.entries(used)),
      signedWith: new Map<string, number>(),
    },
    replicas: [
      { id: 'a', keyIds: ['k-1', 'k-2'] },
      { id: 'b', keyIds: ['k-1'] },
    ],
  });
  const holdOne = { replicas: [{ id: 'a', keyIds: ['k-1'] }] };

  test('one key that everybody holds is OK', () => {
    expect(judgeKeys({ ...seen(['k-1'], { 'k-1': 4 }), ...holdOne })).toEqual({
      verdict: 'OK',
      detail: 'k-1 is active',
    });
  });

  test('a new database uses none', () => {
    expect(judgeKeys({ ...seen(['k-1', 'k-2'], {}, null), replicas: [] })).toEqual({
      verdict: 'OK',
      detail: 'no key is in use yet',
    });
  });

  test.each([
    [
      'a new key that one replica lacks',
      seen(['k-1', 'k-2'], { 'k-1': 4 }),
      'k-2 is not in use and missing on b',
    ],
    [
      'an old key that still opens values',
      seen(['k-1', 'k-2'], { 'k-1': 4, 'k-2': 1 }),
      'k-2 is not active and still opens 1 value: keep it. k-2 is needed and missing on b',
    ],
    [
      'a key that nothing uses',
      { ...seen(['k-1', 'k-2'], { 'k-1': 4 }), replicas: [{ id: 'a', keyIds: ['k-1', 'k-2'] }] },
      'k-2 is removable',
    ],
    [
      'values of a key that is not listed',
      { ...seen(['k-1'], { 'k-1': 4, 'k-0': 2 }), replicas: [] },
      'k-0 is needed and not listed here',
    ],
  ])('%s is WARN', (_, keys, said) => {
    const found = judgeKeys(keys);
    expect(found.verdict).toBe('WARN');
    expect(found.detail).toContain(said);
  });
});

describe('clocks', () => {
  test('are compared by the quickest of some looks, half of its way taken off', async () => {
    const clock = createManualClock(NOW);
    const trips = [400, 20, 4_000].map((ms) => (ms * SECOND) / 1000);
    const databaseNow = async () => {
      const way = (trips.shift() ?? 0) / 2;
      clock.advance(way);
      const theirs = clock.now() - 5 * SECOND;
      clock.advance(way);
      return theirs;
    };
    expect(await clockSkew(databaseNow, clock)).toBe(5 * SECOND);
  });

  test.each([
    [SECOND / 2, 'OK', '0.500 s ahead of'],
    [-SECOND, 'OK', '1.000 s behind'],
    [3 * SECOND, 'WARN', '3.000 s ahead of'],
    [-3 * SECOND, 'WARN', '3.000 s behind'],
  ])('%d µs apart', (skew, verdict, said) => {
    const found = judgeSkew(skew);
    expect(found.verdict).toBe(verdict);
    expect(found.detail).toContain(said);
  });
});

describe('partitions', () => {
  const today = { name: 'audit_log_202609', from: NOW - DAY, until: NOW + DAY };
  const ahead = { name: 'audit_log_202611', from: NOW + DAY, until: NOW + 2 * DAY };

  test.each([
    [[], true, 'OK'],
    [[ahead], true, 'WARN'],
    [[today, ahead], true, 'FAIL'],
    [[today, ahead], false, 'WARN'],
  ] as const)('%j missing while the service runs: %s', (missing, isRunning, verdict) => {
    expect(judgePartitions(missing, isRunning, NOW).verdict).toBe(verdict);
  });
});

describe('what waits', () => {
  const none = { count: 0, since: null };
  const judge = (more: object) =>
    judgeBacklog({ snapshots: none, messages: none, wakeUps: none, ...more }, NOW);

  test('little, and not for long, is OK', () => {
    expect(judge({ snapshots: { count: 12, since: NOW - SECOND } })).toEqual({
      verdict: 'OK',
      detail: 'waiting: 12 Snapshots, 0 messages, 0 due wake-ups',
    });
  });

  test.each([
    [
      { snapshots: { count: 1, since: NOW - 5 * MINUTE } },
      'Waiting to be processed: 1 Snapshot, the oldest for 5 min.',
    ],
    [{ messages: { count: 20_000, since: NOW - SECOND } }, 'Waiting for their actors: 20000 messages'],
    [
      { wakeUps: { count: 1_000_000, since: NOW - HOUR } },
      'Due: 1000000 wake-ups or more, the oldest for 1 h.',
    ],
  ])('%j is WARN', (waiting, said) => {
    const found = judge(waiting);
    expect(found.verdict).toBe('WARN');
    expect(found.detail).toContain(said);
  });
});

describe('Redis', () => {
  const meeting = (more: Partial<Meeting> = {}): Meeting => ({
    members: new Set(['a/a1', 'b/b1']),
    leader: 'a/a1',
    targets: Array.from({ length: SHARDS }, (_, shard) => (shard % 2 ? 'a' : 'b')),
    grants: new Map(Array.from({ length: SHARDS }, (_, shard) => [shard, shard % 2 ? 'a/a1' : 'b/b1'])),
    ...more,
  });
  const both = [record('a'), record('b')];

  test('not set is single-replica mode', () => {
    expect(judgeSingle([record('a', { hasRedis: false })]).verdict).toBe('OK');
    expect(judgeSingle([]).verdict).toBe('OK');
  });

  test('not set beside several replicas, or beside one that uses it, is WARN', () => {
    const apart = [record('a', { hasRedis: false }), record('b', { hasRedis: false })];
    expect(judgeSingle(apart)).toMatchObject({
      verdict: 'WARN',
      detail: expect.stringContaining('2 replicas have a fresh record (a, b)'),
    });
    expect(judgeSingle([record('a')]).detail).toContain('a use Redis');
  });

  test('that fits who lives has no faults, and nor has an empty one of nobody', () => {
    expect(meetingFaults(meeting(), both)).toEqual([]);
    const empty = meeting({ members: new Set(), leader: null, targets: null, grants: new Map() });
    expect(meetingFaults(empty, [])).toEqual([]);
  });

  test.each<[string, Meeting | null, readonly RecordView[], string]>([
    ['other keys under its prefix', null, both, 'give Tocsin a prefix of its own'],
    [
      'a replica without a lease',
      meeting({ members: new Set(['a/a1']) }),
      both,
      'b have a fresh record and no lease here',
    ],
    ['a replica without Redis', meeting(), [record('a', { hasRedis: false })], 'a run without Redis'],
    ['nobody who leads', meeting({ leader: null }), both, 'Nobody leads'],
    ['a Leader without a lease', meeting({ leader: 'c/c1' }), both, 'c/c1 leads and has no lease'],
    ['no assignment', meeting({ targets: null }), both, 'not assigned'],
    [
      'targets that do not live',
      meeting({ targets: Array.from({ length: SHARDS }, (_, shard) => (shard === 7 ? 'c' : 'a')) }),
      both,
      'Assigned to replicas that do not live: 1 shard.',
    ],
    [
      'no grants',
      meeting({ grants: new Map([[0, 'c/c1']]) }),
      both,
      'Granted to nobody who lives: 256 shards.',
    ],
  ])('with %s has a fault', (_, seen, live, said) => {
    expect(meetingFaults(seen, live).join(' ')).toContain(said);
  });
});
