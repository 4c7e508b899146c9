import { beforeEach, describe, expect, test } from 'vitest';
import {
  type ActorWrite,
  type Address,
  addressText,
  type CommitBatch,
  ConflictError,
  FencedError,
  ReceiptGoneError,
  StoreUnavailableError,
  shardOf,
} from '../../runtime/actor/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect } from '../postgres/connection.ts';
import { fencesOf, LOCKS } from '../postgres/locks.ts';
import type { ReceiptConsumer, RecordWriter, RowLoader } from '../postgres/records.ts';
import { createActorStore } from './actor-store.ts';
import { createEpochStore } from './placement.ts';

const database = useDatabase();

const ALICE: Address = { kind: 'person', key: 'a/lice' };
const BOB: Address = { kind: 'person', key: 'bob' };

const EMPTY: CommitBatch = {
  epochs: [],
  claims: [],
  drawnBefore: new Map(),
  decidedWith: null,
  writes: [],
  consumed: [],
  sends: [],
  records: [],
  replies: [],
  isLarge: false,
};

function batch(parts: Partial<CommitBatch>): CommitBatch {
  return { ...EMPTY, ...parts };
}

function write(address: Address, expectedVersion: number, state: unknown, wakeAt: number | null = null) {
  const written: ActorWrite = {
    address,
    shard: shardOf(address),
    expectedVersion,
    schema: 3,
    wakeAt,
    states: () => ({ from: expectedVersion === 0 ? undefined : null, to: null }),
    persist: () => state,
  };
  return written;
}

const note = (text: string) => ({ type: 'note', text });

/** Writes notes, one row each, with the number of the commit. */
const notes: RecordWriter = {
  types: ['note'],
  async write(tx, effects, numbers) {
    for (const effect of effects as readonly { type: 'note'; text: string }[]) {
      await tx`insert into jottings (text, number) values (${effect.text}, ${numbers.get(BOB.key) ?? null})`;
    }
  },
};

const letters: RowLoader = {
  kind: 'person',
  load: async (_, keys) => new Map(keys.map((key) => [key, [...key]])),
};

const snapshots: ReceiptConsumer = {
  kind: 'snapshot',
  async consume(tx, receipts) {
    const [row] = await tx<{ noted: number }[]>`select count(*) as noted from jottings`;
    await tx`insert into jottings (text) values (${`used ${receipts.length} after ${row?.noted}`})`;
  },
};

function store(sql = database.sql()) {
  return createActorStore({
    sql,
    clock: systemClock,
    writers: [notes],
    rowLoaders: [letters],
    consumers: [snapshots],
  });
}

const commit = (parts: Partial<CommitBatch>, bind: (numbers: readonly number[]) => void = () => undefined) =>
  store().commit(batch(parts), bind);

async function noted(): Promise<unknown[]> {
  const rows = await database.sql()<{ text: string }[]>`select text from jottings order by id`;
  return rows.map(({ text }) => text);
}

beforeEach(async () => {
  const sql = database.sql();
  await sql`create table if not exists jottings (id bigint generated always as identity, text text unique, number bigint)`;
  await empty(sql, 'jottings', 'actors', 'inbox', 'dead_letters');
  await sql`update shards set epoch = 0`;
  await sql`update counters set value = 0`;
});

describe('load', () => {
  test('gives back what was committed, with the rows the actor owns', async () => {
    await commit({
      writes: [write(ALICE, 0, { mood: 'good', n: 1.5, text: 'a\u0000b' }, 70), write(BOB, 0, {})],
    });
    const loaded = await store().load([ALICE, BOB, { kind: 'person', key: 'nobody' }]);
    expect([...loaded.keys()].sort()).toEqual([addressText(ALICE), addressText(BOB)]);
    expect(loaded.get(addressText(ALICE))).toEqual({
      version: 1,
      schema: 3,
      persisted: { mood: 'good', n: 1.5, text: 'a\ufffdb' },
      wakeAt: 70,
      rows: ['a', '/', 'l', 'i', 'c', 'e'],
    });
  });

  test('of a kind that owns no rows gives undefined', async () => {
    const thing = { kind: 'thing', key: '1' };
    await commit({ writes: [write(thing, 0, 1)] });
    expect((await store().load([thing])).get('thing/1')?.rows).toBeUndefined();
  });
});

describe('commit', () => {
  test('raises the version with every write', async () => {
    await commit({ writes: [write(ALICE, 0, 'first')] });
    await commit({ writes: [write(ALICE, 1, 'second', 5)] });
    expect((await store().load([ALICE])).get(addressText(ALICE))).toMatchObject({
      version: 2,
      persisted: 'second',
      wakeAt: 5,
    });
  });

  test.each([
    ['a first write of an actor that exists', 0],
    ['a write over a newer version', 1],
    ['a write of an actor that is gone', 7],
  ])('%s is a conflict and changes nothing', async (_, expectedVersion) => {
    if (expectedVersion !== 7) {
      await commit({ writes: [write(ALICE, 0, 'first')] });
      await commit({ writes: [write(ALICE, 1, 'second')] });
    }
    const parts = {
      writes: [write(BOB, 0, 'new'), write(ALICE, expectedVersion, 'wrong')],
      records: [note('one'), note('two')],
      sends: [{ to: BOB, shard: 1, from: null, message: { type: 'hello' } }],
    };
    await expect(commit(parts)).rejects.toThrow(ConflictError);
    expect(await noted()).toEqual([]);
    expect((await store().load([BOB])).size).toBe(0);
    expect(await store().inbox([1], [], 10, [])).toEqual([]);
  });

  test.each([
    ['42501', 'no rights'],
    ['42P01', 'a table that is missing'],
    ['25006', 'a server that only reads'],
    ['53100', 'a full disk'],
    ['55000', 'a server in another state'],
  ])('%s, %s, says nothing about the batch: it is offered again', async (state) => {
    await expect(committed(state)).rejects.toThrow(StoreUnavailableError);
  });

  test('a row without a partition says nothing about the batch', async () => {
    await database.sql()`create table parted (at bigint) partition by range (at)`;
    const parted: RecordWriter = {
      types: ['parted'],
      write: async (tx) => void (await tx`insert into parted (at) values (1)`),
    };
    await expect(commitOf(parted)).rejects.toThrow(StoreUnavailableError);
    await database.sql()`drop table parted`;
  });

  test.each([
    ['22003', 'a number that no column holds'],
    ['22P05', 'a character that no text holds'],
    ['23514', 'a value that a named rule refuses'],
    ['54000', 'a row too long for its index'],
  ])('%s, %s, is refused for what is written', async (state) => {
    const refused = committed(state);
    await expect(refused).rejects.toThrow('as told');
    await expect(refused).rejects.not.toThrow(StoreUnavailableError);
  });

  function commitOf(writer: RecordWriter): Promise<void> {
    const [type] = writer.types as readonly [string];
    const made = createActorStore({
      ...{ sql: database.sql(), clock: systemClock, rowLoaders: [], consumers: [] },
      writers: [writer],
    });
    return made.commit(batch({ records: [{ type }] }), () => undefined);
  }

  /** A commit in which the server answers with this SQLSTATE. */
  function committed(state: string): Promise<void> {
    return commitOf({
      types: ['failing'],
      write: async (tx) =>
        void (await tx.unsafe(
          `do $$ begin raise exception 'as told' using errcode = '${state}', constraint = 'a_rule'; end $$`,
        )),
    });
  }

  test('a uniqueness rule that refuses a record is a conflict', async () => {
    await expect(
      commit({
        records: [note('same'), note('same')],
      }),
    ).rejects.toThrow(ConflictError);
    expect(await noted()).toEqual([]);
  });

  test('a record that nobody stores is a defect', async () => {
    await expect(commit({ records: [{ type: 'unheard' }] })).rejects.toThrow('Nobody stores unheard.');
  });

  test('numbers are bound before anything is written, follow each other, and come back from a failed commit', async () => {
    const seen: (readonly number[])[] = [];
    let bound: readonly number[] = [];
    const remember = (numbers: readonly number[]) => {
      seen.push(numbers);
      bound = numbers;
    };
    const numbered = { ...write(ALICE, 0, null), persist: () => ({ number: bound[0] }) };
    await commit({ claims: [ALICE, BOB], writes: [numbered], records: [note('x')] }, remember);
    await expect(commit({ claims: [ALICE], writes: [write(ALICE, 9, 0)] }, remember)).rejects.toThrow(
      ConflictError,
    );
    await commit({ claims: [ALICE] }, remember);
    await commit({}, remember);
    expect(seen).toEqual([[1, 2], [3], [3], []]);
    expect((await store().load([ALICE])).get(addressText(ALICE))?.persisted).toEqual({ number: 1 });
    const [stored] = await database.sql()`select number from jottings`;
    expect(stored?.number).toBe(2);
  });

  test('a process that is too slow for the server gets longer each time it tries', async () => {
    const slow = batch({ claims: [ALICE], writes: [write(ALICE, 0, {})] });
    const stall = () => {
      const end = performance.now() + 2_000;
      while (performance.now() < end);
    };
    const { commit: offer, load } = store();
    await expect(offer(slow, stall)).rejects.toThrow(StoreUnavailableError);
    expect((await load([ALICE])).size).toBe(0);
    await offer(slow, stall);
    expect((await load([ALICE])).size).toBe(1);
  });

  test('a statement that takes seconds counts as unavailable, so that what it holds is let go', async () => {
    await commit({ writes: [write(ALICE, 0, {})] });
    await database.sql().begin(async (tx) => {
      await tx`select from actors where key = ${ALICE.key} for update`;
      await expect(commit({ writes: [write(ALICE, 1, {})] })).rejects.toThrow(StoreUnavailableError);
    });
  });

  test('a record gets a number that the commit before drew', async () => {
    await commit({ drawnBefore: new Map([[BOB.key, 7]]), records: [note('later')] });
    const [stored] = await database.sql()`select number from jottings`;
    expect(stored?.number).toBe(7);
  });

  test('records are written before receipts are used up', async () => {
    await commit({
      records: [note('one'), note('two')],
      consumed: [{ kind: 'snapshot', seq: 1, receivedAt: 0 }],
    });
    expect(await noted()).toEqual(['one', 'two', 'used 1 after 2']);
  });

  test('a message that was set aside is kept with its error', async () => {
    const dead = {
      type: 'dead_letter.recorded',
      at: 5,
      to: BOB,
      from: ALICE,
      message: { type: 'x' },
      error: 'a\0"\\',
    };
    await commit({ records: [dead] });
    const rows =
      await database.sql()`select at, receiver_kind, receiver_key, sender, message, error from dead_letters`;
    expect([...rows]).toEqual([
      {
        at: 5,
        receiver_kind: 'person',
        receiver_key: 'bob',
        sender: 'person/a/lice',
        message: { type: 'x' },
        error: 'a\ufffd"\\',
      },
    ]);
  });
});

describe('inbox', () => {
  const hello = (text: string, shard = 4) => ({
    to: BOB,
    shard,
    from: ALICE,
    message: { type: 'hello', text },
  });

  test('gives the messages of the asked shards in the order they were sent', async () => {
    await commit({ sends: [hello('1'), hello('2', 5), hello('3')] });
    await commit({ sends: [{ ...hello('4'), from: null }] });
    const all = await store().inbox([4, 9], [], 10, []);
    expect(all.map(({ message, from, to }) => [message, from, to])).toEqual([
      [{ type: 'hello', text: '1' }, ALICE, BOB],
      [{ type: 'hello', text: '3' }, ALICE, BOB],
      [{ type: 'hello', text: '4' }, null, BOB],
    ]);
    expect(await store().inbox([4], [all[0]?.seq ?? 0], 1, [])).toEqual([all[1]]);
  });

  test('passes over the messages of some senders, never those that no actor sent', async () => {
    await commit({ sends: [hello('1'), { ...hello('2'), from: BOB }, { ...hello('3'), from: null }] });
    const passing = await store().inbox([4], [], 10, [addressText(ALICE)]);
    expect(passing.map(({ message }) => message)).toEqual([
      { type: 'hello', text: '2' },
      { type: 'hello', text: '3' },
    ]);
  });

  test('a message is used up once; the second time names it', async () => {
    await commit({ sends: [hello('1'), hello('2')] });
    const [first, second] = await store().inbox([4], [], 10, []);
    await commit({ consumed: [{ kind: 'inbox', seq: first?.seq ?? 0 }] });
    const again = [first, second].map((row) => ({ kind: 'inbox' as const, seq: row?.seq ?? 0 }));
    const refusal = await commit({ consumed: again, writes: [write(BOB, 0, 1)] }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(ReceiptGoneError);
    expect((refusal as ReceiptGoneError).receipts).toEqual([again[0]]);
    expect(await store().inbox([4], [], 10, [])).toEqual([second]);
  });
});

describe('wake-ups', () => {
  test('due ones come earliest first, of the asked shards only', async () => {
    const late = write(ALICE, 0, 1, 200);
    const early = write(BOB, 0, 1, 100);
    await commit({ writes: [late, early, write({ kind: 'person', key: 'never' }, 0, 1, null)] });
    const shards = [late.shard, early.shard];
    expect(await store().due(shards, 150, 10)).toEqual([{ address: BOB, wakeAt: 100 }]);
    expect((await store().due(shards, 200, 10)).map(({ wakeAt }) => wakeAt)).toEqual([100, 200]);
    expect(await store().due(shards, 200, 1)).toHaveLength(1);
    expect(await store().due([late.shard], 300, 10)).toEqual([{ address: ALICE, wakeAt: 200 }]);
    expect(await store().nextWake(shards)).toBe(100);
    expect(await store().nextWake([])).toBeNull();
  });
});

describe('fencing', () => {
  test('an epoch that is no longer the newest stores nothing and names the shard', async () => {
    const [raised] = await createEpochStore(database.sql(), systemClock).raise([7], 'a/1');
    expect(raised).toEqual({ shard: 7, epoch: 1 });
    const parts = {
      writes: [write(BOB, 0, 1)],
      epochs: [
        { shard: 6, epoch: 0 },
        { shard: 7, epoch: 0 },
      ],
    };
    const refusal = await commit(parts).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(FencedError);
    expect((refusal as FencedError).shards).toEqual([7]);
    expect((await store().load([BOB])).size).toBe(0);
    await commit({
      ...parts,
      epochs: [
        { shard: 6, epoch: 0 },
        { shard: 7, epoch: 1 },
      ],
    });
  });

  test('who has lost a shard is told so, whatever else of its commit the new owner has made impossible', async () => {
    const [raised] = await createEpochStore(database.sql(), systemClock).raise([7], 'a/1');
    await commit({ writes: [write(BOB, 0, 1)], epochs: [raised!] });
    const stale = [{ shard: 7, epoch: raised!.epoch - 1 }];
    const outdated = [
      { writes: [write(BOB, 0, 2)] },
      { writes: [write(BOB, 5, 2)] },
      { consumed: [{ kind: 'inbox', seq: 12_345 }] },
    ] as const;
    for (let round = 0; round < 20; round++) {
      for (const parts of outdated) {
        await expect(commit({ ...parts, epochs: stale })).rejects.toThrow(FencedError);
      }
    }
  });

  test('raising an epoch waits for a commit that saw the old one', async () => {
    const order: string[] = [];
    const held = gate();
    const inside = gate();
    const slow: RecordWriter = {
      types: ['slow'],
      async write(tx) {
        await tx`select 1`;
        inside.open();
        await held.passed;
      },
    };
    const sql = database.sql();
    const slowStore = createActorStore({
      sql,
      clock: systemClock,
      writers: [slow],
      rowLoaders: [],
      consumers: [],
    });
    const commits = slowStore
      .commit(batch({ epochs: [{ shard: 7, epoch: 0 }], records: [{ type: 'slow' }] }), () => undefined)
      .then(() => order.push('committed'));
    await inside.passed;
    const raised = createEpochStore(sql, systemClock)
      .raise([7], 'a/1')
      .then(() => order.push('raised'));
    await waitingForLock();
    expect(order).toEqual([]);
    held.open();
    await Promise.all([commits, raised]);
    // Two connections: which of the two answers is read first says nothing of the server's order.
    expect(order.toSorted()).toEqual(['committed', 'raised']);
  });

  test('raising an epoch ends a commit that stopped within a statement, which no timeout of the server does', async () => {
    const sql = database.sql();
    const inside = gate();
    const stopped = sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock_shared(${LOCKS.fence}, ${fencesOf([7])[0]!})`;
      inside.open();
      await tx`select pg_sleep(30)`;
    });
    const ended = expect(stopped).rejects.toThrow();
    await inside.passed;
    const from = performance.now();
    const [raised] = await createEpochStore(sql, systemClock).raise([7], 'a/1');
    expect(raised).toEqual({ shard: 7, epoch: 1 });
    expect(performance.now() - from).toBeLessThan(3_000);
    await ended;
  });

  test('whatever the timing, no commit under an old epoch lands after the epoch was raised', async () => {
    const sql = database.sql();
    const epochs = createEpochStore(sql, systemClock);
    const raisedAt = { epoch: 0 };
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 12 === 0) {
          const [raised] = await epochs.raise([3], 'a/1');
          raisedAt.epoch = Math.max(raisedAt.epoch, raised?.epoch ?? 0);
          return 'raised';
        }
        const believed = raisedAt.epoch;
        const address = { kind: 'person', key: `p${index}` };
        return store()
          .commit(
            batch({ epochs: [{ shard: 3, epoch: believed }], writes: [write(address, 0, 1)] }),
            () => undefined,
          )
          .then(
            () => 'committed',
            (error: unknown) => (error instanceof FencedError ? 'fenced' : error),
          );
      }),
    );
    expect(
      outcomes.filter((outcome) => !['raised', 'committed', 'fenced'].includes(String(outcome))),
    ).toEqual([]);
    const [row] = await sql<{ stored: number }[]>`select count(*) as stored from actors`;
    expect(row?.stored).toBe(outcomes.filter((outcome) => outcome === 'committed').length);
  });

  function gate(): { readonly passed: Promise<void>; open(): void } {
    let open: (() => void) | null = null;
    const passed = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { passed, open: () => open?.() };
  }

  async function waitingForLock(): Promise<void> {
    for (;;) {
      const rows =
        await database.sql()`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      if (rows.length > 0) return;
    }
  }
});

describe('without the database', () => {
  test('every method says that it cannot be reached', async () => {
    const nowhere = connect(
      { ...database.settings(), host: '/nowhere' },
      { max: 1, applicationName: 'test' },
    );
    const gone = store(nowhere);
    await expect(gone.load([ALICE])).rejects.toThrow(StoreUnavailableError);
    await expect(gone.commit(EMPTY, () => undefined)).rejects.toThrow(StoreUnavailableError);
    await expect(gone.inbox([1], [], 1, [])).rejects.toThrow(StoreUnavailableError);
    await nowhere.end();
  });

  test('a commit whose connection is cut says so, stores nothing, and the next one works', async () => {
    const cut: RecordWriter = {
      types: ['cut'],
      async write(tx) {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        await database.sql()`select pg_terminate_backend(${row?.pid ?? 0})`;
        await tx`select 1`;
      },
    };
    const commits = connect(database.settings(), { max: 1, applicationName: 'test-commits' });
    const cutting = createActorStore({
      sql: database.sql(),
      commits,
      clock: systemClock,
      writers: [cut],
      rowLoaders: [],
      consumers: [],
    });
    const parts = { writes: [write(BOB, 0, 1)] };
    await expect(
      cutting.commit(batch({ ...parts, records: [{ type: 'cut' }] }), () => undefined),
    ).rejects.toThrow(StoreUnavailableError);
    expect((await cutting.load([BOB])).size).toBe(0);
    await cutting.commit(batch(parts), () => undefined);
    expect((await cutting.load([BOB])).size).toBe(1);
    await commits.end();
  });
});

/** `prepare: false` stands for a session behind a transaction pooler, which takes no settings of ours. */
test.each([true, false])(
  'what the database has as defaults changes neither fencing nor durability (prepare %s)',
  async (prepare) => {
    const { database: name } = database.settings();
    await database
      .sql()
      .unsafe(`alter database ${name} set default_transaction_isolation = 'repeatable read'`);
    await database.sql().unsafe(`alter database ${name} set synchronous_commit = off`);
    const seen: unknown[] = [];
    const looking: RecordWriter = {
      types: ['look'],
      async write(tx) {
        const [row] = await tx`
          select current_setting('transaction_isolation') as isolation, current_setting('synchronous_commit') as sync`;
        seen.push({ ...row });
      },
    };
    const commits = connect(database.settings(), { max: 1, applicationName: 'test-defaults', prepare });
    const looker = createActorStore({
      sql: database.sql(),
      commits,
      clock: systemClock,
      writers: [looking],
      rowLoaders: [],
      consumers: [],
    });
    await looker.commit(batch({ records: [{ type: 'look' }] }), () => undefined);
    expect(seen).toEqual([{ isolation: 'read committed', sync: 'on' }]);
    if (prepare) {
      const [session] = await commits`
        select current_setting('transaction_isolation') as isolation, current_setting('synchronous_commit') as sync`;
      expect({ ...session }).toEqual({ isolation: 'read committed', sync: 'on' });
    }
    await commits.end();
    await database.sql().unsafe(`alter database ${name} reset all`);
  },
);

test('two parts that claim one record type are refused when the store is made', () => {
  const sql = database.sql();
  const deps = { sql, clock: systemClock, rowLoaders: [], consumers: [] };
  expect(() => createActorStore({ ...deps, writers: [notes, { ...notes }] })).toThrow('claim note');
});
