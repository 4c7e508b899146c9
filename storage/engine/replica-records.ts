/** Which replicas live by their own records, which shards nobody owns, and how the doctor sees both (operations §5). */
import { HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { Member } from '../../runtime/placement/coordination.ts';
import { RECORD_LAPSES } from '../../runtime/placement/lease-times.ts';
import type {
  LeaderRecord,
  ReplicaRecord,
  ReplicaRecordStore,
  ReplicaRecords,
} from '../../runtime/placement/replica-record.ts';
import { unlessUnavailable } from '../postgres/connection.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

/** A replica counts as live for this long after it refreshed its record. */
export const LIVE_FOR: Micros = 2 * MINUTE;
/** Records silent for this long are of no use to anybody. */
const KEPT_FOR: Micros = HOUR;

export interface LiveReplicaRecord extends ReplicaRecord {
  readonly refreshedAt: Micros;
}

interface ReplicaRow {
  readonly id: string;
  readonly boot: string;
  readonly version: string;
  readonly revision: string;
  readonly key_ids: readonly string[];
  readonly is_leader: boolean;
  readonly has_redis: boolean;
  readonly started_at: Micros;
  readonly refreshed_at: Micros;
}

export function createReplicaRecordStore(sql: Sql): ReplicaRecordStore {
  return {
    write: (record, now) => writeRecord(sql, record, now),
    async remove({ id, boot }) {
      // With those of earlier runs of the id that were killed: they are over, and would be shown in its place.
      await sql`
        delete from replicas
        where id = ${id} and started_at <= (select started_at from replicas where id = ${id} and boot = ${boot})`;
    },
  };
}

/** Replica records in PostgreSQL, which placement uses without Redis. */
export function createReplicaRecords(sql: Sql): ReplicaRecords {
  return {
    live: (now) =>
      unlessUnavailable(
        () => sql<Member[]>`
          select id, boot from replicas where refreshed_at >= ${now - RECORD_LAPSES} order by id, boot`,
      ),
    leaders: (now) =>
      unlessUnavailable(
        () => sql<LeaderRecord[]>`
          select id, boot, refreshed_at as "refreshedAt" from replicas
          where is_leader and refreshed_at >= ${now - RECORD_LAPSES} order by id, boot`,
      ),
    orphans: (now) => unlessUnavailable(() => orphanedShards(sql, now)),
  };
}

/** Replicas whose record was refreshed within {@link LIVE_FOR}, by id and start. */
export async function liveReplicas(
  sql: Sql | Transaction,
  now: Micros,
): Promise<readonly LiveReplicaRecord[]> {
  const rows = await sql<ReplicaRow[]>`
    select * from replicas where refreshed_at >= ${now - LIVE_FOR} order by id, started_at`;
  return rows.map((row) => ({
    id: row.id,
    boot: row.boot,
    version: row.version,
    revision: row.revision,
    keyIds: row.key_ids,
    isLeader: row.is_leader,
    hasRedis: row.has_redis,
    startedAt: row.started_at,
    refreshedAt: row.refreshed_at,
  }));
}

/** Shards whose owner has no record refreshed within `RECORD_LAPSES`, whether it died, let go of them or never was. */
export async function orphanedShards(sql: Sql, now: Micros): Promise<readonly number[]> {
  const rows = await sql<{ shard: number }[]>`
    select shard from shards s
    where not exists (
      select 1 from replicas r
      where r.id || '/' || r.boot = s.owner and r.refreshed_at >= ${now - RECORD_LAPSES}
    )
    order by shard`;
  return rows.map(({ shard }) => shard);
}

/** Removes records that were not refreshed for an hour. @returns whose they were, `id/boot` */
export async function pruneReplicaRecords(sql: Sql, now: Micros): Promise<readonly string[]> {
  const rows = await sql<{ member: string }[]>`
    delete from replicas where refreshed_at < ${now - KEPT_FOR} returning id || '/' || boot as member`;
  return rows.map(({ member }) => member);
}

async function writeRecord(sql: Sql, record: ReplicaRecord, now: Micros): Promise<string> {
  const [row] = await sql<{ active_key_id: string }[]>`
    with written as (
      insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
      values (
        ${record.id}, ${record.boot}, ${record.version}, ${record.revision}, ${[...record.keyIds]}::text[],
        ${record.isLeader}, ${record.hasRedis}, ${record.startedAt}, ${now}
      )
      on conflict (id, boot) do update
        set key_ids = excluded.key_ids, is_leader = excluded.is_leader, has_redis = excluded.has_redis,
          refreshed_at = excluded.refreshed_at
    )
    select active_key_id from keyring`;
  if (!row) throw new Error('the keyring is missing: the ensure steps have not run');
  return row.active_key_id;
}

/** Who runs, who leads and who acts for which shard, as the database knows it (operations §5). */
export interface ReplicaView {
  /** Every record of a run, whether it still lives or not; by id, the newest run of an id first. */
  readonly records: readonly RecordView[];
  readonly shards: readonly ShardView[];
  /** The last sign of life of a Leader; null before there was one. */
  readonly aliveMarkedAt: Micros | null;
}

export interface RecordView {
  readonly id: string;
  readonly boot: string;
  readonly version: string;
  readonly keyIds: readonly string[];
  readonly isLeader: boolean;
  readonly hasRedis: boolean;
  readonly startedAt: Micros;
  readonly refreshedAt: Micros;
}

export interface ShardView {
  readonly shard: number;
  /** `id/boot` of a run; null before anybody took it. */
  readonly owner: string | null;
  readonly takenAt: Micros | null;
}

export async function readReplicaView(tx: Transaction): Promise<ReplicaView> {
  const records = await tx<RecordView[]>`
    select id, boot, version, key_ids as "keyIds", is_leader as "isLeader", has_redis as "hasRedis",
      started_at as "startedAt", refreshed_at as "refreshedAt"
    from replicas order by id, started_at desc`;
  const shards = await tx<ShardView[]>`
    select shard, owner, taken_at as "takenAt" from shards order by shard`;
  const [mark] = await tx<{ at: Micros }[]>`select at from alive_mark`;
  return { records: [...records], shards: [...shards], aliveMarkedAt: mark?.at ?? null };
}
