/** Who is called back when something changed. */
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
