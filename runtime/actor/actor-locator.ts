import { type Address, shardOf } from './address.ts';
import type { Batch } from './batch.ts';
import type { MessageCompletion } from './message-completion.ts';
import type { Ownership } from './ownership.ts';
import type { Queue } from './queue.ts';
import type { Told } from './recent.ts';
import type { Recovery } from './recovery.ts';
import { Resident } from './resident.ts';
import type { Residents } from './residents.ts';
import type { ShardEpoch } from './store.ts';
import { elsewhere } from './system.ts';

export interface ActorLocatorDeps {
  readonly ownership: Ownership;
  readonly residents: Residents;
  readonly queue: Queue;
  readonly completion: MessageCompletion;
  recovery(): Recovery;
  isCommitting(): boolean;
  /** No actor or commit of a lost shard is left in this process. */
  followed(): void;
  /** Commits under these epochs were refused. */
  fenced(lost: readonly ShardEpoch[]): void;
  /** Shards may have been acquired: their stored inbox rows are read before any message skips the inbox. */
  ownershipChanged(): void;
  /** The actors in memory agree with ownership again. */
  settledIn(): void;
}

/** Finds the actors of the shards that this process owns, and follows changes of ownership. */
export class ActorLocator {
  readonly #deps: ActorLocatorDeps;
  /** Ownership changed since the actors in memory were last compared with it. */
  #isOutdated = false;

  constructor(deps: ActorLocatorDeps) {
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

  /** The latest messages of the actor since it was loaded, and how many wait. Loads nothing; null: another owns it. */
  recentOf(address: Address): Told | null {
    const { residents, ownership } = this.#deps;
    const known = residents.kinds.get(address.kind)?.residents.get(address.key);
    if (known !== undefined) return { messages: known.recent.list(), waiting: known.waiting };
    return ownership.epochOf(shardOf(address)) === null ? null : { messages: [], waiting: 0 };
  }

  /**
   * Placement changed: actors of lost shards leave memory, inbox rows and wake-ups of acquired ones are read. A commit
   * in flight finishes first, so each of its messages is either done or back in its mailbox, in order.
   */
  replace(): void {
    this.#isOutdated = true;
    this.#deps.ownershipChanged();
    if (!this.#deps.isCommitting()) this.settle();
  }

  /** A commit of the batch was refused because these shards have newer owners. */
  lose(batch: Batch, shards: readonly number[]): void {
    const lost: ShardEpoch[] = [];
    for (const shard of shards) {
      const epoch = batch.epochOf(shard);
      if (epoch !== undefined) lost.push({ shard, epoch });
    }
    this.lost(lost);
  }

  /** As {@link lose}, when the store was asked and no commit was refused. Call {@link settle} afterwards. */
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
    // The open batch chose between memory and inbox by who owned the receivers then.
    this.#deps.recovery().abandonOpenBatch();
    for (const resident of residents.all()) {
      const epoch = ownership.epochOf(resident.shard);
      if (epoch === null) this.drop(resident);
      else if (epoch !== resident.epoch) this.#renew(resident, epoch);
    }
    this.#deps.ownershipChanged();
    this.#deps.settledIn();
    this.#deps.followed();
  }

  /** Removes an actor from memory and refuses the messages that wait for it. */
  drop(resident: Resident): void {
    const { residents, queue, completion } = this.#deps;
    resident.detached = true;
    resident.rest?.cancel();
    resident.rest = null;
    resident.discard();
    residents.remove(resident);
    for (const envelope of queue.takeAll(resident)) {
      if (!envelope.settled) completion.refuse(envelope, elsewhere(resident.self));
    }
  }

  /** The shard was lost and won again: another process may have changed the actor meanwhile. */
  #renew(resident: Resident, epoch: number): void {
    resident.epoch = epoch;
    resident.discard();
    this.#deps.queue.offer(resident);
  }
}
