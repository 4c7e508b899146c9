import type { ShardedSnapshot, ShardPage, ShardRange } from '../../actors/feed/ports.ts';
import type { ShardEpoch } from '../../runtime/actor/index.ts';

/** How far one shard was read. */
export interface ShardReading extends ShardRange {
  /** Under which the shard was owned when the reading began. */
  readonly epoch: number;
}

/** What counts of a page. */
export interface PageRead extends Pick<ShardPage, 'drawn'> {
  readonly snapshots: readonly Pick<ShardedSnapshot, 'shard' | 'seq'>[];
}

/** Which shards of this replica are to be read, and how far each is. */
export class ShardReadings {
  /** By owned shard. */
  #epochs: ReadonlyMap<number, number> = new Map();
  /** To be read from their beginning, once a reading under way is through. */
  readonly #due = new Set<number>();
  readonly #underWay = new Map<number, ShardReading>();
  /** Owned by placement's word, while the feeds refuse. */
  readonly #refused = new Set<number>();

  get areDone(): boolean {
    return this.#due.size + this.#underWay.size === 0;
  }

  /** Takes over what is owned now. Returns whether shards were won. */
  follow(owned: readonly ShardEpoch[]): boolean {
    const before = this.#epochs;
    this.#epochs = new Map(owned.map(({ shard, epoch }) => [shard, epoch]));
    for (const [shard, epoch] of before) if (this.#epochs.get(shard) !== epoch) this.#forget(shard);
    const won = owned.filter(({ shard, epoch }) => before.get(shard) !== epoch);
    for (const { shard } of won) this.#due.add(shard);
    return won.length > 0;
  }

  /** There may be something in these shards. Those that are not owned here are passed over. */
  call(shards: Iterable<number>): void {
    for (const shard of shards) {
      if (this.#epochs.has(shard) && !this.#refused.has(shard)) this.#due.add(shard);
    }
  }

  callAll(): void {
    this.call(this.#epochs.keys());
  }

  /** Feeds that refused may take again. */
  forgetRefusals(): void {
    this.#refused.clear();
  }

  /**
   * A Snapshot handed on under `epoch` came back: nothing behind it may be handed on before it. Returns whether the shard
   * is still owned under that epoch; then it rests until ownership changes or {@link forgetRefusals}.
   */
  giveBack(shard: number, epoch: number): boolean {
    const current = this.#epochs.get(shard);
    if (current === undefined) return false;
    this.#forget(shard);
    if (current !== epoch) this.#due.add(shard);
    else this.#refused.add(shard);
    return current === epoch;
  }

  /** What to read next, by shard. */
  next(): ReadonlyMap<number, ShardReading> {
    for (const shard of this.#due) {
      const epoch = this.#epochs.get(shard);
      if (epoch === undefined || this.#underWay.has(shard)) continue;
      this.#underWay.set(shard, { shard, epoch, after: 0, upTo: null });
      this.#due.delete(shard);
    }
    return new Map(this.#underWay);
  }

  /** Whether a reading goes on: the shard was neither lost nor given back since. */
  goesOn(reading: ShardReading): boolean {
    return this.#underWay.get(reading.shard) === reading;
  }

  /** A page was handed on that has `limit` Snapshots of each shard that may have more. */
  advance(readings: ReadonlyMap<number, ShardReading>, { snapshots, drawn }: PageRead, limit: number): void {
    const found = new Map<number, number[]>();
    for (const { shard, seq } of snapshots) {
      const seqs = found.get(shard);
      if (seqs) seqs.push(seq);
      else found.set(shard, [seq]);
    }
    for (const reading of readings.values()) {
      if (!this.goesOn(reading)) continue;
      const seqs = found.get(reading.shard) ?? [];
      const last = seqs[limit - 1];
      if (last === undefined) this.#underWay.delete(reading.shard);
      else this.#underWay.set(reading.shard, { ...reading, after: last, upTo: reading.upTo ?? drawn });
    }
  }

  #forget(shard: number): void {
    this.#underWay.delete(shard);
    this.#due.delete(shard);
    this.#refused.delete(shard);
  }
}
