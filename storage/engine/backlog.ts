/** What waits in the database to be worked on: for the doctor, the System status, and timers of Alert Groups. */
import { ALERT_GROUP } from '../../actors/alert-group/messages.ts';
import { TOLERATED } from '../../actors/system/downtime.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { WaitingWork } from '../../runtime/wakeup-gate.ts';
import { numberArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';

/** Rows beyond are not counted: counting would read them all. */
export const COUNTED_AT_MOST = 1_000_000;

export interface Waiting {
  /** At most {@link COUNTED_AT_MOST}. */
  readonly count: number;
  /** Since when the oldest waits; null when nothing does. */
  readonly since: Micros | null;
}

export interface Backlog {
  /** Stored Snapshots that were not processed yet. */
  readonly snapshots: Waiting;
  /** Messages between actors that were not received yet. */
  readonly messages: Waiting;
  /** Actors whose wake-up is due; `since` is the earliest. */
  readonly wakeUps: Waiting;
}

/** Reads what waits; a queue of any length takes a moment. */
export async function readBacklog(tx: Transaction, now: Micros): Promise<Backlog> {
  // Snapshots are numbered as they are stored: the lowest number is, within milliseconds, the oldest.
  const [snapshots] = await tx<Waiting[]>`
    select
      (select count(*) from (select from snapshot_queue limit ${COUNTED_AT_MOST}) as counted) as count,
      (select received_at from snapshot_queue order by seq limit 1) as since`;
  const [messages] = await tx<Waiting[]>`
    select
      (select count(*) from (select from inbox limit ${COUNTED_AT_MOST}) as counted) as count,
      (select created_at from inbox order by seq limit 1) as since`;
  // index: actors_wake
  const [wakeUps] = await tx<Waiting[]>`
    select
      (select count(*) from (select from actors where wake_at <= ${now} limit ${COUNTED_AT_MOST}) as due) as count,
      (select wake_at from actors where wake_at <= ${now} order by wake_at limit 1) as since`;
  return { snapshots: snapshots ?? NOTHING, messages: messages ?? NOTHING, wakeUps: wakeUps ?? NOTHING };
}

const NOTHING: Waiting = { count: 0, since: null };

/** What has to be applied before timers of Alert Groups may fire (internal-alerts §7 rule 6). */
export function createWaitingWork(sql: Sql): WaitingWork {
  return {
    async isDowntimeUntold(now) {
      const [row] = await sql<{ untold: boolean }[]>`
        select
          exists (select from alive_mark where at < ${now - TOLERATED})
          or exists (select from downtimes where told_started_at is not null) as untold`;
      return row?.untold ?? false;
    },
    // index: snapshot_queue_pkey
    async newestSnapshot() {
      const [row] = await sql<{ seq: number }[]>`select seq from snapshot_queue order by seq desc limit 1`;
      return row?.seq ?? null;
    },
    async hasSnapshots(upTo) {
      const found = await sql`select from snapshot_queue where seq <= ${upTo} order by seq limit 1`;
      return found.length > 0;
    },
    // index: inbox_pkey or inbox_by_shard, whichever is shorter for as many as wait
    async newestMessage(shards) {
      const [row] = await inPlannedSnapshot(
        sql,
        (tx) => tx<{ seq: number }[]>`
          select seq from inbox
          where shard = any(${numberArray(shards)}::smallint[]) and receiver_kind = ${ALERT_GROUP}
          order by seq desc limit 1`,
      );
      return row?.seq ?? null;
    },
    async hasMessages(shards, upTo) {
      const found = await inPlannedSnapshot(
        sql,
        (tx) => tx`
          select from inbox
          where shard = any(${numberArray(shards)}::smallint[]) and receiver_kind = ${ALERT_GROUP} and seq <= ${upTo}
          order by seq limit 1`,
      );
      return found.length > 0;
    },
  };
}

/** Up to how many waiting Snapshots are counted one by one: a few milliseconds. */
const COUNTED_EXACTLY = 100_000;

/**
 * How many Snapshots wait to be processed: exactly up to 100,000. Beyond, it is the server's own estimate, which follows
 * every commit within a second; as a crash of the server makes it forget, it never counts less than was seen.
 */
export async function countWaitingSnapshots(sql: Sql | Transaction): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select case
      when counted.waiting <= ${COUNTED_EXACTLY} then counted.waiting
      else greatest(counted.waiting, pg_stat_get_live_tuples('snapshot_queue'::regclass))
    end as waiting
    from (
      select count(*) as waiting from (select from snapshot_queue limit ${COUNTED_EXACTLY + 1}) as first_rows
    ) as counted`;
  return row?.waiting ?? 0;
}
