/** JSON as it was written: numbers keep every digit, members keep their order. */

export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

export type JsonObject = ReadonlyMap<string, JsonValue>;

/** A number with the digits of its source: ids of 64 bits survive. */
export class JsonNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** Deeper values are not read: whatever walks through them may do so by recursion. */
const MOST_DEPTH = 500;

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s,:{}[\]"]+/g;

type Open =
  | { readonly kind: 'list'; readonly items: JsonValue[] }
  | { readonly kind: 'object'; readonly members: Map<string, JsonValue>; name: string | null };

/** Null when a text is not exactly one JSON value, or is nested too deep. */
export function readJson(text: string): { readonly value: JsonValue } | null {
  return isJson(text) ? build(text) : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** @param text is JSON: what its tokens mean needs no further check */
function build(text: string): { readonly value: JsonValue } | null {
  const open: Open[] = [];
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '[' || token === '{') {
      if (open.length === MOST_DEPTH) return null;
      open.push(
        token === '[' ? { kind: 'list', items: [] } : { kind: 'object', members: new Map(), name: null },
      );
      continue;
    }
    const around = open.at(-1);
    if (around?.kind === 'object' && around.name === null && token.startsWith('"')) {
      around.name = JSON.parse(token);
      continue;
    }
    const value = token === ']' || token === '}' ? closed(open.pop()) : simple(token);
    if (!put(open.at(-1), value)) return { value };
  }
  throw new Error('a JSON text ended before its value');
}

/** False for the outermost value. */
function put(around: Open | undefined, value: JsonValue): boolean {
  if (!around) return false;
  if (around.kind === 'list') around.items.push(value);
  else if (around.name !== null) {
    around.members.set(around.name, value);
    around.name = null;
  }
  return true;
}

function closed(open: Open | undefined): JsonValue {
  if (!open) throw new Error('a JSON text closes what it did not open');
  return open.kind === 'list' ? open.items : open.members;
}

function simple(token: string): JsonValue {
  if (token === 'null') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  return token.startsWith('"') ? String(JSON.parse(token)) : new JsonNumber(token);
}
