/** The outgoing heartbeat in Postgres: one row that whoever beats takes first (internal-alerts §5). */
import { BEAT_EVERY, type Beat, type HeartbeatStore } from '../actors/system/outgoing-heartbeat.ts';
import type { OutgoingHeartbeatStatus } from '../actors/system/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { Sql, Transaction } from './records.ts';

export function createHeartbeatStore(sql: Sql): HeartbeatStore {
  return {
    async claim(now) {
      const [row] = await sql<Beat[]>`
        update outgoing_heartbeat beat set claimed_at = ${now}
        from organization o
        where o.heartbeat_url is not null
          and (beat.claimed_at is null or beat.claimed_at <= ${now - BEAT_EVERY})
        returning
          o.id as "organizationId", o.heartbeat_url as url, o.heartbeat_proxy as proxy,
          o.heartbeat_proxy_password as "proxyPassword", beat.claimed_at as "claimedAt", beat.ok as "wasOk"`;
      return row ?? null;
    },

    async settle({ claimedAt }, { at, ok, error }) {
      const settled = await sql`
        update outgoing_heartbeat set at = ${at}, ok = ${ok}, error = ${error} where claimed_at = ${claimedAt}`;
      return settled.count > 0;
    },
  };
}

/** What System status shows of it. */
export async function readHeartbeatStatus(sql: Sql | Transaction): Promise<OutgoingHeartbeatStatus> {
  const [row] = await sql<
    { configured: boolean; at: Micros | null; ok: boolean | null; error: string | null }[]
  >`
    select o.heartbeat_url is not null as configured, beat.at, beat.ok, beat.error
    from organization o, outgoing_heartbeat beat`;
  if (!row) return { isConfigured: false, lastAttemptAt: null, lastOk: null, lastError: null };
  return { isConfigured: row.configured, lastAttemptAt: row.at, lastOk: row.ok, lastError: row.error };
}
