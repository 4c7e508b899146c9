/** Expressions of `match` and `search` (RFC 9485) in the syntax of the engine that all expressions run on. */

const PIECES = /\\.|\[(?:\\.|[^\]\\])*\]|\./gs;

/** @param isWhole the expression is to match the whole text */
export function searchExpression(expression: string, isWhole: boolean): string {
  const same = expression.replace(PIECES, (piece) => (piece === '.' ? String.raw`[^\n\r]` : piece));
  return isWhole ? String.raw`\A(?:${same})\z` : same;
}
