/** Reads and changes JSON by RFC 6901 pointers. */
import type { Json, JsonObject } from './valid-bodies.ts';

type Container = { [key: string]: Json };

function tokensOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Every place of a body below its root: the containers before what they hold. */
export function pointersOf(value: Json, pointer = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return [at, ...pointersOf(inner, at)];
  });
}

/** Undefined where nothing is. */
export function valueAt(body: Json, pointer: string): Json | undefined {
  let value: Json | undefined = body;
  for (const token of tokensOf(pointer)) value = (value as Container | undefined)?.[token];
  return value;
}

/** A copy that holds `value` at the pointer; what is missing on the way becomes an object. */
export function withValue(body: JsonObject, pointer: string, value: Json): JsonObject {
  const copy = structuredClone(body) as Container;
  const tokens = tokensOf(pointer);
  const last = tokens.at(-1) ?? '';
  let place = copy;
  for (const token of tokens.slice(0, -1)) {
    place[token] ??= {};
    place = place[token] as Container;
  }
  place[last] = value;
  return copy;
}
