import type { Micros, Monotonic } from '../clock.ts';
import type { DatabaseAnswers } from './database-answers.ts';
import { LEASE_TTL } from './lease-times.ts';
import type { ShardBook } from './shard-book.ts';

export interface StuckDeps {
  readonly book: Pick<ShardBook, 'between' | 'abandon'>;
  readonly database: DatabaseAnswers;
  readonly monotonic: Monotonic;
}

/**
 * Without answers of the database a shard may stay between two owners for as long as a commit waits for one, or a raise
 * of its epoch. Others need not wait for that: when they take the shard, its epoch keeps what comes late from counting.
 */
export class Stuck {
  readonly #deps: StuckDeps;
  readonly #since = new Map<number, Micros>();

  constructor(deps: StuckDeps) {
    this.#deps = deps;
  }

  /** @returns shards that have been so for as long as a lease lasts, abandoned now; their grants are to be given back */
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
