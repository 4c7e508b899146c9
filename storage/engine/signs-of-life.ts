/** Signs of life: the Leader's mark, downtimes (operations §6), and the outgoing heartbeat (internal-alerts §5). */
import { ALERT_GROUP, type Downtime } from '../../actors/alert-group/messages.ts';
import {
  downtimeEnding,
  type LastSigns,
  OUTAGE_FROM,
  type Pulse,
  type Downtime as RecordedDowntime,
} from '../../actors/system/downtime.ts';
import { BEAT_EVERY, type Beat, type HeartbeatStore } from '../../actors/system/outgoing-heartbeat.ts';
import type { OutgoingHeartbeatStatus } from '../../actors/system/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { type Member, memberText } from '../../runtime/placement/coordination.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

/**
 * Writes the Leader's sign of life, and the outage and the downtime that end with it. Each statement stands for itself:
 * a process that is frozen in between locks nobody out.
 * @returns that downtime, or null; of Leaders that find the same one only one gets it
 */
export async function markAlive(sql: Sql, me: Member, now: Micros): Promise<RecordedDowntime | null> {
  const signs = await signsOfLife(sql, me);
  const { markedAt } = signs;
  const downtime = downtimeEnding(now, signs);
  if (downtime === null) {
    await sql`
      insert into alive_mark (at, replica) values (${now}, ${memberText(me)})
      on conflict (singleton) do update
        set at = greatest(alive_mark.at, excluded.at), replica = excluded.replica, outages = ${outagesWith(sql, now)}`;
    return null;
  }
  const recorded = await sql`
    with marked as (
      update alive_mark set at = ${now}, replica = ${memberText(me)}, outages = ${outagesWith(sql, now)}
      where at = ${markedAt}
      returning at
    )
    insert into downtimes (started_at, ended_at, recovers_until, told_started_at, told_number)
    select ${downtime.startedAt}, ${downtime.endedAt}, ${downtime.recoversUntil}, ${downtime.endedAt}, ${EVERY_NUMBER}
    from marked`;
  return recorded.count > 0 ? downtime : null;
}

/** Outages that are kept. Older ones are forgotten: an Alert rarely sees so many before it is stale. */
const MOST_OUTAGES = 64;

/** The recorded outages, with the one that a sign of life ends. */
function outagesWith(sql: Sql, now: Micros) {
  return sql`case when ${now}::bigint - alive_mark.at > ${OUTAGE_FROM}
    then jsonb_path_query_array(alive_mark.outages, ${`$[last - ${MOST_OUTAGES - 2} to last]`}::jsonpath)
      || jsonb_build_object('from', alive_mark.at, 'to', ${now}::bigint)
    else alive_mark.outages end`;
}

/** The last recorded downtime; null: there was none. */
export async function readLastDowntime(
  sql: Sql,
): Promise<{ readonly startedAt: Micros; readonly endedAt: Micros } | null> {
  // index: downtimes_pkey
  const [row] = await sql<{ startedAt: Micros; endedAt: Micros }[]>`
    select started_at as "startedAt", ended_at as "endedAt" from downtimes order by id desc limit 1`;
  return row ?? null;
}

/** Above all of them: everything that started by the end of a downtime is told of it. */
const EVERY_NUMBER = Number.MAX_SAFE_INTEGER;
/** Alert Groups told in one statement. */
const PAGE_GROUPS = 1_000;

/**
 * Tells open Alert Groups of a recorded downtime, a page of the newest that nobody has told yet. The statement moves the
 * cursor and writes the messages, so that each group gets one, whoever crashes in between and however many lead.
 * @returns false once all of them are told of all downtimes
 */
export async function tellDowntime(sql: Sql, now: Micros, limit = PAGE_GROUPS): Promise<boolean> {
  // index: alert_groups_open
  const moved = await sql`
    with due as (
      select * from downtimes where told_started_at is not null order by id limit 1 for update
    ), page as (
      select g.*, row_number() over (order by g.started_at desc, g.number desc) as place
      from due, lateral (
        select id, started_at, number from alert_groups
        where status <> 'resolved' and (started_at, number) < (due.told_started_at, due.told_number)
        order by started_at desc, number desc
        limit ${limit}
      ) g
    ), told as (
      insert into inbox (shard, receiver_kind, receiver_key, sender, message, created_at)
      select a.shard, a.kind, a.key, null,
        jsonb_build_object(
          'type', ${'downtime' satisfies Downtime['type']}::text, 'from', due.started_at, 'to', due.ended_at
        ),
        ${now}
      from due, page join actors a on a.kind = ${ALERT_GROUP} and a.key = page.id
      order by page.place
    )
    update downtimes d
    set told_started_at = last.started_at, told_number = last.number
    from due left join page last on last.place = ${limit}
    where d.id = due.id`;
  return moved.count > 0;
}

/** What notices are made of. */
export async function readPulse(sql: Sql | Transaction): Promise<Pulse> {
  // index: downtimes_pkey
  const [row] = await sql<
    {
      marked_at: Micros | null;
      started_at: Micros | null;
      ended_at: Micros | null;
      recovers_until: Micros | null;
    }[]
  >`
    select
      (select at from alive_mark) as marked_at, latest.started_at, latest.ended_at, latest.recovers_until
    from (select) as always
    left join (select * from downtimes order by id desc limit 1) latest on true`;
  if (!row) throw new Error('a statement without a condition gave no row');
  const { started_at: startedAt, ended_at: endedAt, recovers_until: recoversUntil } = row;
  const isWhole = startedAt !== null && endedAt !== null && recoversUntil !== null;
  return { markedAt: row.marked_at, downtime: isWhole ? { startedAt, endedAt, recoversUntil } : null };
}

async function signsOfLife(sql: Sql, me: Member): Promise<LastSigns> {
  const [row] = await sql<{ marked_at: Micros; others_at: Micros | null; longest_repeat: Micros | null }[]>`
    select
      mark.at as marked_at,
      (
        select max(l.repeat_interval)
        from learned_repeats l join integrations i on i.id = l.integration_id and i.deleted_at is null
      ) as longest_repeat,
      (
        select max(refreshed_at) from replicas
        where started_at <= mark.at and (id, boot) <> (${me.id}, ${me.boot})
      ) as others_at
    from alive_mark mark`;
  return {
    markedAt: row?.marked_at ?? null,
    othersAliveAt: row?.others_at ?? null,
    longestRepeat: row?.longest_repeat ?? null,
  };
}

/** The outgoing heartbeat in Postgres: one row that whoever beats takes first (internal-alerts §5). */
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
