import type { ShardEpoch } from '../actor/index.ts';
import type { Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Member, memberText, type Picture } from './coordination.ts';
import { COMPARE_EVERY } from './lease-times.ts';
import { type MoveReason, MoveReasons, type PlacementMetrics } from './metrics.ts';
import type { EpochStore, ShardBook } from './shard-book.ts';

export interface ShardAcquisitionDeps {
  readonly me: Member;
  readonly book: ShardBook;
  readonly epochs: EpochStore;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly metrics: PlacementMetrics;
}

/** Takes shards by raising their epochs, and finds shards that other members have taken (operations §5.2 rule 3). */
export class ShardAcquisition {
  readonly #deps: ShardAcquisitionDeps;
  readonly #reasons = new MoveReasons();
  #comparedAt: Micros = 0;

  constructor(deps: ShardAcquisitionDeps) {
    this.#deps = deps;
  }

  /** Call it with the result of each beat: it shows why shards move. */
  see(picture: Picture): void {
    this.#reasons.see(picture);
  }

  /** Raises the epochs of the shards and enters them in the book. @returns those that are owned from now on */
  async take(shards: readonly number[]): Promise<number[]> {
    const { book, epochs, me, log, metrics } = this.#deps;
    book.taking(shards);
    let raised: readonly ShardEpoch[];
    try {
      raised = await epochs.raise(shards, memberText(me));
    } catch (error) {
      // Still granted: the next beat tries again.
      book.notTaken(shards);
      log('database_unavailable', { error: String(error) });
      return [];
    }
    const taken = book.taken(raised);
    for (const [reason, count] of countBy(taken, (shard) => this.#reasons.of(shard))) {
      log('shards_taken', { count, reason });
      metrics.moved(reason, count);
    }
    return taken;
  }

  /**
   * Owned shards with newer epochs in the database: without commits a loss would not show otherwise. Reads at most once
   * per `every`, otherwise returns none. Never rejects.
   */
  async outdated(every: Micros = COMPARE_EVERY): Promise<ShardEpoch[]> {
    const { book, epochs, monotonic, log } = this.#deps;
    if (monotonic() - this.#comparedAt < every) return [];
    this.#comparedAt = monotonic();
    try {
      const newest = await epochs.newest();
      return newest.flatMap(({ shard, epoch }) => {
        const own = book.epochOf(shard);
        return own !== null && own < epoch ? [{ shard, epoch: own }] : [];
      });
    } catch (error) {
      log('store_read_failed', { what: 'shards', error: String(error) });
      return [];
    }
  }
}

function countBy(
  shards: readonly number[],
  reasonOf: (shard: number) => MoveReason,
): Map<MoveReason, number> {
  const counts = new Map<MoveReason, number>();
  for (const shard of shards) counts.set(reasonOf(shard), (counts.get(reasonOf(shard)) ?? 0) + 1);
  return counts;
}
