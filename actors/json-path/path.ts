/** JSONPath as a tree (RFC 9535), and the walk through its source. */
/** JSONPath as a tree (RFC 9535). */

export interface Path {
  readonly segments: readonly Segment[];
}

export interface Segment {
  /** `..`: of the node and of everything below it. */
  readonly isDescendant: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice';
      readonly start: number | null;
      readonly end: number | null;
      readonly step: number;
    }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly condition: Condition };

/** Of a filter, for one node. */
export type Condition =
  | { readonly kind: 'any' | 'all'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'compare';
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'exists'; readonly query: Query }
  | {
      readonly kind: 'matches';
      readonly isWhole: boolean;
      readonly text: Operand;
      readonly expression: Operand;
    };

export const OPERATORS = ['==', '!=', '<=', '>=', '<', '>'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Something with one value or none. */
export type Operand =
  /** A JSON text. */
  | { readonly kind: 'literal'; readonly source: string }
  | { readonly kind: 'query'; readonly query: Query }
  | { readonly kind: 'length'; readonly of: Operand }
  | { readonly kind: 'count' | 'value'; readonly query: Query };

export interface Query extends Path {
  /** `$`: from the whole answer; otherwise `@`: from the node that the filter looks at. */
  readonly isOfRoot: boolean;
}

/** Whether a query can select at most one node: names and indexes only. */
export function isSingular({ segments }: Path): boolean {
  return segments.every(({ isDescendant, selectors: [first, ...more] }) => {
    const isOne = first?.kind === 'name' || first?.kind === 'index';
    return isOne && more.length === 0 && !isDescendant;
  });
}

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

/** String literals of a JSONPath: JSON's escapes, in quotes of either kind (RFC 9535 §2.3.1.1). */
const ESCAPED = String.raw`\\(?:[bfnrt/\\]|u(?:[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}))`;
const DOUBLE = new RegExp(String.raw`"(?:[^"\\\u{0}-\u{1f}\p{Surrogate}]|\\"|${ESCAPED})*"`, 'uy');
const SINGLE = new RegExp(String.raw`'(?:[^'\\\u{0}-\u{1f}\p{Surrogate}]|\\'|${ESCAPED})*'`, 'uy');

/** Null when no quote comes next. */
export function readStringLiteral(reader: PathReader): string | null {
  const quote = reader.source[reader.at];
  if (quote !== '"' && quote !== "'") return null;
  const literal = reader.takeMatch(quote === '"' ? DOUBLE : SINGLE);
  if (literal === null) throw reader.failure('this is not a string of a JSONPath');
  return JSON.parse(quote === '"' ? literal : doubleQuoted(literal));
}

function doubleQuoted(literal: string): string {
  const inner = literal
    .slice(1, -1)
    .replace(/\\.|"/gs, (piece) => (piece === "\\'" ? "'" : piece === '"' ? '\\"' : piece));
  return `"${inner}"`;
}
