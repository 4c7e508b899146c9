import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import { DAY } from '../../runtime/clock.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { countWaitingSnapshots } from '../engine/backlog.ts';
import { connect } from '../postgres/connection.ts';
import type { Sql } from '../postgres/records.ts';
import { createSnapshotQueue } from './queue.ts';
import { FIRST_DAY, newSnapshot, useSnapshotPartitions } from './snapshots.fixture.ts';
import { createSnapshotWriter } from './writer.ts';

const database = useDatabase();
useSnapshotPartitions(database);

beforeEach(async () => {
  await empty(database.sql(), 'snapshot_queue', 'snapshot_bodies', 'stored_snapshots');
});

async function bodyCount(): Promise<number> {
  const [row] = await database.sql()<{ count: number }[]>`select count(*) as count from snapshot_bodies`;
  return row?.count ?? -1;
}

describe('the snapshot writer', () => {
  it.each([
    ['an empty body', Buffer.alloc(0)],
    ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, value) => value))],
    ['8 kB that do not compress', randomBytes(8_192)],
    ['3 MB', randomBytes(3_000_000)],
  ])('keeps %s exactly', async (_, body) => {
    const writer = createSnapshotWriter(database.sql());
    await writer.write([newSnapshot({ body })]);
    const queue = createSnapshotQueue(database.sql());
    const page = await queue.page(0, 10);
    const bodies = await queue.bodies(page);
    expect(page[0]?.sizeBytes).toBe(body.length);
    expect(bodies.get(page[0]?.bodyHash ?? '')?.equals(body)).toBe(true);
  });

  it('keeps everything else of a Snapshot', async () => {
    const snapshot = newSnapshot({ contentType: 'application/json; q="a\\b"', shard: 255 });
    const [seq] = await createSnapshotWriter(database.sql()).write([snapshot]);
    const [row] = await database.sql()`
      select seq, id, integration_id, received_at, content_type, shard from snapshot_queue`;
    expect(row).toEqual({
      seq,
      id: snapshot.id,
      integration_id: snapshot.integrationId,
      received_at: snapshot.receivedAt,
      content_type: snapshot.contentType,
      shard: 255,
    });
  });

  it('gives each Snapshot of a batch the number it is stored under', async () => {
    const snapshots = Array.from({ length: 1_000 }, () => newSnapshot());
    const seqs = await createSnapshotWriter(database.sql()).write(snapshots);
    const stored = await database.sql()`select id from snapshot_queue order by seq`;
    expect(stored.map(({ id }) => id)).toEqual(snapshots.map(({ id }) => id));
    expect(seqs).toEqual([...seqs].sort((left, right) => left - right));
    const page = await createSnapshotQueue(database.sql()).page(0, 2);
    expect(page.map(({ seq }) => seq)).toEqual(seqs.slice(0, 2));
  });
});

describe.each([
  ['a few bytes, which go in one statement with their Snapshots', ''],
  ['many bytes, which go by COPY', 'x'.repeat(140_000)],
])('bodies of %s', (_, filling) => {
  const bodyOf = (text: string) => Buffer.from(text + filling);

  it('stores a body once a day however often it is sent', async () => {
    const writer = createSnapshotWriter(database.sql());
    const same = () => newSnapshot({ body: bodyOf('same') });
    await writer.write([same(), same()]);
    await writer.write([same(), newSnapshot({ body: bodyOf('other') })]);
    expect(await bodyCount()).toBe(2);
    expect(await countWaitingSnapshots(database.sql())).toBe(4);
  });

  it('stores a body again on the next day', async () => {
    const writer = createSnapshotWriter(database.sql());
    const body = bodyOf('same');
    await writer.write([newSnapshot({ body, receivedAt: (FIRST_DAY + 1) * DAY - 1 })]);
    await writer.write([newSnapshot({ body, receivedAt: (FIRST_DAY + 1) * DAY })]);
    const days = await database.sql()`select day from snapshot_bodies order by day`;
    expect(days.map((row) => row.day)).toEqual([FIRST_DAY, FIRST_DAY + 1]);
  });

  it('takes a body that another process stored before', async () => {
    const old = newSnapshot({ body: bodyOf('known') });
    await createSnapshotWriter(database.sql()).write([old]);
    const seqs = await createSnapshotWriter(database.sql()).write([
      newSnapshot({ body: bodyOf('new') }),
      newSnapshot({ body: bodyOf('known') }),
    ]);
    expect(seqs).toHaveLength(2);
    expect(await bodyCount()).toBe(2);
    expect(await countWaitingSnapshots(database.sql())).toBe(3);
  });

  it('undoes no second batch once it met another process', async () => {
    const sql = connect(database.settings(), { max: 1, applicationName: 'test' });
    const [here, elsewhere] = [createSnapshotWriter(sql), createSnapshotWriter(database.sql())];
    const both = async (text: string) => {
      await elsewhere.write([newSnapshot({ body: bodyOf(text) })]);
      await here.write([newSnapshot({ body: bodyOf(text) }), newSnapshot({ body: bodyOf(`own ${text}`) })]);
      return rollbacks(sql);
    };
    const first = await both('first');
    expect(await both('second')).toBe(first);
    expect(await bodyCount()).toBe(4);
    await sql.end({ timeout: 1 });
  });

  /** Transactions in this database that came to nothing. */
  async function rollbacks(sql: Sql): Promise<number> {
    await sql`select pg_stat_force_next_flush()`;
    const [row] = await sql`select xact_rollback from pg_stat_database where datname = current_database()`;
    return row?.xact_rollback ?? -1;
  }

  it('stores nothing of a batch that fails, and takes its bodies for new afterwards', async () => {
    const writer = createSnapshotWriter(database.sql());
    const good = newSnapshot({ body: bodyOf('good') });
    const withoutPartition = newSnapshot({ receivedAt: (FIRST_DAY + 300) * DAY });
    await expect(writer.write([good, withoutPartition])).rejects.toThrow(/no partition/);
    expect(await bodyCount()).toBe(0);
    expect(await countWaitingSnapshots(database.sql())).toBe(0);
    await writer.write([good]);
    expect(await bodyCount()).toBe(1);
  });

  it('numbers Snapshots in the order of arrival, whichever process takes them', async () => {
    const writers = [0, 1].map(() => createSnapshotWriter(database.sql()));
    const batches: (readonly number[])[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const writer = writers[turn % writers.length];
      const bodies = Array.from({ length: 1 + (turn % 4) }, (_, place) => bodyOf(`${(turn + place) % 7}`));
      batches.push((await writer?.write(bodies.map((body) => newSnapshot({ body })))) ?? []);
    }
    const all = batches.flat();
    expect(all).toEqual([...new Set(all)].sort((left, right) => left - right));
  });

  it('lets processes that write at the same time have the same bodies', async () => {
    const writers = [0, 1, 2].map(() => createSnapshotWriter(database.sql()));
    const bodies = Array.from({ length: 50 }, (_, number) => bodyOf(`shared ${number}`));
    const orders = [bodies, bodies.toReversed(), [...bodies.slice(25), ...bodies.slice(0, 25)]];
    await Promise.all(
      writers.map((writer, index) =>
        writer.write((orders[index] ?? []).map((body) => newSnapshot({ body }))),
      ),
    );
    expect(await bodyCount()).toBe(50);
    expect(await countWaitingSnapshots(database.sql())).toBe(150);
  });
});

describe('the previous release on this schema', () => {
  /** As it stores: numbers out of a block of its own, no shard. */
  async function storeAsBefore(snapshot: NewSnapshot): Promise<number> {
    const [drawn] = await database.sql()<{ first: number }[]>`select nextval('snapshot_seq') as first`;
    const seq = drawn?.first ?? 0;
    await database.sql()`
      insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes, content_type)
      values (${seq}, ${snapshot.id}, ${snapshot.integrationId}, ${snapshot.receivedAt},
        decode(${snapshot.bodyHash}, 'hex'), ${snapshot.body.length}, ${snapshot.contentType})`;
    return seq;
  }

  it('numbers its Snapshots below those of this one, now and with its last block', async () => {
    const [own = 0] = await createSnapshotWriter(database.sql()).write([newSnapshot()]);
    const old = await storeAsBefore(newSnapshot());
    expect(old).toBeLessThan(own);
    const [limits] = await database.sql()`
      select o.max_value as last_block, n.min_value as first
      from pg_sequences o, pg_sequences n
      where o.sequencename = 'snapshot_seq' and n.sequencename = 'snapshot_number'`;
    expect(limits?.last_block + 9_999).toBeLessThan(limits?.first);
  });

  it('leaves what it stores to be sorted', async () => {
    const seq = await storeAsBefore(newSnapshot());
    const queue = createSnapshotQueue(database.sql());
    expect((await queue.unsorted(10)).map((queued) => queued.seq)).toEqual([seq]);
    await queue.sort([{ seq, shard: 3 }]);
    expect(await queue.unsorted(10)).toEqual([]);
    const { snapshots } = await queue.pageOf([{ shard: 3, after: 0, upTo: null }], 10);
    expect(snapshots.map((queued) => queued.seq)).toEqual([seq]);
  });
});
