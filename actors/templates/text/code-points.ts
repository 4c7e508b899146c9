/** Places in a text by code points. */

/** The offset behind the first `count` code points. */
export function offsetOf(text: string, count: number): number {
  let offset = 0;
  for (let passed = 0; passed < count && offset < text.length; passed++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

/** The offset before the last `count` code points. */
export function offsetFromEnd(text: string, count: number): number {
  let offset = text.length;
  for (let passed = 0; passed < count && offset > 0; passed++) {
    offset -= offset > 1 && (text.codePointAt(offset - 2) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
