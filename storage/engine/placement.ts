/** Who may act for a shard: epochs that commits check, and the lock of a process without Redis (operations §5.1, §5.2). */
import type { ShardEpoch } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';
import type { DatabaseSettings } from '../../runtime/config.ts';
import type { SessionLock } from '../../runtime/placement/kept-lock.ts';
import type { EpochStore } from '../../runtime/placement/shard-book.ts';
import { numberArray } from '../postgres/bulk-parameters.ts';
import { openSession, unlessUnavailable } from '../postgres/connection.ts';
import { fencesOf, LOCKS } from '../postgres/locks.ts';
import type { Sql } from '../postgres/records.ts';
import { inTransaction, limitStalls, together } from '../postgres/transaction.ts';

/** How long a commit may hold a fence that somebody else waits for, ms: it takes milliseconds. */
const COMMIT_WITHIN = 1_500;
/** After so many commits were ended the raise is given up. */
const MOST_TRIES = 5;

/**
 * The epochs of shards in the table that every commit checks (operations §5.2 rule 3). Raising one waits for commits
 * under way behind the same fence, and ends those that take too long: of a process that stopped in the middle of a
 * statement the server itself knows only that it is active.
 */
export function createEpochStore(sql: Sql, clock: Clock): EpochStore {
  return {
    newest: () =>
      unlessUnavailable(async () => [
        ...(await sql<{ shard: number; epoch: number }[]>`select shard, epoch from shards order by shard`),
      ]),
    async ownedBy(owner) {
      const rows = await unlessUnavailable(
        () => sql<{ shard: number }[]>`select shard from shards where owner = ${owner} order by shard`,
      );
      return rows.map(({ shard }) => shard);
    },
    raise: (shards, owner) =>
      unlessUnavailable(async () => {
        for (let tries = 1; ; tries++) {
          try {
            return await raise(sql, shards, owner, clock.now());
          } catch (error) {
            if (!isLockTimeout(error) || tries === MOST_TRIES) throw error;
            await endCommits(sql, fencesOf(shards));
          }
        }
      }),
  };
}

async function raise(sql: Sql, shards: readonly number[], owner: string, now: Micros): Promise<ShardEpoch[]> {
  const rows = await inTransaction(sql, async (tx) => {
    // In one go and before anything is locked: nobody commits while a process that stopped in here holds the fences.
    await together(
      limitStalls(tx, COMMIT_WITHIN),
      tx`select set_config('lock_timeout', ${String(COMMIT_WITHIN)}, true)`,
      tx`
        select pg_advisory_xact_lock(${LOCKS.fence}, fence)
        from unnest(${numberArray(fencesOf(shards))}::int[]) with ordinality as f(fence, place) order by place`,
    );
    return tx<{ shard: number; epoch: number }[]>`
      update shards set epoch = epoch + 1, owner = ${owner}, taken_at = ${now}
      where shard = any(${numberArray(shards)}::smallint[])
      returning shard, epoch`;
  });
  return rows.map(({ shard, epoch }) => ({ shard, epoch })).sort((a, b) => a.shard - b.shard);
}

/** Ends the sessions whose transactions have held the fences for too long; their processes open others. */
async function endCommits(sql: Sql, fences: readonly number[]): Promise<void> {
  await sql`
    select pg_terminate_backend(l.pid)
    from pg_locks l
    join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and l.classid = ${LOCKS.fence}
      and l.objid = any(${numberArray(fences)}::int[]::oid[])
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - make_interval(secs => ${COMMIT_WITHIN / 1000})
      and l.pid <> pg_backend_pid()`;
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '55P03';
}

/** Index: shards_pkey. */
export async function readEpochs(sql: Sql, shards: readonly number[]): Promise<ShardEpoch[]> {
  const rows = await sql<{ shard: number; epoch: number }[]>`
    select shard, epoch from shards where shard = any(${numberArray(shards)}::smallint[])`;
  return [...rows];
}

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
