import { beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotSettled } from '../../actors/feed/effects.ts';
import { ReceiptGoneError } from '../../runtime/actor/index.ts';
import { DAY } from '../../runtime/clock.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { useDatabase } from '../../test/postgres.ts';
import { countWaitingSnapshots } from '../engine/backlog.ts';
import { connect } from '../postgres/connection.ts';
import type { Sql } from '../postgres/records.ts';
import { createSnapshotQueue, settledSnapshots, snapshotReceipts, snapshotSetAside } from './queue.ts';
import { FIRST_DAY, newSnapshot, useSnapshotPartitions } from './snapshots.fixture.ts';
import { createSnapshotWriter } from './writer.ts';

const database = useDatabase();
useSnapshotPartitions(database);

beforeEach(async () => {
  await database.sql()`truncate snapshot_queue, snapshot_bodies, stored_snapshots, integration_counter_slots`;
});

const processed = (seq: number, given: Partial<SnapshotSettled> = {}): SnapshotSettled => ({
  type: 'snapshot.settled',
  seq,
  processedAt: FIRST_DAY * DAY + 500,
  groupKey: '{}/{team="db"}:{alertname="Disk \\"Full\\""}',
  alertCount: 2,
  truncatedAlerts: 1,
  error: null,
  ...given,
});

async function commit(settled: readonly SnapshotSettled[]): Promise<void> {
  await database.sql().begin(async (tx) => {
    await settledSnapshots.write(tx, settled, new Map());
    const receipts = settled.map(({ seq }) => ({ kind: 'snapshot' as const, seq, receivedAt: 0 }));
    await snapshotReceipts.consume(tx, receipts);
  });
}

describe('attempts', () => {
  it('are counted one by one, forgotten one by one, and end with the Snapshot', async () => {
    const [seq = 0] = await createSnapshotWriter(database.sql()).write([newSnapshot()]);
    const queue = createSnapshotQueue(database.sql());
    expect([await queue.beginAttempt(seq), await queue.beginAttempt(seq)]).toEqual([1, 2]);
    await queue.forgetAttempt(seq);
    expect(await queue.beginAttempt(seq)).toBe(2);
    await commit([processed(seq)]);
    expect(await queue.beginAttempt(seq)).toBe(0);
  });
});

describe('settling', () => {
  it('moves a processed Snapshot out of the queue with what it held', async () => {
    const snapshot = newSnapshot();
    const [seq = 0] = await createSnapshotWriter(database.sql()).write([snapshot]);
    await commit([processed(seq)]);
    const [row] = await database.sql()`select * from stored_snapshots`;
    expect(row).toMatchObject({
      seq,
      id: snapshot.id,
      integration_id: snapshot.integrationId,
      received_at: snapshot.receivedAt,
      size_bytes: snapshot.body.length,
      group_key: '{}/{team="db"}:{alertname="Disk \\"Full\\""}',
      alert_count: 2,
      truncated_alerts: 1,
      processing_error: null,
    });
    expect(await countWaitingSnapshots(database.sql())).toBe(0);
  });

  it('refuses a Snapshot that somebody else settled, and then changes nothing', async () => {
    const seqs = await createSnapshotWriter(database.sql()).write([newSnapshot(), newSnapshot()]);
    const [first = 0, second = 0] = seqs;
    await commit([processed(first)]);
    await expect(commit([processed(second), processed(first)])).rejects.toBeInstanceOf(ReceiptGoneError);
    expect(await countWaitingSnapshots(database.sql())).toBe(1);
  });

  it('refuses a receipt without its row', async () => {
    const consume = database
      .sql()
      .begin((tx) => snapshotReceipts.consume(tx, [{ kind: 'snapshot', seq: 77, receivedAt: 0 }]));
    await expect(consume).rejects.toBeInstanceOf(ReceiptGoneError);
  });

  it('counts Snapshots per Integration, failed ones too', async () => {
    const integrationId = newPublicId('NT');
    const at = FIRST_DAY * DAY;
    const seqs = await createSnapshotWriter(database.sql()).write([
      newSnapshot({ integrationId, receivedAt: at + 1 }),
      newSnapshot({ integrationId, receivedAt: at + 2 }),
      newSnapshot({ integrationId, receivedAt: at + 3 }),
    ]);
    await commit(seqs.slice(0, 2).map((seq) => processed(seq)));
    await createSnapshotQueue(database.sql()).fail([{ seq: seqs[2] ?? 0, at, error: 'body: not JSON' }]);
    const [row] = await database.sql()`
      select integration_id, sum(snapshot_count)::int as count, max(last_snapshot_at) as last
      from integration_counter_slots group by integration_id`;
    expect(row).toEqual({ integration_id: integrationId, count: 3, last: at + 3 });
  });

  it('keeps why a Snapshot failed', async () => {
    const [seq = 0] = await createSnapshotWriter(database.sql()).write([newSnapshot()]);
    const error = 'alerts[3].labels."a\\b": not a string';
    await createSnapshotQueue(database.sql()).fail([{ seq, at: 5, error }]);
    const [row] = await database.sql()`
      select processing_error, group_key, alert_count, processed_at from stored_snapshots`;
    expect(row).toEqual({ processing_error: error, group_key: null, alert_count: null, processed_at: 5 });
  });

  it('fails the others when some are settled already, as after an answer that was lost', async () => {
    const queue = createSnapshotQueue(database.sql());
    const integrationId = newPublicId('NT');
    const seqs = await createSnapshotWriter(database.sql()).write([
      newSnapshot({ integrationId }),
      newSnapshot({ integrationId }),
    ]);
    const failures = seqs.map((seq) => ({ seq, at: 5, error: 'body: not JSON' }));
    await queue.fail(failures.slice(0, 1));
    await queue.fail(failures);
    await queue.fail(failures);
    expect(await countWaitingSnapshots(database.sql())).toBe(0);
    expect(await database.sql()`select seq from stored_snapshots order by seq`).toEqual(
      seqs.map((seq) => ({ seq })),
    );
    const [counted] = await database.sql()`
      select sum(snapshot_count)::int as count from integration_counter_slots`;
    expect(counted).toEqual({ count: 2 });
  });

  it('finds the queue by key however small it was when the plan was made', async () => {
    const plan = await database.sql().begin(async (tx) => {
      await tx`select set_config('enable_seqscan', 'off', true)`;
      return tx`explain delete from snapshot_queue where seq = any('{1,2,3}'::bigint[])`;
    });
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('snapshot_queue_pkey');
  });
});

/** Settles one Snapshot and keeps the commit open until told. */
async function settleHeld(sql: Sql, seq: number): Promise<{ end: () => Promise<void> }> {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let ended: Promise<unknown> = Promise.resolve();
  await new Promise<void>((written, failed) => {
    ended = sql.begin(async (tx) => {
      await settledSnapshots.write(tx, [processed(seq)], new Map());
      written();
      await held;
    });
    ended.catch(failed);
  });
  return {
    async end() {
      release();
      await ended;
    },
  };
}

describe('two processes that settle', () => {
  it('do not wait for each other to count for one Integration', async () => {
    const connections = await connectionsOfTwoSlots();
    const integrationId = newPublicId('NT');
    const seqs = await createSnapshotWriter(database.sql()).write([
      newSnapshot({ integrationId }),
      newSnapshot({ integrationId }),
    ]);
    const first = await settleHeld(connections[0], seqs[0] ?? 0);
    // Were it waiting, this would never be written while the first is open.
    const second = await settleHeld(connections[1], seqs[1] ?? 0);
    await Promise.all([first.end(), second.end()]);
    const slots = await database.sql()`select snapshot_count from integration_counter_slots`;
    expect(slots).toEqual([{ snapshot_count: 1 }, { snapshot_count: 1 }]);
    await Promise.all(connections.map((sql) => sql.end({ timeout: 1 })));
  });

  /** Neighbours among processes are neighbours among slots, unless the numbers wrap around between them. */
  async function connectionsOfTwoSlots(): Promise<readonly [Sql, Sql]> {
    const [a, b] = [0, 1].map(() => connect(database.settings(), { max: 1, applicationName: 'test' }));
    if (!a || !b) throw new Error('two connections');
    const pids = await Promise.all([a, b].map((sql) => sql`select pg_backend_pid() % 64 as slot`));
    if (pids[0]?.[0]?.slot !== pids[1]?.[0]?.slot) return [a, b];
    await b.end({ timeout: 1 });
    await a.end({ timeout: 1 });
    return connectionsOfTwoSlots();
  }
});

describe('the queue', () => {
  it('is counted exactly, however the server estimates it', async () => {
    await createSnapshotWriter(database.sql()).write([newSnapshot(), newSnapshot()]);
    expect(await countWaitingSnapshots(database.sql())).toBe(2);
  });

  it('is read page by page in order of arrival', async () => {
    const queue = createSnapshotQueue(database.sql());
    const snapshots = [newSnapshot(), newSnapshot(), newSnapshot()];
    await createSnapshotWriter(database.sql()).write(snapshots);
    const first = await queue.page(0, 2);
    const rest = await queue.page(first.at(-1)?.seq ?? 0, 2);
    expect([...first, ...rest].map(({ id }) => id)).toEqual(snapshots.map(({ id }) => id));
  });
});

describe('a Snapshot that broke its feed', () => {
  it('is recorded as failed, with the defect', () => {
    const message = {
      type: 'snapshot' as const,
      seq: 7,
      snapshotId: newPublicId('SS'),
      receivedAt: 1,
      replayed: false,
      snapshot: {
        groupKey: 'K',
        groupKeyHash: 'k',
        status: 'firing' as const,
        entries: [],
        resolvedCount: 0,
        truncatedAlerts: 3,
        notificationReason: null,
        isLarge: false,
        alertSet: 's',
        digest: 'd',
      },
    };
    expect(snapshotSetAside(message, new Error('broken'), 9)).toEqual([
      {
        type: 'snapshot.settled',
        seq: 7,
        processedAt: 9,
        groupKey: 'K',
        alertCount: 0,
        truncatedAlerts: 3,
        error: 'processing: broken',
      },
    ]);
    expect(snapshotSetAside({ type: 'wake' }, new Error('broken'), 9)).toEqual([]);
  });
});
