/** Lets a long computation give way to everything else that the process does. */

/** How long a computation keeps the event loop to itself, ms. */
const STRETCH_MS = 8;

export class Pace {
  #since = performance.now();

  /** Whether it is time to {@link rest}. */
  isDue(): boolean {
    return performance.now() - this.#since > STRETCH_MS;
  }

  async rest(): Promise<void> {
    await new Promise((resume) => setImmediate(resume));
    this.#since = performance.now();
  }
}
