import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';

const FIRST: Micros = SECOND;
const MOST: Micros = 60 * SECOND;

/** How long to wait before looking whether the feeds have caught up, µs. */
export const BEHIND_PAUSE: Micros = 20_000;
/** How often the whole queue is looked through for what nobody works on, µs. */
export const SWEEP_INTERVAL: Micros = 30 * SECOND;

/** Waits `length` µs. */
export function pause(clock: Clock, length: Micros): Promise<void> {
  return new Promise((resolve) => clock.after(length, resolve));
}

/** Calls `run` every `interval` µs. Returns the way to end that. */
export function repeat(clock: Clock, interval: Micros, run: () => void): () => void {
  let timer = clock.after(interval, tick);
  return () => timer.cancel();

  function tick(): void {
    timer = clock.after(interval, tick);
    run();
  }
}

/** The pauses between attempts while the database is away: 1 s, doubling to 60 s (ingestion §4.2). */
export interface Pauses {
  next(): Promise<void>;
  /** After an attempt that succeeded. */
  reset(): void;
}

export function createPauses(clock: Clock): Pauses {
  let length = FIRST;
  return {
    next() {
      const current = length;
      length = Math.min(length * 2, MOST);
      return pause(clock, current);
    },
    reset() {
      length = FIRST;
    },
  };
}
