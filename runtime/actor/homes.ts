import { type Address, shardOf } from './address.ts';
import type { Batch } from './batch.ts';
import type { Ends } from './ends.ts';
import { elsewhere } from './moved.ts';
import type { Ownership } from './ownership.ts';
import type { Queue } from './queue.ts';
import type { RecentMessage } from './recent.ts';
import type { Recovery } from './recovery.ts';
import { Resident } from './resident.ts';
import type { Residents } from './residents.ts';
import type { ShardEpoch } from './store.ts';

export interface HomesDeps {
  readonly ownership: Ownership;
  readonly residents: Residents;
  readonly queue: Queue;
  readonly ends: Ends;
  recovery(): Recovery;
  isCommitting(): boolean;
  /** Nothing of lost shards is in memory or under way any more. */
  followed(): void;
  /** Commits under these epochs were refused. */
  fenced(lost: readonly ShardEpoch[]): void;
  /** Shards may have been won: rows of before have to be read before anything skips the inbox. */
  ownershipChanged(): void;
  /** The actors in memory agree with ownership again. */
  settledIn(): void;
}

/** Which actors live here: finds them, and follows the shards as they come and go. */
export class Homes {
  readonly #deps: HomesDeps;
  /** Ownership changed since the actors in memory were last compared with it. */
  #isOutdated = false;

  constructor(deps: HomesDeps) {
    this.#deps = deps;
  }

  /** The actor in memory, made if needed; null when another process owns it. */
  find(address: Address): Resident | null {
    const { residents, ownership } = this.#deps;
    const kind = residents.kinds.get(address.kind);
    if (kind === undefined) throw new Error(`there are no actors of kind ${address.kind}`);
    const known = kind.residents.get(address.key);
    if (known !== undefined) return known;
    const shard = shardOf(address);
    const epoch = ownership.epochOf(shard);
    if (epoch === null) return null;
    const resident = new Resident(address, kind, shard, epoch);
    residents.add(resident);
    return resident;
  }

  /** What the actor was given since it was loaded, loading nothing; null when another process owns it. */
  recentOf(address: Address): readonly RecentMessage[] | null {
    const { residents, ownership } = this.#deps;
    const known = residents.kinds.get(address.kind)?.residents.get(address.key);
    if (known !== undefined) return known.recent.list();
    return ownership.epochOf(shardOf(address)) === null ? null : [];
  }

  /**
   * Placement changed: actors of lost shards go, rows and wake-ups of won ones are looked for. A commit under way is
   * let finish first, so that what it holds is either done or back in its mailbox, in order.
   */
  replace(): void {
    this.#isOutdated = true;
    this.#deps.ownershipChanged();
    if (!this.#deps.isCommitting()) this.settle();
  }

  /** The store says that the shards have newer owners. */
  lose(batch: Batch, shards: readonly number[]): void {
    const lost: ShardEpoch[] = [];
    for (const shard of shards) {
      const epoch = batch.epochOf(shard);
      if (epoch !== undefined) lost.push({ shard, epoch });
    }
    this.lost(lost);
  }

  /** The same, when no batch was refused but the store was asked. Call {@link settle} afterwards. */
  lost(lost: readonly ShardEpoch[]): void {
    for (const { shard, epoch } of lost) this.#deps.ownership.lose(shard, epoch);
    this.#isOutdated = true;
    this.#deps.fenced(lost);
  }

  /** Brings the actors in memory in line with ownership. Call it when no commit is under way. */
  settle(): void {
    if (!this.#isOutdated) return;
    this.#isOutdated = false;
    const { ownership, residents } = this.#deps;
    // What gathered chose between memory and inbox by who owned the receivers then.
    this.#deps.recovery().abandonGathering();
    for (const resident of residents.all()) {
      const epoch = ownership.epochOf(resident.shard);
      if (epoch === null) this.drop(resident);
      else if (epoch !== resident.epoch) this.#renew(resident, epoch);
    }
    this.#deps.ownershipChanged();
    this.#deps.settledIn();
    this.#deps.followed();
  }

  /** Takes an actor out of memory for good and refuses what waits for it. */
  drop(resident: Resident): void {
    const { residents, queue, ends } = this.#deps;
    resident.detached = true;
    resident.rest?.cancel();
    resident.rest = null;
    resident.discard();
    residents.remove(resident);
    for (const envelope of queue.takeAll(resident)) {
      if (!envelope.settled) ends.refuse(envelope, elsewhere(resident.self));
    }
  }

  /** The shard was lost and won again: another process may have changed the actor meanwhile. */
  #renew(resident: Resident, epoch: number): void {
    resident.epoch = epoch;
    resident.discard();
    this.#deps.queue.offer(resident);
  }
}
