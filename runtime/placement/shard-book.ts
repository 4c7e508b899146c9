import { SHARDS, type ShardEpoch } from '../actor/index.ts';
import type { Member, Picture } from './coordination.ts';

/** What is to be done to follow a picture. Every shard is in one list at most. */
export interface Moves {
  /** Granted and wanted here: to be acted for once their epochs are raised. */
  readonly take: readonly number[];
  /** Acted for here and wanted elsewhere. */
  readonly leave: readonly number[];
  /** Acted for here, though somebody else was granted them: this process had lapsed. */
  readonly lost: readonly number[];
  /** Granted without any use for it. */
  readonly giveBack: readonly number[];
}

/** What one member knows of its shards. */
export class ShardBook {
  readonly #me: Member;
  readonly #shards: number;
  /** Shards that are acted for, with their epochs. */
  readonly #held = new Map<number, number>();
  /** No longer acted for; granted until the engine has let go of them. */
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

  /** The epochs were raised. @returns those that are acted for now: not what was cleared meanwhile */
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

  /** @returns those that were acted for under that epoch */
  fenced(lost: readonly ShardEpoch[]): number[] {
    const fenced = lost.filter(({ shard, epoch }) => this.#held.get(shard) === epoch);
    for (const { shard } of fenced) this.#held.delete(shard);
    return fenced.map(({ shard }) => shard);
  }

  /** Nothing of the shards being left is under way any more. @returns those shards */
  left(): number[] {
    const left = [...this.#leaving];
    this.#leaving.clear();
    return left;
  }

  /** Shards that are neither acted for nor free: they are being left, or their epochs are being raised. */
  between(): number[] {
    return [...this.#leaving, ...this.#taking];
  }

  /** Whatever is under way for these shards counts no more. */
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
