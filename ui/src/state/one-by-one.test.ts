import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { oneByOne } from './one-by-one.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Reads that take so long, and when each began. */
function reads(takesMs: () => number) {
  const began: number[] = [];
  const over = new AbortController();
  const start = performance.now();
  let underWay = 0;
  let most = 0;
  const ask = oneByOne(
    async () => {
      began.push(performance.now() - start);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, takesMs()));
      underWay--;
    },
    1_000,
    over.signal,
  );
  return { began, over, ask, most: () => most };
}

test('a read begins at once, and the next one when its time has come, however often it is asked for', async () => {
  const { began, ask } = reads(() => 100);
  ask();
  ask();
  await vi.advanceTimersByTimeAsync(500);
  ask();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(began).toEqual([0, 1_000]);
  ask();
  await vi.advanceTimersByTimeAsync(0);
  expect(began).toEqual([0, 1_000, 5_500]);
});

test('after a slow read the next one begins at its end, never beside it', async () => {
  let takes = 2_500;
  const { began, ask, most } = reads(() => takes);
  ask();
  await vi.advanceTimersByTimeAsync(2_000);
  ask();
  takes = 100;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(began).toEqual([0, 2_500]);
  expect(most()).toBe(1);
});

test('when it is over no read begins', async () => {
  const { began, ask, over } = reads(() => 100);
  ask();
  ask();
  over.abort();
  await vi.advanceTimersByTimeAsync(5_000);
  ask();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(began).toEqual([0]);
});

test('a read that throws is reported, and the next one begins when its time has come', async () => {
  const reportError = vi.fn();
  vi.stubGlobal('reportError', reportError);
  const { began, ask } = reads(() => {
    throw new TypeError('an answer of something else');
  });
  ask();
  await vi.advanceTimersByTimeAsync(500);
  ask();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([began, reportError.mock.calls.length]).toEqual([[0, 1_000], 2]);
});
