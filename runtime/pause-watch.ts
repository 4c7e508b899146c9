import { type Clock, type Micros, type Monotonic, SECOND, type Timer } from './clock.ts';

/** How often a watched process shows that it goes on, and from which silence on it counts as having stood still. */
const TICK: Micros = SECOND / 5;
const STOOD_STILL: Micros = SECOND;

/** Since it began, whether the whole process stood still: stopped by a signal, or by the machine beneath it. */
export interface Watch {
  hasPaused(): boolean;
  /** Has to be called: without watches nothing ticks. */
  end(): void;
}

/**
 * Notices that this process stood still. What it knew before may be out of date then, though no time seems to have
 * passed between two of its steps (operations §5.2 rule 2).
 */
export function createPauseWatch(clock: Clock, monotonic: Monotonic): { begin(): Watch } {
  let watches = 0;
  let pauses = 0;
  let tickedAt: Micros = 0;
  let timer: Timer | null = null;

  const isLate = (): boolean => monotonic() - tickedAt > STOOD_STILL;

  const tick = (): void => {
    if (isLate()) pauses++;
    tickedAt = monotonic();
    timer = clock.after(TICK, tick);
  };

  return {
    begin() {
      if (watches++ === 0) {
        tickedAt = monotonic();
        timer = clock.after(TICK, tick);
      }
      const before = pauses;
      return {
        hasPaused: () => pauses !== before || isLate(),
        end() {
          if (--watches > 0) return;
          timer?.cancel();
        },
      };
    },
  };
}
