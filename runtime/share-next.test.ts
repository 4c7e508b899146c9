import { expect, test } from 'vitest';
import { createManualClock } from '../test/fakes/manual-clock.ts';
import { type Micros, SECOND } from './clock.ts';
import { shareNext } from './share-next.ts';

function heldWork(longest: Micros | null = null) {
  const clock = createManualClock();
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const call = shareNext(
    () => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })),
    longest === null ? undefined : { clock, longest },
  );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, ends, call, settled };
}

test('callers during a run share the next one, which begins when the present one has ended', async () => {
  const { ends, call, settled } = heldWork();
  const first = call();
  const [second, third] = [call(), call()];
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await first;
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.resolve();
  await Promise.all([second, third]);
  expect(ends).toHaveLength(2);
});

test('a failed run is told to its own callers only', async () => {
  const { ends, call, settled } = heldWork();
  const first = call();
  const second = call();
  ends[0]?.reject(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await settled();
  ends[1]?.resolve();
  await second;
});

test('a call after everything has ended runs at once', async () => {
  const { ends, call, settled } = heldWork();
  void call();
  void call();
  ends[0]?.resolve();
  await settled();
  ends[1]?.resolve();
  await settled();
  void call();
  expect(ends).toHaveLength(3);
});

test('a run without an end is left behind: whoever waited for it, or for the next one, gets the next one', async () => {
  const { clock, ends, call, settled } = heldWork(SECOND);
  const [first, second] = [call(), call()];
  clock.advance(SECOND - 1);
  await settled();
  expect(ends).toHaveLength(1);
  clock.advance(1);
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.resolve();
  await Promise.all([first, second]);
});

test('a run that was left behind counts for its caller when it succeeds first, and its failure does not', async () => {
  const { clock, ends, call, settled } = heldWork(SECOND);
  const first = call();
  clock.advance(SECOND);
  await settled();
  const second = call();
  ends[0]?.resolve();
  await first;
  clock.advance(SECOND);
  await settled();
  ends[1]?.reject(new Error('late'));
  await settled();
  ends[2]?.resolve();
  await second;
});

test('when nothing is answered no more than four runs are under way', async () => {
  const { clock, ends, call, settled } = heldWork(SECOND);
  void call();
  for (let second = 0; second < 10; second++) {
    clock.advance(SECOND);
    await settled();
  }
  expect(ends).toHaveLength(4);
});
