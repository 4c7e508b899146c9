/** Texts that many groups share, each kept once and known by a number. Numbers are never used anew. */
export class Words {
  /** Of all texts together. */
  characters = 0;
  readonly #codes = new Map<string, number>();

  get count(): number {
    return this.#codes.size;
  }

  /** The number of a text, new or not. */
  add(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    this.characters += text.length;
    this.#codes.set(text, this.#codes.size);
    return this.#codes.size - 1;
  }

  /** Undefined for a text that no group ever had. */
  find(text: string): number | undefined {
    return this.#codes.get(text);
  }
}
