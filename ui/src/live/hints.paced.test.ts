import { expect, it } from 'vitest';
import { paced } from './hints.ts';

it('runs at once, then at most once a period, and once more for calls in between', () => {
  const due: (() => void)[] = [];
  let runs = 0;
  const call = paced(
    () => {
      runs += 1;
    },
    1_000,
    (run) => due.push(run),
  );
  for (let n = 0; n < 5; n += 1) call();
  expect(runs).toBe(1);
  due.shift()?.();
  expect(runs).toBe(2);
  due.shift()?.();
  expect(runs).toBe(2);
  call();
  expect(runs).toBe(3);
});

it('runs again a period after a run that threw', () => {
  const due: (() => void)[] = [];
  let runs = 0;
  const call = paced(
    () => {
      runs += 1;
      if (runs === 1) throw new TypeError('a fault');
    },
    1_000,
    (run) => due.push(run),
  );
  expect(call).toThrow('a fault');
  call();
  due.shift()?.();
  expect(runs).toBe(2);
});
