import type { Clock, Micros, Timer } from '../../runtime/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on and runs every wait that ends on the way, in order. */
  advance(by: Micros): void;
}

/** A clock that moves only when a test says so. Starts at 2026-10-03T09:41:07Z. */
export function createManualClock(start: Micros = 1_791_020_467_000_000): ManualClock {
  const waits = new Set<{ at: Micros; run: () => void }>();
  let now = start;

  const nextDue = (until: Micros) =>
    [...waits].filter((wait) => wait.at <= until).sort((a, b) => a.at - b.at)[0];

  return {
    now: () => now,
    after(delay, run): Timer {
      const wait = { at: now + Math.max(0, delay), run };
      waits.add(wait);
      return { cancel: () => void waits.delete(wait) };
    },
    advance(by) {
      const until = now + by;
      for (let wait = nextDue(until); wait; wait = nextDue(until)) {
        waits.delete(wait);
        now = Math.max(now, wait.at);
        wait.run();
      }
      now = until;
    },
  };
}
