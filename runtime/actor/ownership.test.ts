import { expect, test } from 'vitest';
import { type Micros, SECOND } from '../clock.ts';
import { Ownership, OwnershipCheck } from './ownership.ts';
import type { ShardEpoch } from './store.ts';

const SHARD = 7;

/** Proofs of a process that holds one shard under epoch 1, with time and the database in the hands of the test. */
function given() {
  let now: Micros = 1000 * SECOND;
  const database = { epoch: 1, reads: 0, onRead: () => {} };
  const lost: ShardEpoch[] = [];
  const check = new OwnershipCheck({
    store: {
      async epochs() {
        database.reads++;
        const answer = [{ shard: SHARD, epoch: database.epoch }];
        database.onRead();
        return answer;
      },
    },
    ownership: new Ownership({
      isAlone: false,
      epochOf: () => 1,
      owned: () => [{ shard: SHARD, epoch: 1 }],
      onChange: () => () => {},
      followed: () => {},
      fenced: () => {},
    }),
    monotonic: () => now,
    lost: (epochs) => lost.push(...epochs),
  });
  return {
    ...{ check, database, lost },
    pass(seconds: number) {
      now += seconds * SECOND;
    },
  };
}

test('a commit proves ownership for two seconds; afterwards the database is asked', async () => {
  const { check, database, pass } = given();
  check.note([[SHARD, 1]], 1000 * SECOND);
  pass(1.9);
  expect(await check.stillOwns(SHARD)).toBe(true);
  expect(database.reads).toBe(0);
  pass(0.2);
  expect(await check.stillOwns(SHARD)).toBe(true);
  expect(database.reads).toBe(1);
});

test('a newer epoch in the database says that the shard is lost', async () => {
  const { check, database, lost } = given();
  database.epoch = 2;
  expect(await check.stillOwns(SHARD)).toBe(false);
  expect(lost).toEqual([{ shard: SHARD, epoch: 1 }]);
});

test('an answer that waited for a process that was paused proves nothing: the database is asked again', async () => {
  const { check, database, lost, pass } = given();
  database.onRead = () => {
    if (database.reads > 1) return;
    pass(60);
    database.epoch = 2;
  };
  expect(await check.stillOwns(SHARD)).toBe(false);
  expect(lost).toEqual([{ shard: SHARD, epoch: 1 }]);
});
