import { type Clock, SECOND, type Timer } from '../runtime/clock.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import type { SessionLock } from '../runtime/placement/session-lock.ts';
import { openSession, unlessUnavailable } from './connection.ts';
import { LOCKS } from './locks.ts';
import type { Sql } from './records.ts';

/** The server ends the session of a holder from which it hears nothing for this long (operations §5.1 rule 2). */
const IDLE_BOUND = '30s';
/** How often the holder speaks, and how long it waits for the answer before it counts the session as lost. */
const SPEAK_EVERY = 5 * SECOND;
const ANSWER_WITHIN = 5 * SECOND;
/** How long a session may take to say goodbye, s. */
const GOODBYE_S = 1;

export interface SessionLockDeps {
  /** The session connection. */
  readonly settings: DatabaseSettings;
  readonly clock: Clock;
  /** The advisory lock; the one of single-replica installations when absent. */
  readonly key?: number;
  /** Whether others may hold the lock in the same way; nobody may have it alone then. */
  readonly isShared?: boolean;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
}

interface Holding {
  readonly lost: Promise<void>;
  release(): Promise<void>;
}

/**
 * The advisory lock on a session of its own. A holder that was cut off notices within 10 s, well before the server
 * gives the lock to somebody else.
 */
export function createSessionLock(deps: SessionLockDeps): SessionLock {
  let holding: Holding | null = null;
  return {
    async acquire() {
      holding = await unlessUnavailable(() => take(deps));
      return holding !== null;
    },
    lost: () => holding?.lost ?? Promise.resolve(),
    async release() {
      const held = holding;
      holding = null;
      await held?.release();
    },
  };
}

async function take({
  settings,
  clock,
  key = LOCKS.singleReplica,
  isShared = false,
  applicationName = 'tocsin lock',
}: SessionLockDeps): Promise<Holding | null> {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const session = openSession(settings, { applicationName, onClose: () => end() });
  if (!(await tryLock(session, key, isShared))) return null;
  const stopSpeaking = keepSpeaking(session, clock, end);
  let isReleased = false;
  return {
    lost: ended.then(() => {
      stopSpeaking();
      if (isReleased) return new Promise<void>(() => undefined);
      // The client would open another connection, one without the lock.
      void session.end({ timeout: GOODBYE_S });
      return undefined;
    }),
    release: () => {
      isReleased = true;
      stopSpeaking();
      return session.end({ timeout: GOODBYE_S });
    },
  };
}

/** Whether replicas hold the lock of single-replica installations in the shared way. */
export async function hasSharedHolders(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from pg_locks
    where locktype = 'advisory' and classid = 0 and objid = ${LOCKS.singleReplica} and mode = 'ShareLock' and granted
      and database = (select oid from pg_database where datname = current_database())`;
  return rows.length > 0;
}

/** Ends the session when the lock was not to be had. */
async function tryLock(session: Sql, key: number, isShared: boolean): Promise<boolean> {
  let taken = false;
  try {
    const [row] = await session<{ taken: boolean }[]>`
      select set_config('idle_session_timeout', ${IDLE_BOUND}, false),
        case when ${isShared} then pg_try_advisory_lock_shared(${key}) else pg_try_advisory_lock(${key}) end as taken`;
    taken = row?.taken ?? false;
  } finally {
    if (!taken) await session.end({ timeout: GOODBYE_S });
  }
  return taken;
}

/** Asks the session something now and then; `end` is called when it does not answer. */
function keepSpeaking(session: Sql, clock: Clock, end: () => void): () => void {
  let timer: Timer | null = null;
  const speak = () => {
    timer = clock.after(ANSWER_WITHIN, end);
    session`select 1`.then(next, end);
  };
  const next = () => {
    timer?.cancel();
    timer = clock.after(SPEAK_EVERY, speak);
  };
  next();
  return () => timer?.cancel();
}
