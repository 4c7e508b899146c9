/** String literals of a JSONPath: JSON's escapes, in quotes of either kind (RFC 9535 §2.3.1.1). */
import type { PathReader } from './reader.ts';

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
