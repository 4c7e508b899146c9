import type { Micros } from '../clock.ts';
import type { EngineLimits } from './limits.ts';

/** Waits between tries: doubling from the first to the most, until something succeeds. */
export class Backoff {
  readonly #limits: EngineLimits;
  #failures = 0;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  /** The wait before the next try, µs. */
  failed(): Micros {
    const wait = this.#limits.retryFirst * 2 ** Math.min(this.#failures, 30);
    this.#failures++;
    return Math.min(wait, this.#limits.retryMost);
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
