/** A process that stops in the middle of a transaction, behind a pooler that takes no settings of a session. */
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect } from '../postgres/connection.ts';
import { fencesOf } from '../postgres/locks.ts';
import type { Sql } from '../postgres/records.ts';
import { newSnapshot, useSnapshotPartitions } from '../snapshots/snapshots.fixture.ts';
import { createSnapshotWriter } from '../snapshots/writer.ts';
import { createActorStore } from './actor-store.ts';
import { createEpochStore } from './placement.ts';

const database = useDatabase();
useSnapshotPartitions(database);

const NOTHING = {
  ...{ claims: [], drawnBefore: new Map(), decidedWith: null, writes: [], consumed: [] },
  ...{ records: [], replies: [], isLarge: false },
  sends: [{ to: { kind: 'person', key: 'x' }, shard: 3, from: null, message: { type: 'm' } }],
};

/** The process gets no further than the first statement with this text. */
async function stoppingAt(text: string): Promise<{ sql: Sql; stopped: Promise<void> }> {
  const real = connect(database.settings(), { max: 1, applicationName: 'stopped' });
  onTestFinished(() => real.end({ timeout: 0 }));
  let hasStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    hasStopped = resolve;
  });
  const stop = () => {
    hasStopped();
    return new Promise(() => undefined);
  };
  const sql = new Proxy(real, {
    get: (target, name) =>
      name === 'begin'
        ? (mode: string, run: (tx: unknown) => Promise<unknown>) =>
            target.begin(mode, (tx) =>
              run(
                new Proxy(tx, {
                  apply: (statement, self, args) =>
                    String(args[0]).includes(text) ? stop() : Reflect.apply(statement, self, args),
                }),
              ),
            )
        : Reflect.get(target, name),
  });
  return { sql, stopped };
}

/** How long it takes, ms. */
async function timeOf(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work;
  return performance.now() - from;
}

test('one that stopped while it took shards keeps others from committing for a second and a half', async () => {
  const { sql, stopped } = await stoppingAt('update shards');
  const [epoch] = await createEpochStore(database.sql(), systemClock).raise([19], 'other/1');
  createEpochStore(sql, systemClock)
    .raise([3], 'stopped/1')
    .catch(() => undefined);
  await stopped;
  const [fence] = fencesOf([19]);
  expect(fencesOf([3])).toEqual([fence]);
  const store = createActorStore({
    ...{ sql: database.sql(), clock: systemClock, writers: [], rowLoaders: [], consumers: [] },
  });
  const commit = store.commit({ ...NOTHING, epochs: epoch ? [epoch] : [] }, () => undefined);
  expect(await timeOf(commit)).toBeLessThan(3_000);
});

test('one that stopped while it stored a body keeps others from storing it for a second and a half', async () => {
  const body = Buffer.from('sent to every replica');
  // So much that it goes in a transaction of several statements.
  const much = Buffer.alloc(200_000, 'x');
  const { sql, stopped } = await stoppingAt('insert into snapshot_queue');
  createSnapshotWriter(sql)
    .write([newSnapshot({ body }), newSnapshot({ body: much })])
    .catch(() => undefined);
  await stopped;
  const waited = timeOf(createSnapshotWriter(database.sql()).write([newSnapshot({ body })]));
  expect(
    await Promise.race([waited, timeOf(new Promise((resolve) => setTimeout(resolve, 4_000)))]),
  ).toBeLessThan(3_500);
});
