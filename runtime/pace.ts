import { type Micros, type Monotonic, SECOND, systemMonotonic } from './clock.ts';

/** How long a computation keeps the event loop to itself. */
const STRETCH: Micros = SECOND / 125;

/** Lets a long computation yield to other work of the process, and measures how long it has worked. */
export class Pace {
  readonly #monotonic: Monotonic;
  readonly #begun: Micros;
  #since: Micros;
  #worked: Micros = 0;

  constructor(monotonic: Monotonic = systemMonotonic) {
    this.#monotonic = monotonic;
    this.#begun = monotonic();
    this.#since = this.#begun;
  }

  /** Since it was made, pauses and rests included, µs. */
  get elapsed(): Micros {
    return this.#monotonic() - this.#begun;
  }

  /** Work of the stretches that are over, µs. */
  get worked(): Micros {
    return this.#worked;
  }

  /** Whether it is time to {@link rest}. */
  isDue(): boolean {
    return this.#monotonic() - this.#since > STRETCH;
  }

  async rest(): Promise<void> {
    this.pause();
    await new Promise((resume) => setImmediate(resume));
    this.resume();
  }

  /** What comes now is no work of its own, such as waiting for the database. */
  pause(): void {
    this.#worked += this.#monotonic() - this.#since;
  }

  resume(): void {
    this.#since = this.#monotonic();
  }
}
