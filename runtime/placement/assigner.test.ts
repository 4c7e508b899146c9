import { expect, test } from 'vitest';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { SECOND } from '../clock.ts';
import { Assigner } from './assigner.ts';
import type { Member, Picture, Targets } from './coordination.ts';

const ME = { id: 'a', boot: '1' };
const OTHER = { id: 'b', boot: '1' };

function pictureOf(...members: readonly (Member & { isDraining?: boolean })[]): Picture {
  const replicas = members.map((it) => ({ version: '1', isDraining: false, ...it }));
  return { replicas, leader: ME, generation: 1, targets: null, granted: [] };
}

function stage(live: () => Promise<readonly Member[]>) {
  const clock = createManualClock();
  const assigned: Targets[] = [];
  let known = 0;
  const assigner = new Assigner({
    me: ME,
    coordination: {
      assign: async (_me: Member, _generation: number, targets: Targets) => assigned.push(targets) > 0,
    },
    records: { live, leaders: async () => [], orphans: async () => [] },
    clock,
    monotonic: () => clock.now(),
    log: () => undefined,
    shards: 4,
    onKnown: () => known++,
  });
  assigner.waitUntil(clock.now() + 3 * SECOND, false);
  return { assigner, clock, assigned, known: () => known };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('assigns as soon as everybody is there who lives by the records, and says when that is known', async () => {
  const { assigner, assigned, known } = stage(async () => [ME, OTHER]);
  await assigner.assign(pictureOf(ME));
  await settled();
  expect(known()).toBe(1);
  await assigner.assign(pictureOf(ME));
  await assigner.assign(pictureOf(ME, { ...OTHER, isDraining: true }));
  expect(assigned).toEqual([]);
  await assigner.assign(pictureOf(ME, OTHER));
  expect(assigned).toHaveLength(1);
});

test('a database that is silent holds nothing up: without its answer the time is waited for', async () => {
  const { assigner, clock, assigned } = stage(() => new Promise(() => undefined));
  await assigner.assign(pictureOf(ME));
  clock.advance(3 * SECOND - 1);
  await assigner.assign(pictureOf(ME));
  expect(assigned).toEqual([]);
  clock.advance(1);
  await assigner.assign(pictureOf(ME));
  expect(assigned).toEqual([['a', 'a', 'a', 'a']]);
});
