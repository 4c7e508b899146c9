import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../test/fakes/manual-clock.ts';
import { type Address, type ShardEpoch, shardOf } from './actor/index.ts';
import { SECOND } from './clock.ts';
import { silentLog } from './log.ts';
import { createWakeupGate, LONGEST_WAIT, type WaitingWork, type WakeupGate } from './wakeup-gate.ts';

const group: Address = { kind: 'alert_group', key: 'AG1' };
const elsewhere: Address = { kind: 'alert_group', key: 'AG2' };
const shard = shardOf(group);

let clock: ManualClock;
let owned: ShardEpoch[];
let listeners: (() => void)[];
/** Messages of `shard`, and of the one of `elsewhere`. */
let waiting: { snapshots: number[]; messages: number[]; others: number[]; untold: boolean };
let isAway: boolean;
let releases: number;
let gate: WakeupGate;

beforeEach(() => {
  clock = createManualClock();
  owned = [{ shard, epoch: 1 }];
  listeners = [];
  waiting = { snapshots: [], messages: [], others: [], untold: false };
  isAway = false;
  releases = 0;
  const newest = (seqs: readonly number[]) => (seqs.length > 0 ? Math.max(...seqs) : null);
  const messagesOf = (shards: readonly number[]) => [
    ...(shards.includes(shard) ? waiting.messages : []),
    ...(shards.includes(shardOf(elsewhere)) ? waiting.others : []),
  ];
  const ask = async <Answer>(answer: () => Answer): Promise<Answer> => {
    if (isAway) throw new Error('away');
    return answer();
  };
  const work: WaitingWork = {
    isDowntimeUntold: () => ask(() => waiting.untold),
    newestSnapshot: () => ask(() => newest(waiting.snapshots)),
    hasSnapshots: (upTo) => ask(() => waiting.snapshots.some((seq) => seq <= upTo)),
    newestMessage: (shards) => ask(() => newest(messagesOf(shards))),
    hasMessages: (shards, upTo) => ask(() => messagesOf(shards).some((seq) => seq <= upTo)),
  };
  gate = createWakeupGate({
    kinds: ['alert_group'],
    placement: {
      owned: () => owned,
      epochOf: (asked) => owned.find((it) => it.shard === asked)?.epoch ?? null,
      onChange: (listener) => {
        listeners.push(listener);
        return () => undefined;
      },
    },
    work,
    clock,
    log: silentLog,
    released: () => {
      releases += 1;
    },
  });
});

/** Lets time pass in steps in which every answer arrives. */
async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 10; step++) {
    await new Promise(setImmediate);
    clock.advance(SECOND / 10);
  }
  await new Promise(setImmediate);
}

const held = () => gate.isHeld(group);

test('with nothing waiting, timers wait for nothing', async () => {
  gate.start();
  await pass(0);
  expect([held(), releases]).toEqual([false, 1]);
});

test('before the start everything is held, but only of the kinds that wait', () => {
  expect(held()).toBe(true);
  expect(gate.isHeld({ kind: 'destination', key: 'DS1' })).toBe(false);
});

describe('after a start', () => {
  test('Snapshots of before are processed first, later ones are not waited for', async () => {
    waiting.snapshots = [5, 7];
    gate.start();
    await pass(1);
    expect(held()).toBe(true);
    waiting.snapshots = [7, 9];
    await pass(1);
    expect(held()).toBe(true);
    waiting.snapshots = [9, 10];
    await pass(1);
    expect([held(), releases]).toEqual([false, 1]);
  });

  test('what they led to is received first, too', async () => {
    waiting.snapshots = [5];
    gate.start();
    await pass(1);
    waiting = { ...waiting, snapshots: [], messages: [3] };
    await pass(1);
    expect(held()).toBe(true);
    waiting.messages = [4];
    await pass(1);
    expect(held()).toBe(false);
  });

  test('a downtime is told first', async () => {
    waiting.untold = true;
    gate.start();
    await pass(1);
    expect(held()).toBe(true);
    waiting.untold = false;
    await pass(1);
    expect(held()).toBe(false);
  });

  test('timers wait for 30 s at most', async () => {
    waiting = { ...waiting, snapshots: [5], messages: [3], untold: true };
    gate.start();
    await pass(LONGEST_WAIT / SECOND - 1);
    expect(held()).toBe(true);
    await pass(1.5);
    expect([held(), releases]).toEqual([false, 1]);
  });

  test('a database that is away for a moment is asked again', async () => {
    isAway = true;
    gate.start();
    await pass(1);
    expect(held()).toBe(true);
    isAway = false;
    await pass(1);
    expect(held()).toBe(false);
  });
});

test('a shard that is won is worked off, whoever had it; the others fire meanwhile', async () => {
  gate.start();
  await pass(1);
  waiting.snapshots = [5];
  owned = [...owned, { shard: shardOf(elsewhere), epoch: 4 }];
  for (const listener of listeners) listener();
  await pass(1);
  expect([held(), gate.isHeld(elsewhere)]).toEqual([false, true]);
  waiting.snapshots = [];
  await pass(1);
  expect([gate.isHeld(elsewhere), releases]).toEqual([false, 2]);
});

test('a shard that was lost and won again is worked off again', async () => {
  gate.start();
  await pass(1);
  owned = [];
  for (const listener of listeners) listener();
  waiting.snapshots = [5];
  owned = [{ shard, epoch: 2 }];
  for (const listener of listeners) listener();
  await pass(1);
  expect(held()).toBe(true);
});

describe('a shard that was lost and won again while it was worked off', () => {
  beforeEach(async () => {
    owned = [...owned, { shard: shardOf(elsewhere), epoch: 1 }];
    waiting.others = [3];
    gate.start();
    await pass(1);
    owned = owned.filter((it) => it.shard !== shard);
    for (const listener of listeners) listener();
    owned = [...owned, { shard, epoch: 2 }];
    for (const listener of listeners) listener();
    await pass(1);
  });

  test('waits for its own messages only', () => {
    expect([held(), gate.isHeld(elsewhere)]).toEqual([false, true]);
  });

  test('is not taken back by the end of the earlier work', async () => {
    waiting.others = [];
    await pass(1);
    expect([held(), gate.isHeld(elsewhere)]).toEqual([false, false]);
  });
});

test('messages of a shard that was lost meanwhile are not waited for', async () => {
  owned = [...owned, { shard: shardOf(elsewhere), epoch: 1 }];
  waiting.others = [3];
  gate.start();
  await pass(1);
  expect(held()).toBe(true);
  owned = owned.filter((it) => it.shard === shard);
  for (const listener of listeners) listener();
  await pass(1);
  expect(held()).toBe(false);
});
