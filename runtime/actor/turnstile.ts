import { type Address, addressText } from './address.ts';
import type { EngineLimits } from './limits.ts';
import { BusyError } from './system.ts';

/** Counts those who wait for an answer, wherever the actor lives (operations §5.6). */
export class Turnstile {
  readonly #limits: Pick<EngineLimits, 'asks' | 'asksPerActor'>;
  readonly #waiting = new Map<string, number>();
  #all = 0;

  constructor(limits: Pick<EngineLimits, 'asks' | 'asksPerActor'>) {
    this.#limits = limits;
  }

  /** @returns to be called when the wait is over. @throws {BusyError} too many wait, here or for this actor */
  enter(to: Address): () => void {
    const text = addressText(to);
    const waiting = this.#waiting.get(text) ?? 0;
    if (this.#all >= this.#limits.asks) throw new BusyError('too many requests wait for an answer');
    if (waiting >= this.#limits.asksPerActor) throw new BusyError(`too many requests wait at ${text}`);
    this.#all++;
    this.#waiting.set(text, waiting + 1);
    return () => this.#leave(text);
  }

  #leave(text: string): void {
    this.#all--;
    const left = (this.#waiting.get(text) ?? 1) - 1;
    if (left > 0) this.#waiting.set(text, left);
    else this.#waiting.delete(text);
  }
}
