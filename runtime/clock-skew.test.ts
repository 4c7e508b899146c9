import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createManualClock } from '../test/fakes/manual-clock.ts';
import { MINUTE, type Micros, SECOND } from './clock.ts';
import { createClockSkew, createClockSkewMetrics } from './clock-skew.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

function setting() {
  const clock = createManualClock();
  const registry = new Registry();
  const logged: unknown[] = [];
  /** How far the database is behind, how long its answer takes, and whether there is one. */
  const database = { behind: 0 as Micros, trip: 0 as Micros, isAway: false };
  const skew = createClockSkew({
    clock,
    metrics: createClockSkewMetrics(registry),
    async databaseNow() {
      if (database.isAway) throw new Error('away');
      // The clock that called is through by then.
      await Promise.resolve();
      clock.advance(database.trip / 2);
      const theirs = clock.now() - database.behind;
      clock.advance(database.trip / 2);
      return theirs;
    },
    log: (event, fields) => logged.push([event, fields]),
  });
  const shown = async () => {
    const text = await registry.metrics();
    return /^svc_clock_skew_seconds (.*)$/m.exec(text)?.[1] ?? null;
  };
  const compare = async (behind: Micros, more: { trip?: Micros; isAway?: boolean } = {}) => {
    Object.assign(database, { trip: 0, isAway: false, ...more, behind });
    clock.advance(MINUTE);
    await settled();
  };
  return { skew, compare, shown, logged };
}

test('nothing is shown before the first comparison', async () => {
  const { shown } = setting();
  expect(await shown()).toBeNull();
});

test('the clocks are compared at once and every minute, half the way of the answer taken off', async () => {
  const { skew, compare, shown } = setting();
  skew.start();
  await settled();
  expect(await shown()).toBe('0');
  await compare(1.5 * SECOND, { trip: SECOND / 2 });
  expect(await shown()).toBe('1.5');
  await compare(-0.5 * SECOND);
  expect(await shown()).toBe('-0.5');
});

test('more than 2 s is a warning once per excursion, in both directions', async () => {
  const { skew, compare, logged } = setting();
  skew.start();
  await settled();
  await compare(2 * SECOND);
  expect(logged).toEqual([]);
  await compare(2.1 * SECOND);
  await compare(3 * SECOND);
  expect(logged).toEqual([['clock_skew', { skew_seconds: 2.1, warning_seconds: 2 }]]);
  await compare(0);
  await compare(-4 * SECOND);
  expect(logged.slice(1)).toEqual([['clock_skew', { skew_seconds: -4, warning_seconds: 2 }]]);
});

test('a slow answer says nothing, a missing one is logged, and the last comparison stands', async () => {
  const { skew, compare, shown, logged } = setting();
  skew.start();
  await settled();
  await compare(SECOND);
  await compare(9 * SECOND, { trip: 1.1 * SECOND });
  await compare(9 * SECOND, { isAway: true });
  expect(await shown()).toBe('1');
  expect(logged).toEqual([['store_read_failed', { what: 'clock', error: 'Error: away' }]]);
});

test('after the stop the clocks are not compared any more', async () => {
  const { skew, compare, shown } = setting();
  skew.start();
  await settled();
  skew.stop();
  await compare(SECOND);
  expect(await shown()).toBe('0');
});
