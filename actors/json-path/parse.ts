/** Reads a JSONPath (RFC 9535). */
import { readCondition } from './parse-filter.ts';
import { readStringLiteral } from './parse-string.ts';
import type { Path, Segment, Selector } from './path.ts';
import { PathReader, PathSyntax } from './reader.ts';

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
