/** Filters of a JSONPath, well-typed or refused (RFC 9535 §2.3.5, §2.4). */
import { readStringLiteral } from './parse-string.ts';
import { type Condition, isSingular, OPERATORS, type Operand, type Query, type Segment } from './path.ts';
import type { PathReader } from './reader.ts';

type ReadSegments = (reader: PathReader) => Segment[];

export function readCondition(reader: PathReader, readSegments: ReadSegments): Condition {
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
