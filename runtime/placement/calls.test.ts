import { expect, test } from 'vitest';
import { createSignalsHub, type SignalsHub } from '../../test/fakes/signals.ts';
import { World } from '../../test/simulation/world.ts';
import { SECOND } from '../clock.ts';
import { createCalls } from './calls.ts';

/** A replica that owns some shards, and what it heard since it was last asked. */
function replica(world: World, hub: SignalsHub, id: string, shards: number[]) {
  const signals = hub.member();
  const heard: string[] = [];
  let owned = shards;
  let changed: () => void = () => undefined;
  let gone: () => void = () => undefined;
  let isolated = false;
  const calls = createCalls({
    me: { id, boot: '1' },
    signals,
    placement: {
      owned: () => owned.map((shard) => ({ shard, epoch: 1 })),
      onChange(listener) {
        changed = listener;
        return () => undefined;
      },
    },
    clock: world.clock,
    hasIsolated: () => isolated,
    onGone(listener) {
      gone = listener;
      return () => undefined;
    },
  });
  calls.start({ heard: (what) => heard.push(what), answered: () => heard.push('answered') });
  return {
    calls,
    signals,
    own(shards: number[]) {
      owned = shards;
      changed();
    },
    heard: () => heard.splice(0),
    setMirrors(isOneCutOff: boolean) {
      isolated = isOneCutOff;
    },
    seeDeath: () => gone(),
  };
}

async function stage() {
  const world = new World(1, false);
  const hub = createSignalsHub();
  const a = replica(world, hub, 'a', [1, 2]);
  const b = replica(world, hub, 'b', [3]);
  const pass = (seconds: number) => world.runUntil(() => false, world.now + seconds * SECOND);
  await pass(2);
  a.heard();
  b.heard();
  return { a, b, hub, pass };
}

test('a call reaches the owner of its shard and nobody else', async () => {
  const { a, b, pass } = await stage();
  a.calls.call([3]);
  b.calls.snapshotsWait([1]);
  await pass(0.01);
  expect(a.heard()).toEqual(['snapshots']);
  expect(b.heard()).toEqual(['inbox']);
});

test('a word of another release is no call', async () => {
  const { a, b, pass } = await stage();
  a.signals.publish('shard.3', 'something newer');
  await pass(0.01);
  expect(b.heard()).toEqual([]);
});

test('answers are told to the member that asked', async () => {
  const { a, b, pass } = await stage();
  a.calls.answered(['b/1', 'b/0']);
  await pass(0.01);
  expect(a.heard()).toEqual([]);
  expect(b.heard()).toEqual(['answered']);
});

test('who wins a shard hears its calls, and looks once more for those that came before it listened', async () => {
  const { a, b, pass } = await stage();
  a.own([1]);
  b.own([3, 2]);
  await pass(1.5);
  expect(b.heard()).toEqual(['inbox', 'snapshots', 'answered']);
  a.calls.call([2]);
  await pass(0.01);
  expect(a.heard()).toEqual([]);
  expect(b.heard()).toEqual(['inbox']);
});

test('without signals everybody looks every second, and once when they are back', async () => {
  const { a, pass } = await stage();
  a.signals.setUp(false);
  await pass(3.5);
  expect(a.heard().filter((what) => what === 'inbox')).toHaveLength(4);
  a.signals.setUp(true);
  expect(a.heard()).toEqual(['inbox', 'snapshots', 'answered']);
  await pass(20);
  expect(a.heard()).toEqual([]);
});

test('while another replica is cut off, what it writes is looked for every second', async () => {
  const { a, b, pass } = await stage();
  a.signals.setUp(false);
  b.setMirrors(true);
  a.calls.call([3]);
  await pass(3.05);
  expect(b.heard().filter((what) => what === 'inbox')).toHaveLength(3);
  b.setMirrors(false);
  await pass(20);
  expect(b.heard()).toEqual([]);
});

test('without signals who waits for an answer looks four times a second', async () => {
  const { a, pass } = await stage();
  a.signals.setUp(false);
  await pass(2.05);
  expect(a.heard().filter((what) => what === 'answered')).toHaveLength(9);
  a.signals.setUp(true);
  a.heard();
  await pass(5);
  expect(a.heard()).toEqual([]);
});

test('a call that nobody heard is made up for within half a minute', async () => {
  const { a, b, hub, pass } = await stage();
  hub.lose(() => true);
  a.calls.call([3]);
  await pass(31);
  expect(b.heard()).toContain('inbox');
});

test('what one wrote that died before it called is looked for once it is gone', async () => {
  const { a, pass } = await stage();
  a.seeDeath();
  expect(a.heard()).toEqual(['inbox', 'snapshots', 'answered']);
  await pass(20);
  expect(a.heard()).toEqual([]);
});

test('one that stopped hears nothing and looks for nothing', async () => {
  const { a, b, pass } = await stage();
  b.calls.stop();
  a.calls.call([3]);
  b.signals.setUp(false);
  await pass(60);
  expect(b.heard()).toEqual([]);
});
