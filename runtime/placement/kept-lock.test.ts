import { expect, test } from 'vitest';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { SECOND } from '../clock.ts';
import { keepLock } from './kept-lock.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A lock that is held, whose session ends when a test says so. */
function stage() {
  const clock = createManualClock();
  const done: string[] = [];
  let lose: () => void = () => undefined;
  let acquiring: () => Promise<boolean> = async () => true;
  const release = keepLock(
    {
      acquire: () => {
        done.push('acquire');
        return acquiring();
      },
      lost: () =>
        new Promise((resolve) => {
          lose = resolve;
        }),
      release: async () => void done.push('release'),
    },
    clock,
    () => undefined,
  );
  return {
    ...{ clock, done, release },
    async lose() {
      lose();
      await settled();
    },
    acquireBy(by: () => Promise<boolean>) {
      acquiring = by;
    },
  };
}

test('a lost lock is taken again, every second until it is held, and so is the next one', async () => {
  const { clock, done, lose, acquireBy } = stage();
  acquireBy(async () => Promise.reject(new Error('away')));
  await lose();
  acquireBy(async () => true);
  clock.advance(SECOND);
  await settled();
  await lose();
  expect(done).toEqual(['acquire', 'acquire', 'acquire']);
});

test('a released lock is not taken again', async () => {
  const { clock, done, lose, release, acquireBy } = stage();
  acquireBy(async () => false);
  await lose();
  await release();
  clock.advance(5 * SECOND);
  await settled();
  expect(done).toEqual(['acquire', 'release']);
});

test('a lock that is being taken when it is released is given back afterwards', async () => {
  const { clock, done, lose, release, acquireBy } = stage();
  let answer: (isTaken: boolean) => void = () => undefined;
  acquireBy(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  await lose();
  const released = release();
  await settled();
  expect(done).toEqual(['acquire']);
  clock.advance(SECOND);
  await released;
  answer(true);
  await settled();
  expect(done).toEqual(['acquire', 'release', 'release']);
});
