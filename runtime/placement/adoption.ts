import type { Clock, Micros, Monotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { targetsOf } from './assignment.ts';
import { type Member, memberText } from './coordination.ts';
import type { EpochStore } from './epoch-store.ts';
import { ORPHANS_EVERY } from './lease-times.ts';
import type { ReplicaRecords } from './replica-records.ts';

export interface AdoptionDeps {
  readonly me: Member;
  readonly epochs: Pick<EpochStore, 'ownedBy'>;
  readonly records: ReplicaRecords;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  readonly shards?: number;
}

/**
 * With nowhere to meet, placement is frozen, but for shards that nobody acts for: those whose move was cut off half way
 * are kept by who had them last, and those of a member that died go to the living (operations §5.5 rule 3).
 */
export class Adoption {
  readonly #deps: AdoptionDeps;
  #lookedAt: Micros | null = null;

  constructor(deps: AdoptionDeps) {
    this.#deps = deps;
  }

  /** Shards that this member should take, of those that are free; none when it was looked for them just now. */
  async wanted(isFree: (shard: number) => boolean): Promise<number[]> {
    const { me, epochs, records, clock, monotonic, log, shards } = this.#deps;
    if (this.#lookedAt !== null && monotonic() - this.#lookedAt < ORPHANS_EVERY) return [];
    this.#lookedAt = monotonic();
    const now = clock.now();
    try {
      const [live, orphans, own] = await Promise.all([
        records.live(now),
        records.orphans(now),
        epochs.ownedBy(memberText(me)),
      ]);
      const targets = targetsOf([me.id, ...live.map(({ id }) => id)], shards);
      const adopted = orphans.filter((shard) => targets[shard] === me.id);
      return [...new Set([...adopted, ...own])].filter(isFree);
    } catch (error) {
      // The database is away, too: the next look is as good.
      log('store_read_failed', { what: 'shards', error: String(error) });
      return [];
    }
  }
}
