/** The variables of one template call while it is parsed; each has a slot, so that nobody searches names later. */
export class Scope {
  readonly #names: string[] = ['$'];
  #slots = 1;

  /** Slots that are needed at once. */
  get slots(): number {
    return this.#slots;
  }

  declare(name: string): number {
    this.#slots = Math.max(this.#slots, this.#names.push(name));
    return this.#names.length - 1;
  }

  /** The latest variable of that name; null when there is none. */
  find(name: string): number | null {
    const slot = this.#names.lastIndexOf(name);
    return slot < 0 ? null : slot;
  }

  mark(): number {
    return this.#names.length;
  }

  /** Forgets what was declared since the mark. */
  release(mark: number): void {
    this.#names.length = mark;
  }
}
