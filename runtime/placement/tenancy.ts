/**
 * Some actors have work that no message starts: calls that a former owner had begun, a messenger that is polled. This
 * begins it when their shard is won and ends it when the shard is lost (operations §5.3). Two replicas may do the same
 * for a moment; whoever begins the work has to bear that.
 */
import { type Address, type Placement, shardOf } from '../actor/index.ts';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';

/** After a list that could not be read. */
const RETRY = SECOND;

export interface TenancyDeps {
  readonly placement: Pick<Placement, 'owned' | 'onChange'>;
  /** Actors with work to begin, wherever they live. */
  list(): Promise<readonly Address[]>;
  /** Begins the work of one. `moved` aborts when the actor does not live here any more. */
  begin(actor: Address, moved: AbortSignal): void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Tenancy {
  start(): void;
  /** Ends all work. */
  stop(): void;
}

interface Term {
  readonly epoch: number;
  readonly end: AbortController;
  hasBegun: boolean;
}

export function createTenancy({ placement, list, begin, clock, log }: TenancyDeps): Tenancy {
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

  /** Terms that begin while the list is being read wait for the next one. */
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
