import type { Clock, Micros } from './clock.ts';

/** Resolves with the work, or when `longest` µs are over; the work itself goes on. */
export async function atMost(clock: Clock, longest: Micros, work: Promise<unknown>): Promise<void> {
  let timer = { cancel: (): void => undefined };
  const late = new Promise<void>((resolve) => {
    timer = clock.after(longest, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
