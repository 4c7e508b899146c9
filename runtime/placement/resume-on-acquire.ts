/**
 * Resumes the work of actors that no message starts: calls that a former owner had begun, polling of a messenger. The work
 * begins when the actor's shard is acquired and ends when it is lost (operations §5.3). Two replicas may do it at once for
 * a moment, so it must tolerate that.
 */
import { type Address, type Placement, shardOf } from '../actor/index.ts';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';

/** Delay before the list is read again after an error. */
const RETRY = SECOND;

export interface ResumptionDeps {
  readonly placement: Pick<Placement, 'owned' | 'onChange'>;
  /** Actors with work to resume, on any replica. */
  list(): Promise<readonly Address[]>;
  /** Begins the work of one actor. `moved` aborts when its shard is lost. */
  begin(actor: Address, moved: AbortSignal): void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Resumption {
  start(): void;
  /** Ends all work. */
  stop(): void;
}

interface Term {
  readonly epoch: number;
  readonly end: AbortController;
  hasBegun: boolean;
}

export function createResumption({ placement, list, begin, clock, log }: ResumptionDeps): Resumption {
  const terms = new Map<number, Term>();
  let isListing = false;
  let timer: Timer | null = null;
  let unsubscribe: () => void = () => undefined;
  let isStopped = false;

  const end = (shard: number, term: Term): void => {
    term.end.abort();
    terms.delete(shard);
  };

  const follow = (): void => {
    const owned = new Map(placement.owned().map(({ shard, epoch }) => [shard, epoch]));
    for (const [shard, term] of terms) if (owned.get(shard) !== term.epoch) end(shard, term);
    for (const [shard, epoch] of owned) {
      if (!terms.has(shard)) terms.set(shard, { epoch, end: new AbortController(), hasBegun: false });
    }
    void beginNew();
  };

  /** Shards acquired while the list is being read are served by the next read. */
  const beginNew = async (): Promise<void> => {
    if (isListing) return;
    isListing = true;
    try {
      for (;;) {
        const fresh = new Map([...terms].filter(([, term]) => !term.hasBegun));
        if (fresh.size === 0 || isStopped) break;
        const actors = await list();
        for (const term of fresh.values()) term.hasBegun = true;
        for (const actor of actors) {
          const term = fresh.get(shardOf(actor));
          if (term !== undefined && !term.end.signal.aborted) begin(actor, term.end.signal);
        }
      }
    } catch (error) {
      log('store_read_failed', { what: 'work to resume', error: String(error) });
      if (!isStopped) timer = clock.after(RETRY, () => void beginNew());
    }
    isListing = false;
  };

  return {
    start() {
      unsubscribe = placement.onChange(follow);
      follow();
    },
    stop() {
      isStopped = true;
      unsubscribe();
      timer?.cancel();
      for (const [shard, term] of terms) end(shard, term);
    },
  };
}
