import { expect, test } from 'vitest';
import type { SystemSigns } from '../../actors/system/ports.ts';
import { SECOND } from '../../runtime/clock.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createSystemWatch } from './hint-bus.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function setting() {
  const clock = createManualClock();
  const sent: string[] = [];
  const logged: string[] = [];
  let isAway = false;
  let signs: SystemSigns = {
    pulse: { markedAt: clock.now(), downtime: null },
    replicas: [{ id: 'a', isLeader: true }],
    troubles: [],
  };
  const watch = createSystemWatch({
    reader: {
      async signs() {
        if (isAway) throw new Error('away');
        return signs;
      },
    },
    hints: { send: ({ type, id }) => sent.push(`${type}/${id}`) },
    clock,
    log: (event) => void logged.push(event),
  });
  watch.start();
  await settled();
  /** What is sent by the look that finds the change. */
  const after = async (change: Partial<SystemSigns> | 'away', seconds = 5) => {
    isAway = change === 'away';
    if (change !== 'away') signs = { ...signs, ...change };
    sent.length = 0;
    clock.advance(seconds * SECOND);
    await settled();
    return [...sent];
  };
  return { watch, after, clock, logged };
}

test('the first look and looks that find nothing new tell nobody', async () => {
  const { after } = await setting();
  expect(await after({})).toEqual([]);
});

test('a sign of life alone is nothing new', async () => {
  const { after, clock } = await setting();
  expect(await after({ pulse: { markedAt: clock.now(), downtime: null } })).toEqual([]);
});

test.each<[string, Partial<SystemSigns>]>([
  ['a replica that came', { replicas: [{ id: 'b', isLeader: false }] }],
  ['another Leader', { replicas: [{ id: 'a', isLeader: false }] }],
  ['a Broken Destination', { troubles: [{ id: 'DS1' as never, brokenSince: 1, templateErrorSince: null }] }],
])('%s changes the status alone', async (_, change) => {
  const { after } = await setting();
  expect(await after(change)).toEqual(['system-status/null']);
  expect(await after({})).toEqual([]);
});

test('a recovery changes both, when it begins and when it ends', async () => {
  const { after, clock } = await setting();
  const endedAt = clock.now();
  const downtime = { startedAt: 0, endedAt, recoversUntil: endedAt + 20 * SECOND };
  const both = ['system-notices/null', 'system-status/null'];
  const pulse = { markedAt: endedAt, downtime };
  expect(await after({ pulse })).toEqual(both);
  expect(await after({}, 5)).toEqual([]);
  expect(await after({}, 5)).toEqual([]);
  expect(await after({}, 5)).toEqual(both);
});

test('that nobody leads any more is noticed by the clock alone', async () => {
  const { after } = await setting();
  for (let look = 0; look < 24; look++) expect(await after({})).toEqual([]);
  expect(await after({})).toEqual(['system-notices/null', 'system-status/null']);
});

test('what changed while the database was away is told afterwards', async () => {
  const { after, logged } = await setting();
  expect(await after('away')).toEqual([]);
  expect(logged).toEqual(['store_read_failed']);
  expect(await after({ replicas: [] })).toEqual(['system-status/null']);
});

test('after the stop nobody is told', async () => {
  const { watch, after } = await setting();
  watch.stop();
  expect(await after({ replicas: [] })).toEqual([]);
});
