/** Reads JSON that others send, and not more of it than the process has time for. */

/** More than the largest page of the smallest events has; to make as many takes a tenth of a second at most. */
const MOST_VALUES = 250_000;
const MOST_DEPTH = 100;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

type Reviver = (key: string, value: unknown) => unknown;

/** Undefined: no JSON, or too many values or levels, which are counted before anything is made of them. */
export function parseAnswer(body: Buffer, reviver?: Reviver): unknown {
  if (!isModest(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8'), reviver);
  } catch {
    // Not JSON: whoever asks says what that means.
    return undefined;
  }
}

/** The same, its texts as the database can hold them: with U+FFFD for U+0000 and for half a surrogate pair. */
export function parseStorable(body: Buffer): unknown {
  const mayHoldThem = ['\\u0000', '\\ud', '\\uD'].some((escaped) => body.includes(escaped));
  return parseAnswer(body, mayHoldThem ? storable : undefined);
}

function storable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/\0|\p{Cs}/gu, '\ufffd') : value;
}

/** Whether there is time to read it, should it be JSON. */
export function isModest(body: Buffer): boolean {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) at = endOfString(body, at);
    else if (byte === COMMA) values++;
    else if (OPENING.has(byte)) {
      values++;
      depth++;
    } else if (CLOSING.has(byte)) depth--;
    if (values > MOST_VALUES || depth > MOST_DEPTH) return false;
  }
  return true;
}

/** Where its other quotation mark stands. */
function endOfString(body: Buffer, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
