/**
 * Numbers of the Snapshots that were handed on and are not settled. A page that is being read when one is settled may
 * still show it, and must not bring it back: such numbers are forgotten only when the reading is over.
 */
export class UnderWay {
  readonly #numbers = new Set<number>();
  #settled: number[] = [];
  #readings = 0;

  has(seq: number): boolean {
    return this.#numbers.has(seq);
  }

  add(seq: number): void {
    this.#numbers.add(seq);
  }

  settled(seq: number): void {
    if (this.#readings > 0) this.#settled.push(seq);
    else this.#numbers.delete(seq);
  }

  /** It stays stored, and is to be handed on again. */
  givenBack(seq: number): void {
    this.#numbers.delete(seq);
  }

  /** Runs what reads a page and hands it on. */
  async whileReading(read: () => Promise<void>): Promise<void> {
    this.#readings += 1;
    try {
      await read();
    } finally {
      this.#readings -= 1;
      if (this.#readings === 0) this.#forget();
    }
  }

  #forget(): void {
    for (const seq of this.#settled) this.#numbers.delete(seq);
    this.#settled = [];
  }
}
