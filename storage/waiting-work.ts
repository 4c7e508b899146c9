/** What has to be applied before timers of Alert Groups may fire (internal-alerts §7 rule 6). */
import { ALERT_GROUP } from '../actors/alert-group/messages.ts';
import { TOLERATED } from '../actors/system/downtime.ts';
import type { WaitingWork } from '../runtime/overdue.ts';
import { numberArray } from './array-literals.ts';
import type { Sql } from './records.ts';

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
    // index: inbox_by_shard
    async newestMessage(shards) {
      const [row] = await sql<{ newest: number | null }[]>`
        select max(seq) as newest from inbox
        where shard = any(${numberArray(shards)}::smallint[]) and receiver_kind = ${ALERT_GROUP}`;
      return row?.newest ?? null;
    },
    async hasMessages(shards, upTo) {
      const found = await sql`
        select from inbox
        where shard = any(${numberArray(shards)}::smallint[]) and receiver_kind = ${ALERT_GROUP} and seq <= ${upTo}
        limit 1`;
      return found.length > 0;
    },
  };
}
