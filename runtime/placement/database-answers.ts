import { atMost, type Clock, type Micros, type Monotonic, SECOND, type Timer } from '../clock.ts';
import { LEASE_TTL } from './lease-times.ts';

/** How often the database is asked, and how long an answer may take. */
const ASK_EVERY: Micros = SECOND;
/** Consecutive unanswered queries that take as long as a lease. */
const SILENT_AFTER = LEASE_TTL / ASK_EVERY;

/** Whether the database answers this process. Other replicas may still reach it. */
export interface DatabaseAnswers {
  readonly arrive: boolean;
  /** Whether no question has been answered for as long as a lease lasts. A pause of the process does not count. */
  readonly areMissing: boolean;
}

export interface AskedDatabase extends DatabaseAnswers {
  start(): void;
  stop(): void;
}

export interface AskedDatabaseDeps {
  /** A trivial query. Rejects, or never settles, when there is no answer. */
  ask(): Promise<unknown>;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/** Queries the database every second, independently of the beats. */
export function createDatabaseAnswers({ ask, clock, monotonic }: AskedDatabaseDeps): AskedDatabase {
  let missed = 0;
  let timer: Timer | null = null;
  let isStopped = false;

  const isAnswered = async (): Promise<boolean> => {
    let isThere = false;
    const answer = ask().then(
      () => {
        isThere = true;
      },
      () => undefined,
    );
    await atMost(clock, ASK_EVERY, answer);
    return isThere;
  };
  const round = async (): Promise<void> => {
    const begun = monotonic();
    missed = (await isAnswered()) ? 0 : missed + 1;
    if (!isStopped) timer = clock.after(ASK_EVERY - (monotonic() - begun), () => void round());
  };

  return {
    get arrive() {
      return missed === 0;
    },
    get areMissing() {
      return missed >= SILENT_AFTER;
    },
    start: () => void round(),
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
