import { expect, test } from 'vitest';
import { SHARDS } from '../actor/index.ts';
import { SECOND } from '../clock.ts';
import type { LogEvent } from '../log.ts';
import { createSoloPlacement } from './solo.ts';

/** A database with one lock, and a clock that a test turns. */
function setting(options: { readonly takenFor: number }) {
  let now = 0;
  let refusals = options.takenFor;
  let epoch = 0;
  let end: () => void = () => undefined;
  let released = 0;
  let raisesFail = 0;
  let arrival = Promise.resolve();
  const waits: { at: number; run: () => void }[] = [];
  const logged: LogEvent[] = [];
  const placement = createSoloPlacement({
    lock: {
      acquire: async () => {
        await arrival;
        return refusals-- <= 0;
      },
      lost: () =>
        new Promise((resolve) => {
          end = resolve;
        }),
      release: async () => void released++,
    },
    owner: 'a/1',
    epochs: {
      ownedBy: async () => [],
      newest: async () => [],
      raise: async (shards) => {
        if (raisesFail-- > 0) throw new Error('no answer');
        epoch++;
        return shards.map((shard) => ({ shard, epoch }));
      },
    },
    clock: {
      now: () => now,
      after(delay, run) {
        const wait = { at: now + delay, run };
        waits.push(wait);
        return { cancel: () => void waits.splice(waits.indexOf(wait), 1) };
      },
    },
    log: (event) => void logged.push(event),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    placement,
    logged,
    settle,
    loseSession: () => end(),
    refuseNext: (count: number) => {
      refusals = count;
    },
    /** The lock answers only once the returned function is called. */
    holdAcquire(): () => void {
      let resolve: () => void = () => undefined;
      arrival = new Promise((arrive) => {
        resolve = arrive;
      });
      return () => resolve();
    },
    failRaises: (count: number) => {
      raisesFail = count;
    },
    released: () => released,
    async pass(seconds: number) {
      const until = now + seconds * SECOND;
      await settle();
      for (let wait = waits[0]; wait !== undefined && wait.at <= until; wait = waits[0]) {
        waits.shift();
        now = wait.at;
        wait.run();
        await settle();
      }
      now = until;
    },
  };
}

test('the holder of the lock owns every shard, under epochs of its own', async () => {
  const { placement } = setting({ takenFor: 0 });
  await placement.start();
  expect(placement.owned()).toHaveLength(SHARDS);
  expect(placement.epochOf(0)).toBe(1);
  expect(placement.epochOf(SHARDS - 1)).toBe(1);
});

test('a newcomer owns nothing, says so every 30 s, and takes over when the lock is free', async () => {
  const { placement, logged, pass } = setting({ takenFor: 65 });
  const started = placement.start();
  await pass(64);
  expect(placement.owned()).toHaveLength(0);
  expect(logged).toEqual([
    'waiting_for_single_replica',
    'waiting_for_single_replica',
    'waiting_for_single_replica',
  ]);
  await pass(2);
  await started;
  expect(placement.owned()).toHaveLength(SHARDS);
});

test('a process that loses the session stops acting at once and takes fresh epochs before it acts again', async () => {
  const { placement, loseSession, refuseNext, settle, pass } = setting({ takenFor: 0 });
  await placement.start();
  let changes = 0;
  placement.onChange(() => changes++);
  refuseNext(5);
  loseSession();
  await settle();
  expect(placement.owned()).toHaveLength(0);
  expect(placement.epochOf(7)).toBeNull();
  expect(changes).toBe(1);
  await pass(6);
  expect(placement.epochOf(7)).toBe(2);
  expect(changes).toBe(2);
});

test('stopping owns nothing and gives the lock back', async () => {
  const { placement, released } = setting({ takenFor: 0 });
  await placement.start();
  await placement.stop();
  expect(placement.owned()).toHaveLength(0);
  expect(released()).toBe(1);
});

test('a process that is stopped while it waits never owns anything', async () => {
  const { placement, pass } = setting({ takenFor: 1000 });
  const started = placement.start();
  await pass(3);
  await placement.stop();
  await started;
  expect(placement.owned()).toHaveLength(0);
});

test('a lock that arrives after the stop is given back', async () => {
  const { placement, holdAcquire, released } = setting({ takenFor: 0 });
  const arrive = holdAcquire();
  const started = placement.start();
  await placement.stop();
  expect(released()).toBe(1);
  arrive();
  await started;
  expect(released()).toBe(2);
  expect(placement.owned()).toHaveLength(0);
});

test('a lock without epochs is given back before the next try', async () => {
  const { placement, loseSession, failRaises, released, pass } = setting({ takenFor: 0 });
  await placement.start();
  failRaises(1);
  loseSession();
  await pass(0.5);
  expect(placement.owned()).toHaveLength(0);
  expect(released()).toBe(1);
  await pass(2);
  expect(placement.epochOf(7)).toBe(2);
});

test('a first start that gets no epochs fails, without the lock', async () => {
  const { placement, failRaises, released } = setting({ takenFor: 0 });
  failRaises(1);
  await expect(placement.start()).rejects.toThrow('no answer');
  expect(released()).toBe(1);
});
