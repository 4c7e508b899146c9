import { atMost } from './at-most.ts';
import type { Clock, Micros } from './clock.ts';

/** How long callers wait for one run alone. */
export interface Patience {
  readonly clock: Clock;
  readonly longest: Micros;
}

/** So many runs may be left behind at a time: when none is answered another would not be either. */
const MOST_LEFT = 3;

/**
 * Makes many callers share few runs of a piece of work. Whoever calls while it runs gets the next run, together with
 * all others who call until that begins: everybody sees the result of a run that began after the call.
 * @param patience a run that takes longer is left behind: the next one begins beside it, and whoever waited for the
 *   first gets what comes first. The work has to bear that an older run ends after a newer one. Without it runs do not
 *   overlap
 */
export function shareNext(work: () => Promise<void>, patience?: Patience): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let left = 0;

  /** Resolves with whether the run has ended; if not, it is left behind. */
  const ended = async (own: Promise<void>): Promise<boolean> => {
    let isOver = false;
    // Whoever started the run is told of its failure; here only its end counts.
    const end = own
      .catch(() => undefined)
      .then(() => {
        isOver = true;
      });
    if (patience === undefined || left === MOST_LEFT) await end;
    else await atMost(patience.clock, patience.longest, end);
    if (isOver) return true;
    left++;
    void end.then(() => left--);
    return false;
  };

  const run = (): Promise<void> => {
    next = null;
    const own = work();
    const gate = ended(own);
    const present = gate.then(() => {
      if (running === present) running = null;
    });
    running = present;
    return gate.then((isOver) => (isOver ? own : firstOf(own, call())));
  };

  const call = (): Promise<void> => {
    if (next) return next;
    if (!running) return run();
    next = running.then(run);
    return next;
  };

  return call;
}

/** What the older run gives if it succeeds first, otherwise what the later one does. */
function firstOf(older: Promise<void>, later: Promise<void>): Promise<void> {
  return Promise.race([older.catch(() => later), later]);
}
