/** `tocsin ingest replay` on real databases. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { SnapshotSettled } from '../../actors/feed/effects.ts';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { createSnapshotQueue, settledSnapshots, snapshotReceipts } from '../../storage/snapshots/queue.ts';
import { newSnapshot } from '../../storage/snapshots/snapshots.fixture.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import { firstStart } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { makeSnapshotPartitions } from '../../test/snapshot-partitions.ts';
import { DAY, HOUR, MINUTE, type Micros, systemClock } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import type { PublicId } from '../public-id.ts';
import { runCommandLine } from './command.ts';
import { ingestFailed } from './ingest-failed.ts';
import { ingestReplay } from './ingest-replay.ts';

const SENDER = 'NT000000000001' as PublicId;
const OTHER = 'NT000000000002' as PublicId;

const database = useDatabase();
let settings: DatabaseSettings;
let sql: Sql;
let now: Micros;

beforeEach(async () => {
  settings = database.settings();
  sql = database.sql();
  now = systemClock.now();
  await firstStart(sql);
  await empty(sql, 'stored_snapshots', 'snapshot_queue', 'snapshot_bodies', 'audit_log');
  await ensurePartitions(sql, now, PARTITIONED_TABLES);
  await makeSnapshotPartitions(sql, now - 20 * DAY, now);
  await insertIntegration(SENDER, 'prod', null);
  await insertIntegration(OTHER, 'test', null);
});

async function insertIntegration(id: string, name: string, deletedAt: Micros | null): Promise<void> {
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at, deleted_at
    ) values (${id}, 1, false, ${name}, '', '{}', 45, false, 300, ${now}, ${deletedAt})`;
}

const environment = () => ({
  SVC_DATABASE_HOST: settings.host,
  SVC_DATABASE_PORT: String(settings.port),
  SVC_DATABASE_NAME: settings.database,
  SVC_DATABASE_USER: settings.user,
  SVC_DATABASE_PASSWORD: settings.password ?? '',
  SVC_SECRET_KEYS: randomBytes(32).toString('base64'),
  SVC_PUBLIC_URL: 'http://127.0.0.1:8080',
});

async function replay(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    env: { ...environment(), ...env },
    out: (line: string) => out.push(line),
    err: (line: string) => err.push(line),
  };
  const code = await runCommandLine(['ingest', 'replay', ...words], [ingestReplay], io);
  return { code, out, err };
}

async function waiting(given: Partial<NewSnapshot> = {}): Promise<{ id: string; seq: number }> {
  const snapshot = newSnapshot({ integrationId: SENDER, receivedAt: now - HOUR, ...given });
  const [seq = 0] = await createSnapshotWriter(sql).write([snapshot]);
  return { id: snapshot.id, seq };
}

async function settle(seq: number): Promise<void> {
  const settled: SnapshotSettled = {
    ...{ type: 'snapshot.settled', seq, processedAt: now, groupKey: 'k', alertCount: 1, truncatedAlerts: 0 },
    error: null,
  };
  await sql.begin(async (tx) => {
    await settledSnapshots.write(tx, [settled], new Map());
    await snapshotReceipts.consume(tx, [{ kind: 'snapshot', seq, receivedAt: 0 }]);
  });
}

const fail = (seq: number) => createSnapshotQueue(sql).fail([{ seq, at: now, error: 'body: not JSON' }]);

async function processed(given: Partial<NewSnapshot> = {}): Promise<string> {
  const { id, seq } = await waiting(given);
  await settle(seq);
  return id;
}

async function failed(given: Partial<NewSnapshot> = {}): Promise<string> {
  const { id, seq } = await waiting(given);
  await fail(seq);
  return id;
}

/** In the order in which they will be processed. */
const queued = () => sql<{ id: string; seq: number; is_replay: boolean; replay_of_processed: boolean }[]>`
  select id, seq, is_replay, replay_of_processed from snapshot_queue order by seq`;

const entries = () => sql`
  select actor_kind, actor_name, transport, action, resource_id, resource_name, details from audit_log
  where action = 'ingest.replayed' order by at`;

async function counted(): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select coalesce(sum(snapshot_count), 0)::int as count from integration_counter_slots`;
  return row?.count ?? 0;
}

describe('ingest failed', () => {
  async function listed(words: readonly string[] = []) {
    const out: string[] = [];
    const code = await runCommandLine(['ingest', 'failed', ...words], [ingestFailed], {
      env: environment(),
      out: (line) => out.push(line),
      err: (line) => out.push(line),
    });
    return { code, out };
  }

  test('says at once how many bodies of each Integration were no Snapshots, and why the last one', async () => {
    await processed();
    expect(await listed()).toEqual({ code: 0, out: ['No accepted body of the last 24h failed.'] });
    await failed({ receivedAt: now - 2 * DAY });
    await failed({ receivedAt: now - HOUR });
    const last = await failed({ receivedAt: now - MINUTE });
    const { code, out } = await listed();
    expect([code, out.length]).toEqual([1, 2]);
    expect(out[0]).toBe(`prod (${SENDER}): 2 of the last 24h failed; nobody was told of their alerts`);
    expect(out[1]).toMatch(new RegExp(`^  last ${last} at .*Z: body: not JSON$`));
    const json = await listed(['--since', '3d', '--json']);
    expect(JSON.parse(json.out.join(''))).toMatchObject({
      items: [
        { integration: { id: SENDER, name: 'prod' }, count: 3, last: { id: last, error: 'body: not JSON' } },
      ],
    });
  });

  test('refuses a period that it does not understand', async () => {
    expect((await listed(['--since', 'yesterday'])).code).toBe(2);
  });
});

describe('what was settled within the period', () => {
  test('waits once more, in the order of receipt, with its receipt and what it was before', async () => {
    const second = await failed({ receivedAt: now - 10 * MINUTE });
    const first = await processed({ receivedAt: now - 20 * MINUTE });
    const past = await processed({ receivedAt: now - 2 * HOUR });
    const { id: already } = await waiting({ receivedAt: now - 30 * MINUTE });
    const { code, out, err } = await replay(['--since', '90m', '--actor', 'Ann']);
    expect([code, out, err]).toEqual([0, ['Set back to pending: 2'], []]);
    expect((await queued()).map(({ seq: _, ...row }) => row)).toEqual([
      { id: already, is_replay: false, replay_of_processed: false },
      { id: first, is_replay: true, replay_of_processed: true },
      { id: second, is_replay: true, replay_of_processed: false },
    ]);
    expect(await sql`select id from stored_snapshots`).toEqual([{ id: past }]);
    const [row] = await sql`select received_at, content_type from snapshot_queue where id = ${first}`;
    expect(row).toEqual({ received_at: now - 20 * MINUTE, content_type: 'application/json' });
  });

  test('is settled again like any other, and not counted again', async () => {
    const id = await failed();
    await replay(['--since', '3d', '--actor', 'Ann']);
    expect(await counted()).toBe(1);
    const [again] = await queued();
    await settle(again?.seq ?? 0);
    expect(await sql`select id, processing_error, processed_at, group_key from stored_snapshots`).toEqual([
      { id, processing_error: null, processed_at: now, group_key: 'k' },
    ]);
    expect(await queued()).toEqual([]);
    expect(await counted()).toBe(1);
  });

  test('stays processed for every later replay, even when a replay of it failed', async () => {
    await processed();
    for (let time = 0; time < 3; time++) {
      await replay(['--since', '3d', '--actor', 'Ann']);
      const [again] = await queued();
      expect(again?.replay_of_processed).toBe(true);
      await fail(again?.seq ?? 0);
    }
  });

  test('of one Integration only, when it is named; a deleted one too', async () => {
    const mine = await processed();
    await processed({ integrationId: OTHER });
    expect((await replay(['--since', '3d', '--actor', 'Ann', '--integration', 'prod'])).out).toEqual([
      'Set back to pending: 1',
    ]);
    expect((await queued()).map(({ id }) => id)).toEqual([mine]);
    await sql`update integrations set deleted_at = ${now} where id = ${OTHER}`;
    const gone = await replay(['--since', '3d', '--actor', 'Ann', '--integration', 'test', '--json']);
    expect(gone.out).toEqual(['{"count":1}']);
  });

  test('but not what retention keeps no more, nor what has lost its body', async () => {
    const kept = await processed({ receivedAt: now - 13 * DAY });
    await processed({ receivedAt: now - 15 * DAY });
    const bodiless = await processed({ receivedAt: now - 12 * DAY });
    await sql`
      delete from snapshot_bodies where hash = (select body_hash from stored_snapshots where id = ${bodiless})`;
    await replay(['--since', '30d', '--actor', 'Ann']);
    expect((await queued()).map(({ id }) => id)).toEqual([kept]);
    const [row] = await sql`select id from stored_snapshots where id = ${bodiless}`;
    expect(row).toEqual({ id: bodiless });
  });
});

test('the Audit log says who, how far back and how many', async () => {
  await processed();
  await replay(['--since', '12h', '--actor', ' Ann at the console ', '--integration', 'prod']);
  await replay(['--since', '3d', '--actor', 'Bob']);
  expect(await entries()).toEqual([
    {
      actor_kind: 'cli',
      actor_name: 'Ann at the console',
      transport: 'cli',
      action: 'ingest.replayed',
      resource_id: SENDER,
      resource_name: 'prod',
      details: { since: '12h', integration: 'prod', count: 1 },
    },
    {
      actor_kind: 'cli',
      actor_name: 'Bob',
      transport: 'cli',
      action: 'ingest.replayed',
      resource_id: null,
      resource_name: null,
      details: { since: '3d', integration: null, count: 0 },
    },
  ]);
});

describe('refusals change nothing', () => {
  test.each([
    ['no actor', ['--since', '3d'], 2],
    ['an empty actor', ['--since', '3d', '--actor', ' '], 2],
    ['a long actor', ['--since', '3d', '--actor', 'x'.repeat(201)], 2],
    ['no period', ['--actor', 'Ann'], 2],
    ['a period without a unit', ['--since', '90', '--actor', 'Ann'], 2],
    ['a period of nothing', ['--since', '0m', '--actor', 'Ann'], 2],
    ['another option', ['--since', '3d', '--actor', 'Ann', '--force'], 2],
    ['an unknown Integration', ['--since', '3d', '--actor', 'Ann', '--integration', 'Prod'], 1],
  ])('%s', async (_, words, expected) => {
    await processed();
    const { code, out, err } = await replay(words);
    expect([code, out]).toEqual([expected, []]);
    expect(err.length).toBeGreaterThan(0);
    expect(await queued()).toEqual([]);
    expect(await entries()).toEqual([]);
  });

  test('without settings, and with a schema that is not this one', async () => {
    expect((await replay(['--since', '3d', '--actor', 'Ann'], { SVC_DATABASE_NAME: '' })).code).toBe(1);
    const [newest] = await sql`
      delete from schema_migrations where version = (select max(version) from schema_migrations) returning *`;
    onTestFinished(async () => void (await sql`insert into schema_migrations ${sql(newest ?? {})}`));
    const { code, err } = await replay(['--since', '3d', '--actor', 'Ann']);
    expect([code, err.join()]).toEqual([1, expect.stringContaining('tocsin migrate')]);
  });
});
