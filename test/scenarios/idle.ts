/** When nothing is left to do: the service keeps everything that has to happen in rows, so they tell. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Micros } from '../../runtime/clock.ts';
import type { Sql } from '../../storage/postgres/records.ts';

export interface Work {
  /** Snapshots that wait for their feed. */
  readonly snapshots: number;
  /** Messages between actors. */
  readonly messages: number;
  /** Webhook calls and calls about messages under way. */
  readonly calls: number;
  /** Wake-ups that are due. */
  readonly due: number;
  /** The earliest wake-up to come. */
  readonly next: Micros | null;
}

/** By real time, ms. */
const LONGEST = 10_000;
const LOOK_AGAIN = 2;

export async function workAt(sql: Sql, now: Micros): Promise<Work> {
  const [row] = await sql<Work[]>`
    select
      (select count(*)::int from snapshot_queue) as snapshots,
      (select count(*)::int from inbox) as messages,
      (select count(*)::int from webhook_events where finished_at is null and state = 'sending') +
        (select count(*)::int from deliveries where wanted and kept ->> 'call' is not null) as calls,
      (select count(*)::int from actors where wake_at <= ${now}) as due,
      (select min(wake_at) from actors where wake_at > ${now}) as next`;
  if (!row) throw new Error('a statement without a condition gave no row');
  return row;
}

/**
 * Resolves once there is nothing to do at this moment, with the earliest moment at which there will be.
 * @throws when that takes too long, with what is left
 */
export async function untilIdle(sql: Sql, now: () => Micros, poke: () => void): Promise<Micros | null> {
  const until = performance.now() + LONGEST;
  for (let look = 1; ; look++) {
    const work = await workAt(sql, now());
    if (work.snapshots + work.messages + work.calls + work.due === 0) return work.next;
    if (performance.now() > until) {
      const due = await sql`select kind, key, wake_at from actors where wake_at <= ${now()} limit 5`;
      throw new Error(`the service does not come to rest: ${JSON.stringify({ ...work, due: [...due] })}`);
    }
    // What a test put there by hand, nobody announced.
    if (look % 25 === 0) poke();
    await pause(LOOK_AGAIN);
  }
}
