import { expect, test } from 'vitest';
import { World } from '../../test/simulation/world.ts';
import { type Address, shardOf } from '../actor/index.ts';
import { SECOND } from '../clock.ts';
import { createResumption } from './resume-on-acquire.ts';

const BOTS: readonly Address[] = Array.from({ length: 40 }, (_, index) => ({
  kind: 'bot',
  key: `b${index}`,
}));

function replica(world: World, list: () => Promise<readonly Address[]> = async () => BOTS) {
  const working = new Set<string>();
  const begun: string[] = [];
  let owned = new Map<number, number>();
  let changed: () => void = () => undefined;
  const resumption = createResumption({
    placement: {
      owned: () => [...owned].map(([shard, epoch]) => ({ shard, epoch })),
      onChange(listener) {
        changed = listener;
        return () => undefined;
      },
    },
    list,
    begin({ key }, moved) {
      begun.push(key);
      working.add(key);
      moved.addEventListener('abort', () => working.delete(key));
    },
    clock: world.clock,
    log: () => undefined,
  });
  return {
    resumption,
    working,
    begun,
    async own(bots: readonly Address[], epoch: number) {
      owned = new Map(bots.map((bot) => [shardOf(bot), epoch]));
      changed();
      await world.runUntil(() => false, world.now + SECOND / 100);
    },
  };
}

test('a list that fails after the stop is not read again', async () => {
  const world = new World(1, false);
  let reads = 0;
  let fail: (error: Error) => void = () => undefined;
  const { resumption, own } = replica(world, () => {
    reads++;
    return new Promise((_, reject) => {
      fail = reject;
    });
  });
  resumption.start();
  await own(BOTS.slice(0, 1), 1);
  resumption.stop();
  fail(new Error('away'));
  await world.runUntil(() => false, world.now + 5 * SECOND);
  expect(reads).toBe(1);
});

const keysOf = (bots: readonly Address[]) => bots.map(({ key }) => key).sort();
const livingWith = (bots: readonly Address[]) => {
  const shards = new Set(bots.map(shardOf));
  return BOTS.filter((bot) => shards.has(shardOf(bot)));
};

test('every poller works at exactly one of two replicas, before and after its shard moves', async () => {
  const world = new World(1, false);
  const [a, b] = [replica(world), replica(world)];
  a.resumption.start();
  b.resumption.start();
  const first = livingWith(BOTS.slice(0, 25));
  const rest = BOTS.filter((bot) => !first.includes(bot));
  await a.own(first, 1);
  await b.own(rest, 1);
  expect([...a.working].sort()).toEqual(keysOf(first));
  expect([...b.working].sort()).toEqual(keysOf(rest));

  const fewer = livingWith(first.slice(0, 5));
  const more = BOTS.filter((bot) => !fewer.includes(bot));
  await a.own(fewer, 1);
  await b.own(more, 2);
  expect([...a.working].sort()).toEqual(keysOf(fewer));
  expect([...b.working].sort()).toEqual(keysOf(more));
  expect(a.begun).toHaveLength(first.length);
});

test('a shard that was lost and won again begins its work anew', async () => {
  const world = new World(1, false);
  const one = replica(world);
  one.resumption.start();
  await one.own(BOTS, 1);
  await one.own(BOTS, 2);
  expect(one.working.size).toBe(BOTS.length);
  expect(one.begun).toHaveLength(2 * BOTS.length);
});

test('nothing begins for a shard that was lost while the list was read; a list that fails is read again', async () => {
  const world = new World(1, false);
  const answers: ((error: Error | null) => void)[] = [];
  const one = replica(
    world,
    () =>
      new Promise((resolve, reject) => {
        answers.push((error) => (error === null ? resolve(BOTS) : reject(error)));
      }),
  );
  one.resumption.start();
  await one.own(BOTS, 1);
  await one.own([], 1);
  answers[0]?.(null);
  await one.own([], 1);
  expect(one.begun).toEqual([]);

  await one.own(BOTS, 2);
  answers[1]?.(new Error('away'));
  await world.runUntil(() => answers.length > 2, world.now + 5 * SECOND);
  answers[2]?.(null);
  await one.own(BOTS, 2);
  expect(one.working.size).toBe(BOTS.length);
});

test('a stop ends all work', async () => {
  const world = new World(1, false);
  const one = replica(world);
  one.resumption.start();
  await one.own(BOTS, 1);
  one.resumption.stop();
  expect(one.working.size).toBe(0);
});
