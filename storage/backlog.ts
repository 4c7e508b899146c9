/** What waits in the database to be worked on. */
import type { Micros } from '../runtime/clock.ts';
import type { Transaction } from './records.ts';

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
