import { type Micros, type Monotonic, SECOND } from '../clock.ts';
import type { Ownership } from './ownership.ts';
import type { ActorStore, ShardEpoch } from './store.ts';

/** For how long a look at the epochs proves ownership (operations §5.2 rule 2). */
const GOOD_FOR: Micros = 2 * SECOND;

export interface ProofsDeps {
  readonly store: Pick<ActorStore, 'epochs'>;
  readonly ownership: Ownership;
  readonly monotonic: Monotonic;
  /** The database has newer epochs. */
  lost(epochs: readonly ShardEpoch[]): void;
}

/**
 * When the database last confirmed the epochs under which this process acts. Every commit does. A process that was
 * paused, or that has not committed for a shard lately, has to ask.
 */
export class Proofs {
  readonly #deps: ProofsDeps;
  readonly #at = new Map<number, { readonly epoch: number; readonly at: Micros }>();

  constructor(deps: ProofsDeps) {
    this.#deps = deps;
  }

  /** A commit that was begun at `at` went through under these epochs. */
  note(epochs: Iterable<readonly [shard: number, epoch: number]>, at: Micros): void {
    for (const [shard, epoch] of epochs) this.#at.set(shard, { epoch, at });
  }

  async stillOwns(shard: number): Promise<boolean> {
    const { ownership, monotonic, store, lost } = this.#deps;
    for (;;) {
      const epoch = ownership.epochOf(shard);
      if (epoch === null) return false;
      const proof = this.#at.get(shard);
      const at = monotonic();
      if (proof?.epoch === epoch && at - proof.at < GOOD_FOR) return true;
      const [newest] = await store.epochs([shard]);
      if (newest?.epoch !== epoch) {
        lost([{ shard, epoch }]);
        return false;
      }
      // Not an answer yet: this process may have been paused since it asked.
      this.note([[shard, epoch]], at);
    }
  }
}
