/** The operation table as a whole: every resource's part, put together and checked. */
import type { Operation } from './operation.ts';
import { parameterNames } from './router.ts';

/**
 * Joins the parts of the table.
 * @throws {Error} an id, or a method and path, is declared twice; or an id prefix names no path parameter
 */
export function assembleOperations(...parts: readonly (readonly Operation[])[]): readonly Operation[] {
  const operations = parts.flat();
  const ids = new Set<string>();
  const places = new Set<string>();
  for (const operation of operations) {
    const place = placeOf(operation);
    if (ids.has(operation.id)) throw new Error(`the operation ${operation.id} is declared twice`);
    if (places.has(place)) throw new Error(`${place} is declared twice, as ${operation.id} too`);
    ids.add(operation.id);
    places.add(place);
    checkIds(operation);
  }
  return operations;
}

/** Method and path, whatever the parameters are called. */
function placeOf({ method, path }: Operation): string {
  return `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`;
}

function checkIds({ id, path, ids = {} }: Operation): void {
  const names = parameterNames(path);
  const stray = Object.keys(ids).find((name) => !names.includes(name));
  if (stray) throw new Error(`the operation ${id} has no path parameter ${stray}`);
}
