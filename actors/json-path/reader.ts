/** Walks through the source of a JSONPath. */

/** Its message says what is wrong and where. */
export class PathSyntax extends Error {
  override readonly name = 'PathSyntax';
}

/** Filters and parentheses inside each other. */
const MOST_NESTED = 50;

export class PathReader {
  at = 0;
  readonly source: string;
  #depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  get isAtEnd(): boolean {
    return this.at === this.source.length;
  }

  /** Goes past `text` when it comes next. */
  take(text: string): boolean {
    if (!this.source.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw this.failure(`${JSON.stringify(text)} is missing`);
  }

  /** @param pattern is sticky */
  takeMatch(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const [found = null] = pattern.exec(this.source) ?? [];
    this.at += found?.length ?? 0;
    return found;
  }

  skipBlanks(): void {
    this.takeMatch(/[ \t\n\r]*/y);
  }

  nested<Result>(read: () => Result): Result {
    if (this.#depth === MOST_NESTED) throw this.failure('this is nested too deep');
    this.#depth++;
    const result = read();
    this.#depth--;
    return result;
  }

  unexpected(): PathSyntax {
    if (this.isAtEnd) return this.failure('the path ends too early');
    const character = String.fromCodePoint(this.source.codePointAt(this.at) ?? 0);
    return this.failure(`unexpected ${JSON.stringify(character)}`);
  }

  failure(message: string): PathSyntax {
    const column = [...this.source.slice(0, this.at)].length + 1;
    return new PathSyntax(`character ${column}: ${message}`);
  }
}
