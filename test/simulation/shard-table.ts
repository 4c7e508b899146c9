import { SHARDS, type ShardEpoch } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { type Member, memberText } from '../../runtime/placement/coordination.ts';
import { RECORD_LAPSES } from '../../runtime/placement/lease-times.ts';
import type { LeaderRecord } from '../../runtime/placement/replica-record.ts';

interface Said {
  readonly member: Member;
  readonly isLeader: boolean;
  readonly refreshedAt: Micros;
}

/** Who raised which shard, and which members say that they live: tables `shards` and `replicas`. */
export class ShardTable {
  readonly epochs: number[];
  readonly owners: (string | null)[];
  /** When the epoch was raised last. */
  readonly takenAt: Micros[];
  readonly records = new Map<string, Said>();

  constructor(shards = SHARDS) {
    this.epochs = new Array(shards).fill(0);
    this.owners = new Array(shards).fill(null);
    this.takenAt = new Array(shards).fill(0);
  }

  raise(shards: readonly number[], owner: string | null = null, now: Micros = 0): ShardEpoch[] {
    return shards.map((shard) => {
      this.owners[shard] = owner;
      this.takenAt[shard] = now;
      return { shard, epoch: ++this.epochs[shard]! };
    });
  }

  newest(): ShardEpoch[] {
    return this.epochs.map((epoch, shard) => ({ shard, epoch }));
  }

  ownedBy(owner: string): number[] {
    return this.owners.flatMap((it, shard) => (it === owner ? [shard] : []));
  }

  refresh(member: Member, now: Micros, isLeader: boolean): void {
    this.records.set(memberText(member), { member, isLeader, refreshedAt: now });
  }

  live(now: Micros): Member[] {
    return this.#fresh(now).map(({ member }) => member);
  }

  leaders(now: Micros): LeaderRecord[] {
    const leaders = this.#fresh(now).filter(({ isLeader }) => isLeader);
    return leaders.map(({ member, refreshedAt }) => ({ ...member, refreshedAt }));
  }

  #fresh(now: Micros): Said[] {
    const fresh = [...this.records.values()].filter(({ refreshedAt }) => now - refreshedAt < RECORD_LAPSES);
    return fresh.sort((a, b) => (memberText(a.member) < memberText(b.member) ? -1 : 1));
  }

  orphans(now: Micros): number[] {
    const live = new Set(this.live(now).map(memberText));
    return this.owners.flatMap((owner, shard) => (owner === null || !live.has(owner) ? [shard] : []));
  }
}
