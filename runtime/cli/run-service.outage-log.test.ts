import { expect, test } from 'vitest';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { SECOND } from '../clock.ts';
import { tellOutagesOnce } from './run-service.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('an outage is told once, however many notice it, and so is its end', async () => {
  const clock = createManualClock();
  const told: string[] = [];
  let isThere = false;
  const ask = async () => {
    if (!isThere) throw new Error('connection refused');
  };
  const log = tellOutagesOnce((event) => void told.push(event), ask, clock);
  const passes = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(SECOND);
      await settled();
    }
  };

  log('database_unavailable', { error: 'first' });
  log('database_unavailable', { error: 'second' });
  log('clock_skew', { skew_seconds: 1 });
  await passes(3);
  log('database_unavailable', { error: 'third' });
  expect(told).toEqual(['database_unavailable', 'clock_skew']);

  isThere = true;
  await passes(2);
  expect(told.slice(2)).toEqual(['database_restored']);

  log('database_unavailable', { error: 'again' });
  await passes(2);
  expect(told.slice(3)).toEqual(['database_unavailable', 'database_restored']);
});
