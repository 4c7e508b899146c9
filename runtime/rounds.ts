import { type Clock, type Micros, SECOND, type Timer } from './clock.ts';

/** The delay before the next run when one rejects. */
const REJECTED_PAUSE: Micros = SECOND;

/** Runs a task serially: on request, and after the delay its last run returned. */
export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<Micros>;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #isUnderWay = false;
  #isDue = false;
  #timer: Timer | null = null;

  /** @param round resolves with the delay before the next run */
  constructor(clock: Clock, round: () => Promise<Micros>) {
    this.#clock = clock;
    this.#round = round;
  }

  begin(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.soon();
  }

  /** Requests a run: at once, or after the current one; not before {@link begin}. */
  soon(): void {
    this.#isDue = true;
    if (!this.#isUnderWay) this.#schedule(0);
  }

  /** Starts no further run. The current one finishes. */
  stop(): void {
    this.#state = 'stopped';
    this.#timer?.cancel();
  }

  #schedule(pause: Micros): void {
    this.#timer?.cancel();
    if (this.#state === 'running') this.#timer = this.#clock.after(pause, () => void this.#go());
  }

  async #go(): Promise<void> {
    this.#isUnderWay = true;
    this.#isDue = false;
    let pause = REJECTED_PAUSE;
    try {
      const next = await this.#round();
      pause = this.#isDue ? 0 : next;
    } finally {
      this.#isUnderWay = false;
      this.#schedule(pause);
    }
  }
}
