/**
 * The clock of a scenario: business time moves only when the harness says so, in one jump, and waits that end on the
 * way run once, late, in the order of their ends, as after a stall.
 *
 * Shorter waits are technical: an answer of the database, a retry, a pool. They go on by real time while business time
 * stands still, and a jump does not end them: nobody was silent for so long. The engine's wake-ups are among them, so
 * whoever jumps makes it look.
 */
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';

/** Shorter waits are technical. */
const TECHNICAL = 10 * SECOND;

/** Saturday 2026-10-03T00:00:00Z. */
export const SCENARIOS_BEGIN: Micros = Date.UTC(2026, 9, 3) * 1000;

export interface ScenarioClock extends Clock {
  /** Business time becomes `at`; waits that end until then run, the technical ones apart. Going back is refused. */
  jumpTo(at: Micros): void;
  /** Somebody sets the wall clock back; no wait notices. */
  setBack(by: Micros): void;
  /** Forgets every wait, for a service that was stopped. */
  forgetWaits(): void;
}

interface Wait {
  readonly endsAt: Micros;
  run(): void;
}

export function createScenarioClock(start: Micros = SCENARIOS_BEGIN): ScenarioClock {
  let now = start;
  const waits = new Set<Wait>();

  return {
    now: () => now,
    after(delay, run): Timer {
      if (delay < TECHNICAL) {
        const handle = setTimeout(run, Math.max(0, delay) / 1000);
        handle.unref();
        return { cancel: () => clearTimeout(handle) };
      }
      const wait = { endsAt: now + delay, run };
      waits.add(wait);
      return { cancel: () => void waits.delete(wait) };
    },
    jumpTo(at) {
      if (at < now) throw new Error(`the clock stands at ${now} and cannot go back to ${at}`);
      now = at;
      const ended = [...waits].filter((wait) => wait.endsAt <= at);
      ended.sort((left, right) => left.endsAt - right.endsAt);
      for (const wait of ended) if (waits.delete(wait)) wait.run();
    },
    setBack(by) {
      now -= by;
    },
    forgetWaits: () => waits.clear(),
  };
}
