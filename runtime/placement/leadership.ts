import type { Placement } from '../actor/index.ts';
import type { Log } from '../log.ts';

/**
 * Whether this process leads: exactly one of an installation does, or none for a moment (operations §5.3). Whoever
 * leads does what must be done once, such as retention; two may believe it for a moment, and nothing breaks then.
 */
export interface Leadership {
  readonly isLeader: boolean;
  /** Calls back after every change of {@link isLeader}. Returns the way to stop listening. */
  onChange(listener: () => void): () => void;
}

/** A list of change listeners. */
export class Listeners {
  readonly #all = new Set<() => void>();

  /** @returns the way to stop listening */
  add(listener: () => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  call(): void {
    for (const listener of this.#all) listener();
  }
}

/** Whether this member leads, as the last beat found. */
export class Lead implements Leadership {
  readonly #log: Log;
  readonly #listeners = new Listeners();
  #isLeader = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener);
  }

  /** @param why the lead was lost, when it was not taken or given up */
  set(isLeader: boolean, why = 'another member leads, or none'): void {
    if (this.#isLeader === isLeader) return;
    this.#isLeader = isLeader;
    if (isLeader) this.#log('leadership_acquired');
    else this.#log('leadership_lost', { error: why });
    this.#listeners.call();
  }
}

/** Leadership of a single process: it leads while it owns the shards, all of them or none (operations §5.1). */
export function soloLeadership(placement: Pick<Placement, 'owned' | 'onChange'>): Leadership {
  return {
    get isLeader() {
      return placement.owned().length > 0;
    },
    onChange: (listener) => placement.onChange(listener),
  };
}
