/** Finds the nodes that a JSONPath selects, within bounded work (RFC 9535 §2). */
import { compileSearch, type SearchRegex } from '../route/search.ts';
import { JsonNumber, type JsonValue, readJson } from './json.ts';
import type { Condition, Operand, Operator, Path, Query, Segment, Selector } from './path.ts';

/** Nodes looked at, and what expressions cost; some tenths of a second. */
const MOST_STEPS = 200_000;
/** Steps of an expression that one step here pays for. */
const EXPRESSION_WORK = 10;

/** In the order of the RFC; null when finding them takes too much work. */
export function selectNodes(path: Path, root: JsonValue): readonly JsonValue[] | null {
  const selection = new Selection(root);
  try {
    return selection.follow(path, [root]);
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

class TooMuchWork extends Error {
  override readonly name = 'TooMuchWork';
}

class Selection {
  readonly #root: JsonValue;
  #steps = 0;
  readonly #expressions = new Map<string, SearchRegex | null>();
  readonly #literals = new Map<string, JsonValue>();

  constructor(root: JsonValue) {
    this.#root = root;
  }

  follow({ segments }: Path, from: readonly JsonValue[]): readonly JsonValue[] {
    let nodes = from;
    for (const segment of segments) nodes = nodes.flatMap((node) => this.#segment(segment, node));
    return nodes;
  }

  #segment({ isDescendant, selectors }: Segment, node: JsonValue): readonly JsonValue[] {
    const places = isDescendant ? this.#withDescendants(node) : [node];
    return places.flatMap((place) => selectors.flatMap((selector) => this.#select(selector, place)));
  }

  /** A node before what is in it. */
  #withDescendants(node: JsonValue): JsonValue[] {
    const found: JsonValue[] = [];
    const waiting = [node];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      this.#spend(1);
      found.push(next);
      waiting.push(...childrenOf(next).toReversed());
    }
    return found;
  }

  #select(selector: Selector, node: JsonValue): readonly JsonValue[] {
    this.#spend(1);
    switch (selector.kind) {
      case 'name':
        return present(isObject(node) ? node.get(selector.name) : undefined);
      case 'index':
        return present(isList(node) ? node.at(selector.index) : undefined);
      case 'slice':
        return isList(node) ? this.#slice(selector, node) : [];
      case 'wildcard':
        return this.#children(node);
      case 'filter':
        return this.#children(node).filter((child) => this.#holds(selector.condition, child));
    }
  }

  #children(node: JsonValue): readonly JsonValue[] {
    const children = childrenOf(node);
    this.#spend(children.length);
    return children;
  }

  #slice(slice: Extract<Selector, { kind: 'slice' }>, list: readonly JsonValue[]): readonly JsonValue[] {
    const { step } = slice;
    if (step === 0) return [];
    const [lowest, highest] = step > 0 ? [0, list.length] : [-1, list.length - 1];
    const bounded = (bound: number) =>
      Math.min(Math.max(bound < 0 ? bound + list.length : bound, lowest), highest);
    const start = slice.start === null ? (step > 0 ? lowest : highest) : bounded(slice.start);
    const end = slice.end === null ? (step > 0 ? highest : lowest) : bounded(slice.end);
    const picked: JsonValue[] = [];
    for (let index = start; step > 0 ? index < end : index > end; index += step) {
      this.#spend(1);
      picked.push(...present(list[index]));
    }
    return picked;
  }

  #holds(condition: Condition, node: JsonValue): boolean {
    this.#spend(1);
    switch (condition.kind) {
      case 'any':
        return condition.of.some((each) => this.#holds(each, node));
      case 'all':
        return condition.of.every((each) => this.#holds(each, node));
      case 'not':
        return !this.#holds(condition.condition, node);
      case 'exists':
        return this.#query(condition.query, node).length > 0;
      case 'matches':
        return this.#matches(condition, node);
      case 'compare': {
        const [left, right] = [this.#value(condition.left, node), this.#value(condition.right, node)];
        this.#spend(weightOf(left) + weightOf(right));
        return compares(condition.operator, left, right);
      }
    }
  }

  #query(query: Query, node: JsonValue): readonly JsonValue[] {
    return this.follow(query, [query.isOfRoot ? this.#root : node]);
  }

  /** Undefined: nothing. */
  #value(operand: Operand, node: JsonValue): JsonValue | undefined {
    switch (operand.kind) {
      case 'literal':
        return this.#literal(operand.source);
      case 'query':
      case 'value': {
        const found = this.#query(operand.query, node);
        return found.length === 1 ? found[0] : undefined;
      }
      case 'count':
        return new JsonNumber(String(this.#query(operand.query, node).length));
      case 'length': {
        const length = lengthOf(this.#value(operand.of, node));
        return length === null ? undefined : new JsonNumber(String(length));
      }
    }
  }

  #literal(source: string): JsonValue | undefined {
    if (!this.#literals.has(source)) this.#literals.set(source, readJson(source)?.value ?? null);
    return this.#literals.get(source);
  }

  #matches({ isWhole, ...operands }: Extract<Condition, { kind: 'matches' }>, node: JsonValue): boolean {
    const text = this.#value(operands.text, node);
    const expression = this.#value(operands.expression, node);
    if (typeof text !== 'string' || typeof expression !== 'string') return false;
    const regex = this.#compiled(searchExpression(expression, isWhole));
    return regex?.has(text, 0, this.#spendOnExpression) ?? false;
  }

  #compiled(expression: string): SearchRegex | null {
    const known = this.#expressions.get(expression);
    if (known !== undefined) return known;
    const compiled = compileSearch(expression, this.#spendOnExpression);
    const usable = typeof compiled === 'string' ? null : compiled;
    this.#expressions.set(expression, usable);
    return usable;
  }

  readonly #spendOnExpression = (steps: number): void => this.#spend(steps / EXPRESSION_WORK);

  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MOST_STEPS) throw new TooMuchWork();
  }
}

function present(value: JsonValue | undefined): readonly JsonValue[] {
  return value === undefined ? [] : [value];
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is ReadonlyMap<string, JsonValue> {
  return value instanceof Map;
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isList(value)) return value;
  return isObject(value) ? [...value.values()] : [];
}

/** What it costs to compare. */
function weightOf(value: JsonValue | undefined): number {
  if (isObject(value) || isList(value)) {
    return childrenOf(value).reduce<number>((sum, child) => sum + weightOf(child), 1);
  }
  return 1;
}

function lengthOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'string') return [...value].length;
  if (isList(value)) return value.length;
  return isObject(value) ? value.size : null;
}

/** @param left undefined: nothing */
function compares(operator: Operator, left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right);
    case '!=':
      return !isEqual(left, right);
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return isLess(left, right) || isEqual(left, right);
    case '>=':
      return isLess(right, left) || isEqual(left, right);
  }
}

function isLess(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left instanceof JsonNumber && right instanceof JsonNumber) return order(left, right) < 0;
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}

function isEqual(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left instanceof JsonNumber && right instanceof JsonNumber) return order(left, right) === 0;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  }
  if (!(left instanceof Map && right instanceof Map)) return left === right;
  return left.size === right.size && [...left].every(([name, value]) => isEqual(value, right.get(name)));
}

const WHOLE = /^-?\d+$/;

/** Whole numbers to their last digit, others as floats. */
function order({ source: left }: JsonNumber, { source: right }: JsonNumber): number {
  const [a, b] =
    WHOLE.test(left) && WHOLE.test(right) ? [BigInt(left), BigInt(right)] : [Number(left), Number(right)];
  return a < b ? -1 : Number(a > b);
}

/** Expressions of `match` and `search` (RFC 9485) in the syntax of the engine that all expressions run on. */

const PIECES = /\\.|\[(?:\\.|[^\]\\])*\]|\./gs;

/** @param isWhole the expression is to match the whole text */
function searchExpression(expression: string, isWhole: boolean): string {
  const same = expression.replace(PIECES, (piece) => (piece === '.' ? String.raw`[^\n\r]` : piece));
  return isWhole ? String.raw`\A(?:${same})\z` : same;
}
