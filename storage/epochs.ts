import type { ShardEpoch } from '../runtime/actor/index.ts';
import type { Clock, Micros } from '../runtime/clock.ts';
import type { EpochStore } from '../runtime/placement/epoch-store.ts';
import { numberArray } from './array-literals.ts';
import { limitStalls } from './commit-patience.ts';
import { unlessUnavailable } from './connection.ts';
import { fencesOf, LOCKS } from './locks.ts';
import type { Sql } from './records.ts';
import { together } from './together.ts';
import { inTransaction } from './transaction.ts';

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
