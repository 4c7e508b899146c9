/** The shards of this replica: which are owned under which epoch, which are moving, and when one is given up. */
import { SHARDS, type ShardEpoch } from '../actor/index.ts';
import type { Micros, Monotonic } from '../clock.ts';
import type { Member, Picture } from './coordination.ts';
import type { DatabaseAnswers } from './database-answers.ts';
import { CALLS_WITHIN, LEASE_TTL } from './lease-times.ts';

/** What a picture requires of this member. Every shard is in one list at most. */
export interface Moves {
  /** Granted and assigned to this member: owned once their epochs are raised. */
  readonly take: readonly number[];
  /** Owned here and assigned to another member. */
  readonly leave: readonly number[];
  /** Owned here but granted to another member: this member's lease had lapsed. */
  readonly lost: readonly number[];
  /** Granted, but neither owned nor assigned here. */
  readonly giveBack: readonly number[];
}

/** The state of one member's shards. */
export class ShardBook {
  readonly #me: Member;
  readonly #shards: number;
  /** Owned shards, with their epochs. */
  readonly #held = new Map<number, number>();
  /** No longer owned; still granted until the engine has finished with them. */
  readonly #leaving = new Set<number>();
  /** Epochs are being raised. */
  readonly #taking = new Set<number>();

  constructor(me: Member, shards = SHARDS) {
    this.#me = me;
    this.#shards = shards;
  }

  get isEmpty(): boolean {
    return this.#held.size + this.#leaving.size + this.#taking.size === 0;
  }

  epochOf(shard: number): number | null {
    return this.#held.get(shard) ?? null;
  }

  owned(): ShardEpoch[] {
    return [...this.#held].map(([shard, epoch]) => ({ shard, epoch }));
  }

  /** Shards whose grant this member needs. */
  holds(): number[] {
    return [...this.#held.keys(), ...this.#leaving];
  }

  isFree(shard: number): boolean {
    return !this.#held.has(shard) && !this.#leaving.has(shard) && !this.#taking.has(shard);
  }

  compare({ granted, targets, replicas }: Picture): Moves {
    const mine = new Set(granted);
    const ready = new Set(replicas.filter((it) => !it.isDraining).map(({ id }) => id));
    const moves = {
      take: [] as number[],
      leave: [] as number[],
      lost: [] as number[],
      giveBack: [] as number[],
    };
    for (let shard = 0; shard < this.#shards; shard++) {
      if (!mine.has(shard)) {
        this.#leaving.delete(shard);
        if (this.#held.has(shard)) moves.lost.push(shard);
        continue;
      }
      const target = targets?.[shard] ?? null;
      const isWanted = target === null || target === this.#me.id;
      if (this.#held.has(shard)) {
        if (!isWanted && ready.has(target)) moves.leave.push(shard);
      } else if (this.isFree(shard)) (isWanted ? moves.take : moves.giveBack).push(shard);
    }
    return moves;
  }

  taking(shards: readonly number[]): void {
    for (const shard of shards) this.#taking.add(shard);
  }

  /** The epochs were not raised. */
  notTaken(shards: readonly number[]): void {
    for (const shard of shards) this.#taking.delete(shard);
  }

  /** The epochs were raised. @returns those that are owned now: not what was cleared meanwhile */
  taken(epochs: readonly ShardEpoch[]): number[] {
    const taken = epochs.filter(({ shard }) => this.#taking.delete(shard));
    for (const { shard, epoch } of taken) {
      this.#leaving.delete(shard);
      this.#held.set(shard, epoch);
    }
    return taken.map(({ shard }) => shard);
  }

  leave(shards: readonly number[]): void {
    for (const shard of shards) {
      if (this.#held.delete(shard)) this.#leaving.add(shard);
    }
  }

  drop(shards: readonly number[]): void {
    for (const shard of shards) this.#held.delete(shard);
  }

  /** @returns those that were owned under that epoch */
  fenced(lost: readonly ShardEpoch[]): number[] {
    const fenced = lost.filter(({ shard, epoch }) => this.#held.get(shard) === epoch);
    for (const { shard } of fenced) this.#held.delete(shard);
    return fenced.map(({ shard }) => shard);
  }

  /** The engine has finished with the shards that are being left. @returns those shards */
  left(): number[] {
    const left = [...this.#leaving];
    this.#leaving.clear();
    return left;
  }

  /** Shards that are neither owned nor free: they are being left, or their epochs are being raised. */
  between(): number[] {
    return [...this.#leaving, ...this.#taking];
  }

  /** Ignores the results of operations in flight for these shards. */
  abandon(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#leaving.delete(shard);
      this.#taking.delete(shard);
    }
  }

  clear(): void {
    this.#held.clear();
    this.#leaving.clear();
    this.#taking.clear();
  }
}

/** The epochs of shards, stored where commits check them. */
export interface EpochStore {
  /**
   * Raises the epochs of the shards by one and returns them; older epochs cannot commit from then on.
   * @param owner who owns the shards from now on, as `memberText` writes it
   */
  raise(shards: readonly number[], owner: string): Promise<readonly ShardEpoch[]>;
  newest(): Promise<readonly ShardEpoch[]>;
  /** Shards whose epoch that owner raised last, ascending. */
  ownedBy(owner: string): Promise<readonly number[]>;
}

export interface StuckDeps {
  readonly book: Pick<ShardBook, 'between' | 'abandon'>;
  readonly database: DatabaseAnswers;
  readonly monotonic: Monotonic;
}

/**
 * Gives up moving shards that are stuck. Without a database a shard may be stuck for as long as a commit, or a raise of
 * its epoch, waits for an answer. Other members need not wait: when one takes the shard, the new epoch fences late commits.
 */
export class Stuck {
  readonly #deps: StuckDeps;
  readonly #since = new Map<number, Micros>();

  constructor(deps: StuckDeps) {
    this.#deps = deps;
  }

  /** Abandons shards that were stuck for the time of a lease. @returns them: their grants are to be given back */
  shards(): number[] {
    const { book, database, monotonic } = this.#deps;
    const now = monotonic();
    const between = new Set(database.areMissing ? book.between() : []);
    for (const shard of this.#since.keys()) if (!between.has(shard)) this.#since.delete(shard);
    for (const shard of between) if (!this.#since.has(shard)) this.#since.set(shard, now);
    const stuck = [...this.#since].filter(([, since]) => now - since >= LEASE_TTL).map(([shard]) => shard);
    for (const shard of stuck) this.#since.delete(shard);
    book.abandon(stuck);
    return stuck;
  }
}

export interface DrainingShardsDeps {
  readonly monotonic: Monotonic;
  isCalling(shard: number): boolean;
}

/** Shards assigned to another replica: each is kept for a moment while an outbound call of it is in flight. */
export class DrainingShards {
  readonly #deps: DrainingShardsDeps;
  readonly #since = new Map<number, Micros>();

  constructor(deps: DrainingShardsDeps) {
    this.#deps = deps;
  }

  get isWaiting(): boolean {
    return this.#since.size > 0;
  }

  /**
   * @param wanted all shards that are assigned to other members now
   * @returns those without a call in flight, and those that have waited for the longest time
   */
  over(wanted: readonly number[]): number[] {
    const now = this.#deps.monotonic();
    const still = new Set(wanted);
    for (const shard of this.#since.keys()) if (!still.has(shard)) this.#since.delete(shard);
    return wanted.filter((shard) => {
      const since = this.#since.get(shard) ?? now;
      const isKept = this.#deps.isCalling(shard) && now - since < CALLS_WITHIN;
      if (isKept) this.#since.set(shard, since);
      else this.#since.delete(shard);
      return !isKept;
    });
  }
}
