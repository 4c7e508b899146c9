import { beforeEach, expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import { NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { newSnapshot, useSnapshotPartitions } from '../snapshots/snapshots.fixture.ts';
import { createSnapshotWriter } from '../snapshots/writer.ts';
import { createWaitingWork } from './backlog.ts';
import { enqueueInbox } from './inbox.ts';
import { markAlive, tellDowntime } from './signs-of-life.ts';

const database = useDatabase();
useSnapshotPartitions(database);
const work = () => createWaitingWork(database.sql());

beforeEach(async () => {
  await empty(database.sql(), 'snapshot_queue', 'inbox', 'alive_mark', 'downtimes');
});

test('Snapshots wait up to a number', async () => {
  expect(await work().newestSnapshot()).toBeNull();
  const [first = 0, second = 0] = await createSnapshotWriter(database.sql()).write([
    newSnapshot(),
    newSnapshot(),
  ]);
  expect(await work().newestSnapshot()).toBe(second);
  await database.sql()`delete from snapshot_queue where seq = ${first}`;
  expect(await work().hasSnapshots(first)).toBe(false);
  expect(await work().hasSnapshots(second)).toBe(true);
});

test('messages to Alert Groups wait, in shards that are asked for', async () => {
  await database.sql().begin((tx) =>
    enqueueInbox(
      tx,
      ['alert_group', 'feed'].map((kind) => ({ to: { kind, key: 'x' }, message: { type: 'wake' } })),
      NOW,
    ),
  );
  const rows = await database.sql()<{ seq: number; shard: number; receiver_kind: string }[]>`
    select seq, shard, receiver_kind from inbox`;
  const group = rows.find((row) => row.receiver_kind === 'alert_group');
  const feed = rows.find((row) => row.receiver_kind === 'feed');
  if (!group || !feed || group.shard === feed.shard) throw new Error('the shards of the test are one');
  expect(await work().newestMessage([group.shard, feed.shard])).toBe(group.seq);
  expect(await work().newestMessage([feed.shard])).toBeNull();
  expect(await work().hasMessages([group.shard], group.seq)).toBe(true);
  expect(await work().hasMessages([group.shard], group.seq - 1)).toBe(false);
  expect(await work().hasMessages([feed.shard], feed.seq)).toBe(false);
});

test('a downtime waits to be told from the last sign of life until everybody knows', async () => {
  const sql = database.sql();
  const me = { id: 'a', boot: '1' };
  expect(await work().isDowntimeUntold(NOW)).toBe(false);
  await markAlive(sql, me, NOW);
  expect(await work().isDowntimeUntold(NOW + 2 * MINUTE)).toBe(false);
  const later = NOW + 10 * MINUTE;
  expect(await work().isDowntimeUntold(later)).toBe(true);
  await markAlive(sql, me, later);
  expect(await work().isDowntimeUntold(later)).toBe(true);
  while (await tellDowntime(sql, later));
  expect(await work().isDowntimeUntold(later)).toBe(false);
});
