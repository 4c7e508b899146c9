/** Reads a JSONPath (RFC 9535). */
import {
  type Condition,
  isSingular,
  OPERATORS,
  type Operand,
  type Path,
  PathReader,
  PathSyntax,
  type Query,
  readStringLiteral,
  type Segment,
  type Selector,
} from './path.ts';

export type ParsedPath =
  | { readonly ok: true; readonly path: Path }
  /** What is wrong, and at which character. */
  | { readonly ok: false; readonly message: string };

export function parsePath(source: string): ParsedPath {
  const reader = new PathReader(source);
  try {
    reader.expect('$');
    const segments = readSegments(reader);
    if (!reader.isAtEnd) throw reader.unexpected();
    return { ok: true, path: { segments } };
  } catch (error) {
    if (error instanceof PathSyntax) return { ok: false, message: error.message };
    throw error;
  }
}

const FIRST = String.raw`A-Za-z_\u{80}-\u{D7FF}\u{E000}-\u{10FFFF}`;
const SHORT_NAME = new RegExp(`[${FIRST}][0-9${FIRST}]*`, 'uy');
/** No `-0`, no zeros in front. */
const INTEGER = /0|-?[1-9][0-9]*/y;

/** As many as follow. */
export function readSegments(reader: PathReader): Segment[] {
  const segments: Segment[] = [];
  for (;;) {
    const before = reader.at;
    reader.skipBlanks();
    const segment = readSegment(reader);
    if (segment) segments.push(segment);
    else {
      reader.at = before;
      return segments;
    }
  }
}

function readSegment(reader: PathReader): Segment | null {
  if (reader.take('..')) {
    const selectors = reader.take('[') ? readBracketed(reader) : [readShorthand(reader)];
    return { isDescendant: true, selectors };
  }
  if (reader.take('.')) return { isDescendant: false, selectors: [readShorthand(reader)] };
  return reader.take('[') ? { isDescendant: false, selectors: readBracketed(reader) } : null;
}

function readShorthand(reader: PathReader): Selector {
  if (reader.take('*')) return { kind: 'wildcard' };
  const name = reader.takeMatch(SHORT_NAME);
  if (name === null) throw reader.failure('a name or * must follow');
  return { kind: 'name', name };
}

function readBracketed(reader: PathReader): Selector[] {
  const selectors: Selector[] = [];
  do {
    reader.skipBlanks();
    selectors.push(readSelector(reader));
    reader.skipBlanks();
  } while (reader.take(','));
  reader.expect(']');
  return selectors;
}

function readSelector(reader: PathReader): Selector {
  if (reader.take('*')) return { kind: 'wildcard' };
  if (reader.take('?')) {
    reader.skipBlanks();
    return { kind: 'filter', condition: reader.nested(() => readCondition(reader, readSegments)) };
  }
  const name = readStringLiteral(reader);
  return name === null ? readIndexOrSlice(reader) : { kind: 'name', name };
}

function readIndexOrSlice(reader: PathReader): Selector {
  const start = readInteger(reader);
  const behind = reader.at;
  reader.skipBlanks();
  if (!reader.take(':')) {
    reader.at = behind;
    if (start === null) throw reader.unexpected();
    return { kind: 'index', index: start };
  }
  reader.skipBlanks();
  const end = readInteger(reader);
  reader.skipBlanks();
  if (!reader.take(':')) return { kind: 'slice', start, end, step: 1 };
  reader.skipBlanks();
  return { kind: 'slice', start, end, step: readInteger(reader) ?? 1 };
}

function readInteger(reader: PathReader): number | null {
  const { at } = reader;
  const digits = reader.takeMatch(INTEGER);
  if (digits === null) return null;
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  reader.at = at;
  throw reader.failure('this number is too large');
}

/** Filters of a JSONPath, well-typed or refused (RFC 9535 §2.3.5, §2.4). */
type ReadSegments = (reader: PathReader) => Segment[];

function readCondition(reader: PathReader, readSegments: ReadSegments): Condition {
  const all = (): Condition => joined(reader, '&&', 'all', () => readBasic(reader, readSegments));
  return joined(reader, '||', 'any', all);
}

function joined(reader: PathReader, sign: string, kind: 'any' | 'all', read: () => Condition): Condition {
  const first = read();
  const of = [first];
  for (;;) {
    const before = reader.at;
    reader.skipBlanks();
    if (!reader.take(sign)) {
      reader.at = before;
      return of.length === 1 ? first : { kind, of };
    }
    reader.skipBlanks();
    of.push(read());
  }
}

function readBasic(reader: PathReader, readSegments: ReadSegments): Condition {
  if (reader.take('!')) {
    reader.skipBlanks();
    return { kind: 'not', condition: readGroup(reader, readSegments) ?? readTest(reader, readSegments) };
  }
  return readGroup(reader, readSegments) ?? readTestOrComparison(reader, readSegments);
}

function readGroup(reader: PathReader, readSegments: ReadSegments): Condition | null {
  if (!reader.take('(')) return null;
  reader.skipBlanks();
  const condition = reader.nested(() => readCondition(reader, readSegments));
  reader.skipBlanks();
  reader.expect(')');
  return condition;
}

/** A condition as it is, or something that a comparison can use. */
type Term = { readonly condition: Condition } | { readonly operand: Operand };

function readTest(reader: PathReader, readSegments: ReadSegments): Condition {
  const { at } = reader;
  const term = readTerm(reader, readSegments);
  if ('condition' in term) return term.condition;
  if (term.operand.kind === 'query') return { kind: 'exists', query: term.operand.query };
  reader.at = at;
  throw reader.failure('this is a value; compare it with another one');
}

function readTestOrComparison(reader: PathReader, readSegments: ReadSegments): Condition {
  const { at } = reader;
  const left = readTerm(reader, readSegments);
  const behind = reader.at;
  reader.skipBlanks();
  const operator = OPERATORS.find((sign) => reader.take(sign));
  if (!operator) {
    reader.at = at;
    const test = readTest(reader, readSegments);
    reader.at = behind;
    return test;
  }
  reader.skipBlanks();
  const rightAt = reader.at;
  const right = readTerm(reader, readSegments);
  return {
    kind: 'compare',
    operator,
    left: comparable(reader, left, at),
    right: comparable(reader, right, rightAt),
  };
}

function comparable(reader: PathReader, term: Term, at: number): Operand {
  const isOne = 'operand' in term && (term.operand.kind !== 'query' || isSingular(term.operand.query));
  if (isOne) return term.operand;
  reader.at = at;
  throw reader.failure('this is not one value; it cannot be compared');
}

const FUNCTION = /[a-z][a-z_0-9]*\(/y;
const LITERAL = /(?:true|false|null)(?![A-Za-z_0-9(])|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function readTerm(reader: PathReader, readSegments: ReadSegments): Term {
  const query = readQuery(reader, readSegments);
  if (query) return { operand: { kind: 'query', query } };
  const { at } = reader;
  const called = reader.takeMatch(FUNCTION);
  if (called !== null)
    return reader.nested(() => readFunction(reader, { name: called.slice(0, -1), at }, readSegments));
  const text = readStringLiteral(reader);
  const source = text === null ? reader.takeMatch(LITERAL) : JSON.stringify(text);
  if (source === null) throw reader.unexpected();
  return { operand: { kind: 'literal', source } };
}

function readQuery(reader: PathReader, readSegments: ReadSegments): Query | null {
  const isOfRoot = reader.take('$');
  return isOfRoot || reader.take('@') ? { isOfRoot, segments: readSegments(reader) } : null;
}

/** Its name has been read, up to the parenthesis. */
function readFunction(
  reader: PathReader,
  { name, at }: { readonly name: string; readonly at: number },
  readSegments: ReadSegments,
): Term {
  const value = (): Operand => {
    reader.skipBlanks();
    const argumentAt = reader.at;
    return comparable(reader, readTerm(reader, readSegments), argumentAt);
  };
  const nodes = (): Query => {
    reader.skipBlanks();
    const query = readQuery(reader, readSegments);
    if (!query) throw reader.failure(`${name} takes a query`);
    return query;
  };
  const closing = <Made extends Term>(made: Made): Made => {
    reader.skipBlanks();
    reader.expect(')');
    return made;
  };
  switch (name) {
    case 'length':
      return closing({ operand: { kind: name, of: value() } });
    case 'count':
    case 'value':
      return closing({ operand: { kind: name, query: nodes() } });
    case 'match':
    case 'search': {
      const text = value();
      reader.skipBlanks();
      reader.expect(',');
      const expression = value();
      return closing({ condition: { kind: 'matches', isWhole: name === 'match', text, expression } });
    }
    default:
      reader.at = at;
      throw reader.failure(`there is no function ${JSON.stringify(name)}`);
  }
}
