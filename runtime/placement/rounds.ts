import type { Clock, Micros, Timer } from '../clock.ts';

/** Does one thing again and again, one at a time: as soon as it is asked for, and after the pause the last one named. */
export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<Micros>;
  #state: 'waiting' | 'running' | 'stopped' = 'waiting';
  #isUnderWay = false;
  #isDue = false;
  #timer: Timer | null = null;

  /** @param round resolves with the pause until the next one */
  constructor(clock: Clock, round: () => Promise<Micros>) {
    this.#clock = clock;
    this.#round = round;
  }

  begin(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'running';
    this.soon();
  }

  /** Now, or once the one under way is over; not before {@link begin}. */
  soon(): void {
    this.#isDue = true;
    if (!this.#isUnderWay) this.#schedule(0);
  }

  /** One that is under way ends by itself. */
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
    const pause = await this.#round();
    this.#isUnderWay = false;
    this.#schedule(this.#isDue ? 0 : pause);
  }
}
