import type { Log } from '../log.ts';
import type { Leadership } from './leadership.ts';
import { Listeners } from './listeners.ts';

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
