import { beforeEach, describe, expect, it } from 'vitest';
import type { ShardRange } from '../../actors/feed/ports.ts';
import { useDatabase } from '../../test/postgres.ts';
import { countWaitingSnapshots } from '../engine/backlog.ts';
import { createSnapshotQueue } from './queue.ts';
import { newSnapshot, useSnapshotPartitions } from './snapshots.fixture.ts';
import { createSnapshotWriter } from './writer.ts';

const database = useDatabase();
useSnapshotPartitions(database);

beforeEach(async () => {
  await database.sql()`truncate snapshot_queue, snapshot_bodies`;
});

/** Stores one Snapshot for each shard given; null is what a single process stores. */
const store = (...shards: (number | null)[]) =>
  createSnapshotWriter(database.sql()).write(shards.map((shard) => newSnapshot({ shard })));

const whole = (...shards: number[]): ShardRange[] => shards.map((shard) => ({ shard, after: 0, upTo: null }));

const queue = () => createSnapshotQueue(database.sql());

describe('the queue by shards', () => {
  it('shows the Snapshots of the shards asked for, in order of arrival', async () => {
    const [a, , b, c] = await store(7, 8, 0, 7, null);
    const { snapshots } = await queue().pageOf(whole(0, 7), 10);
    expect(snapshots.map(({ seq, shard }) => [seq, shard])).toEqual([
      [a, 7],
      [b, 0],
      [c, 7],
    ]);
  });

  it('shows the oldest of each shard, so that none waits behind another', async () => {
    const seqs = await store(1, 1, 1, 1, 2, 3);
    const { snapshots } = await queue().pageOf(whole(1, 2, 3), 2);
    expect(snapshots.map(({ seq }) => seq)).toEqual([seqs[0], seqs[1], seqs[4], seqs[5]]);
  });

  it('goes on in each shard where it was, up to where it may', async () => {
    const [a = 0, b, c = 0, , e] = await store(1, 1, 1, 1, 2);
    const ranges = [{ shard: 1, after: a, upTo: c }, ...whole(2)];
    const { snapshots } = await queue().pageOf(ranges, 10);
    expect(snapshots.map(({ seq }) => seq)).toEqual([b, c, e]);
  });

  it('says the last number that was drawn before, whether or not it is stored', async () => {
    await store(1);
    const [drawn] = await database.sql()`select nextval('snapshot_number') as seq`;
    expect((await queue().pageOf(whole(9), 10)).drawn).toBe(drawn?.seq);
  });

  it('shows nothing of a Snapshot whose commit is not over', async () => {
    let seen = -1;
    await database.sql().begin(async (tx) => {
      await tx`
        insert into snapshot_queue (id, integration_id, received_at, body_hash, size_bytes, shard)
        values ('SS', 'NT', 1, '', 0, 4)`;
      seen = (await queue().pageOf(whole(4), 10)).snapshots.length;
    });
    expect(seen).toBe(0);
    expect((await queue().pageOf(whole(4), 10)).snapshots).toHaveLength(1);
  });

  it('is read by its index alone, though the table be empty when the plan is made', async () => {
    const plan = await database.sql().begin(async (tx) => {
      await tx`analyze snapshot_queue`;
      await tx`select set_config('enable_seqscan', 'off', true)`;
      return tx`
        explain select q.* from unnest('{1,2}'::smallint[], '{0,0}'::bigint[]) as range (shard, after)
        cross join lateral (
          select seq from snapshot_queue where shard = range.shard and seq > range.after order by seq limit 8
        ) q
        order by q.seq`;
    });
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('snapshot_queue_by_shard');
    expect(text).not.toContain('Seq Scan');
  });
});

describe('Snapshots without a shard', () => {
  it('are shown oldest first, and given theirs', async () => {
    const [a = 0, , b = 0, c = 0] = await store(null, 5, null, null);
    expect((await queue().unsorted(2)).map(({ seq }) => seq)).toEqual([a, b]);
    await queue().sort([
      { seq: c, shard: 5 },
      { seq: a, shard: 6 },
      { seq: b, shard: 5 },
    ]);
    expect(await queue().unsorted(2)).toEqual([]);
    const { snapshots } = await queue().pageOf(whole(6), 10);
    expect(snapshots.map(({ seq }) => seq)).toEqual([a]);
  });

  it('may be settled meanwhile, and sorted by two at once', async () => {
    const seqs = await store(...Array.from({ length: 100 }, () => null));
    const places = seqs.map((seq) => ({ seq, shard: seq % 256 }));
    await database.sql()`delete from snapshot_queue where seq = ${seqs[0] ?? 0}`;
    await Promise.all([queue().sort(places), queue().sort(places.toReversed())]);
    expect(await queue().unsorted(10)).toEqual([]);
    expect(await countWaitingSnapshots(database.sql())).toBe(99);
  });
});
