/** Who runs, who leads and who acts for which shard, as the database knows it (operations §5). */
import type { Micros } from '../runtime/clock.ts';
import type { Transaction } from './records.ts';

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
