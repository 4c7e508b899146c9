import { beforeEach, expect, test } from 'vitest';
import {
  type ActorWrite,
  type CommitBatch,
  FencedError,
  machineValue,
  StoreUnavailableError,
  shardOf,
} from '../../runtime/actor/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { insertGroup } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { until } from '../../test/harness/until.ts';
import { useDatabase } from '../../test/postgres.ts';
import type { RecordWriter } from '../postgres/records.ts';
import { removeGroups } from '../postgres/retention.ts';
import { createActorStateReader, foldStateChanges, LOOKED_AT, recountStates } from './actor-states.ts';
import { createActorStore } from './actor-store.ts';

const database = useDatabase();
const MANY = 100_000;
const GATE = 4_711;

/** Holds its commit back for as long as somebody else has the lock. */
const gate: RecordWriter = {
  types: ['gate'],
  async write(tx) {
    await tx`select pg_advisory_xact_lock(${GATE})`;
  },
};

const store = () =>
  createActorStore({
    sql: database.sql(),
    clock: systemClock,
    writers: [gate],
    rowLoaders: [],
    consumers: [],
  });

const reader = () => createActorStateReader(database.sql());

const EMPTY: CommitBatch = {
  ...{ epochs: [], claims: [], drawnBefore: new Map(), decidedWith: null, writes: [], consumed: [] },
  ...{ sends: [], records: [], replies: [], isLarge: false },
};

const commit = (writes: readonly ActorWrite[], rest: Partial<CommitBatch> = {}) =>
  store().commit({ ...EMPTY, ...rest, writes }, () => undefined);

/** @param from undefined for an actor that is new */
function write(key: string, version: number, from: unknown, to: unknown): ActorWrite {
  const address = { kind: 'thing', key };
  const persisted = { status: 'active', value: to };
  return {
    ...{ address, shard: shardOf(address), expectedVersion: version, schema: 1, wakeAt: null },
    states: () => ({ from, to: machineValue(persisted) }),
    persist: () => persisted,
  };
}

/** What a scan of all actors gives; readings never do one. */
const scanned = () => database.sql()`
  select kind, snapshot -> 'value' as state, count(*)::int as count from actors group by 1, 2 order by 1, 2`;

async function expectExact(): Promise<void> {
  expect([...(await reader().counts())]).toEqual([...(await scanned())]);
}

async function seed(count: number): Promise<void> {
  await database.sql()`
    insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
    select 'thing', lpad(n::text, 6, '0'), n % 256, 1, 1,
      jsonb_build_object('value', case when n % 1000 = 0 then '{"open": "rare"}' else '"idle"' end::jsonb), null, 0
    from generate_series(1, ${count}::int) n`;
}

beforeEach(async () => {
  await empty(database.sql(), 'actors', 'actor_states', 'alert_groups', 'inbox');
  await database.sql()`update shards set epoch = 0`;
});

test('a commit counts what it changed, and a refused one nothing', async () => {
  await commit([
    write('a', 0, undefined, 'idle'),
    write('b', 0, undefined, null),
    write('c', 0, undefined, 'idle'),
  ]);
  await commit([
    write('a', 1, 'idle', { open: 'rare' }),
    write('b', 1, null, 'idle'),
    write('c', 1, 'idle', 'idle'),
  ]);
  await expect(commit([write('c', 7, 'idle', 'gone')])).rejects.toThrow();
  expect([...(await reader().counts())]).toEqual([
    { kind: 'thing', state: 'idle', count: 2 },
    { kind: 'thing', state: { open: 'rare' }, count: 1 },
  ]);
});

test('what changes no state appends nothing', async () => {
  await commit([write('a', 0, undefined, 'idle'), write('b', 0, undefined, 'busy')]);
  await empty(database.sql(), 'actor_states');
  await commit([write('a', 1, 'idle', 'idle')]);
  await commit([write('a', 2, 'idle', 'busy'), write('b', 1, 'busy', 'idle')]);
  expect(await database.sql()`select * from actor_states`).toHaveLength(0);
});

test('an Alert Group that is not kept any longer is counted no more', async () => {
  const sql = database.sql();
  const [past, kept] = [
    await insertGroup(sql, { routeId: 'RT', status: 'resolved' }),
    await insertGroup(sql, { routeId: 'RT', status: 'resolved' }),
  ];
  await sql`
    update alert_groups set details_removed = true, resolved_at = case id when ${past} then 1 else 3 end`;
  await sql`
    insert into actors (kind, key, shard, version, schema, snapshot, updated_at)
    select 'alert_group', id, 0, 1, 1, '{"value": "resolved"}', 1 from alert_groups`;
  await recountStates(sql);
  expect(await removeGroups(sql, 2, 10)).toBe(1);
  expect([...(await reader().counts())]).toEqual([{ kind: 'alert_group', state: 'resolved', count: 1 }]);
  const list = await reader().list({ kind: 'alert_group', state: 'resolved', after: '', limit: 5 });
  expect(list.items.map(({ key }) => key)).toEqual([kept]);
});

test('open Alert Groups of a state are listed', async () => {
  const sql = database.sql();
  const [waiting, counting] = [
    await insertGroup(sql, { routeId: 'RT', status: 'firing' }),
    await insertGroup(sql, { routeId: 'RT', status: 'firing' }),
  ];
  await sql`
    insert into actors (kind, key, shard, version, schema, snapshot, updated_at)
    select 'alert_group', id, 0, 1, 1, jsonb_build_object('stage', 'started', 'snapshot', jsonb_build_object(
      'value', jsonb_build_object('firing', case id when ${waiting} then 'waiting' else 'counting' end))), 1
    from alert_groups`;
  const keysIn = async (state: string) => {
    const { items } = await reader().list({ kind: 'alert_group', state, after: '', limit: 5 });
    return items.map(({ key }) => key);
  };
  expect(await keysIn('firing')).toEqual([waiting, counting].sort());
  expect(await keysIn('firing.waiting')).toEqual([waiting]);
  expect(await keysIn('acknowledged')).toEqual([]);
});

test('sums replace what was appended while commits go on', async () => {
  let folding = true;
  const folds = (async () => {
    while (folding) await foldStateChanges(database.sql());
  })();
  await Promise.all(
    ['a', 'b', 'c'].map(async (key) => {
      await commit([write(key, 0, undefined, 'idle')]);
      for (let version = 1; version < 40; version++) {
        const [from, to] = version % 2 === 1 ? ['idle', 'busy'] : ['busy', 'idle'];
        await commit([write(key, version, from, to)]);
      }
    }),
  );
  folding = false;
  await folds;
  await expectExact();
  await foldStateChanges(database.sql());
  await expectExact();
  expect(await database.sql()`select * from actor_states`).toHaveLength(1);
});

test('counting anew makes up for what an earlier release did not count, while commits go on', async () => {
  await seed(3_000);
  let counting = true;
  const counts = (async () => {
    while (counting) await Promise.all([recountStates(database.sql()), foldStateChanges(database.sql())]);
  })();
  await commit([write('new', 0, undefined, 'idle')]);
  for (let version = 1; version < 40; version++) {
    await commit([
      write('new', version, version % 2 === 1 ? 'idle' : 'busy', version % 2 === 1 ? 'busy' : 'idle'),
    ]);
  }
  counting = false;
  await counts;
  await expectExact();
});

test('counts of 100,000 actors are exact, also after a kill and a handover, and no reading scans them', async () => {
  const sql = database.sql();
  await seed(MANY);
  await recountStates(sql);
  await expectExact();
  const { shard } = write('001000', 1, null, null);

  // The process dies within a commit: the server rolls back what it had sent.
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(${GATE})`;
  const moves = Array.from({ length: 500 }, (_, index) =>
    write(String(index + 1).padStart(6, '0'), 1, 'idle', 'busy'),
  );
  const killed = commit(moves, { records: [{ type: 'gate' }] }).catch((error: unknown) => error);
  const waits = () => sql<{ pid: number }[]>`
    select pid from pg_locks where locktype = 'advisory' and not granted and objid = ${GATE}`;
  await until('the commit waits', async () => (await waits()).length === 1);
  for (const { pid } of await waits()) await sql`select pg_terminate_backend(${pid})`;
  expect(await killed).toBeInstanceOf(StoreUnavailableError);
  await holder`select pg_advisory_unlock(${GATE})`;
  holder.release();
  await expectExact();

  // Another replica takes over; what the first one still offers counts nothing.
  await sql`update shards set epoch = 1`;
  await expect(commit(moves, { epochs: [{ shard, epoch: 0 }] })).rejects.toThrow(FencedError);
  await expectExact();
  await commit(moves, { epochs: [{ shard, epoch: 1 }] });
  const began = performance.now();
  const counts = await reader().counts();
  expect(performance.now() - began).toBeLessThan(2_000);
  expect([...counts]).toEqual([...(await scanned())]);
  expect(counts.find(({ state }) => state === 'busy')?.count).toBe(500);

  const scans = await sql.begin(async (tx) => {
    const scansOf = () => tx<{ relname: string; scans: number }[]>`
      select relname, seq_scan::int + coalesce(idx_scan, 0)::int as scans from pg_stat_xact_user_tables
      where relname in ('actors', 'actor_states') order by 1`;
    const before = await scansOf();
    await createActorStateReader(tx as unknown as typeof sql).counts();
    const after = await scansOf();
    return after.map(({ relname, scans }, index) => [relname, scans - (before[index]?.scans ?? 0)]);
  });
  expect(scans).toEqual([
    ['actor_states', 1],
    ['actors', 0],
  ]);
});

test('actors of a state are listed by key, a page at a time, with what is nested in it', async () => {
  await seed(LOOKED_AT + 2_000);
  const list = (state: string, after = '', limit = 15) =>
    reader().list({ kind: 'thing', state, after, limit });
  const first = await list('open');
  expect(first.items.map(({ key }) => key)).toEqual(
    Array.from({ length: 15 }, (_, index) => `${String(index + 1).padStart(3, '0')}000`),
  );
  expect(first.items[0]).toMatchObject({ state: { open: 'rare' }, version: 1, wakeAt: null, changedAt: 0 });
  expect(first.next).toBe('015000');

  // The page ends where it has looked at enough of them.
  const second = await list('open.rare', '000000', 50);
  expect(second.items).toHaveLength(LOOKED_AT / 1_000);
  expect(second.next).toBe(String(LOOKED_AT).padStart(6, '0'));
  const third = await list('open.rare', second.next ?? '', 50);
  expect([third.items.map(({ key }) => key), third.next]).toEqual([['021000', '022000'], null]);
  expect(await list('elsewhere', '021000')).toEqual({ items: [], next: null });
  expect((await list('idle', '021990')).items).toHaveLength(9);
});
