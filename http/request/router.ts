/** The operation table, and the operation of a path. Exact: no trailing slash, no other letter case, no 405 (api §1.2 rule 1). */
import type { Method, Operation } from '../operation.ts';

/** What of an operation decides where requests go. */
type Routed = Pick<Operation, 'id' | 'method' | 'path'>;

export interface Match<Of extends Routed = Operation> {
  readonly operation: Of;
  /** Parameters as sent, percent-decoded; null for one that cannot be decoded. */
  readonly params: Readonly<Record<string, string | null>>;
}

export interface Router<Of extends Routed = Operation> {
  /** @param path below /api/v1 */
  match(method: string, path: string): Match<Of> | null;
}

interface Node<Of> {
  readonly fixed: Map<string, Node<Of>>;
  any: Node<Of> | null;
  readonly operations: Map<Method, Of>;
}

/** @throws {Error} two operations claim one method and path */
export function createRouter<Of extends Routed>(operations: readonly Of[]): Router<Of> {
  const root = emptyNode<Of>();
  for (const operation of operations) add(root, operation);

  return {
    match(method, path) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const values: string[] = [];
      const operation = find(root, path.split('/').slice(1), 0, wanted as Method, values);
      return operation ? { operation, params: named(operation, values) } : null;
    },
  };
}

function emptyNode<Of>(): Node<Of> {
  return { fixed: new Map(), any: null, operations: new Map() };
}

function add<Of extends Routed>(root: Node<Of>, operation: Of): void {
  let node = root;
  for (const segment of operation.path.split('/').slice(1)) node = step(node, segment);
  const taken = node.operations.get(operation.method);
  if (taken) {
    throw new Error(`${operation.id} and ${taken.id} are both ${operation.method} ${operation.path}`);
  }
  node.operations.set(operation.method, operation);
}

function step<Of>(node: Node<Of>, segment: string): Node<Of> {
  if (segment.startsWith('{')) {
    node.any ??= emptyNode();
    return node.any;
  }
  const known = node.fixed.get(segment);
  if (known) return known;
  const made = emptyNode<Of>();
  node.fixed.set(segment, made);
  return made;
}

/** A fixed segment wins; when it leads nowhere the parameter is tried. Fills `values` on success. */
function find<Of>(
  node: Node<Of>,
  segments: readonly string[],
  at: number,
  method: Method,
  values: string[],
): Of | null {
  const segment = segments[at];
  if (segment === undefined) return node.operations.get(method) ?? null;
  const fixed = node.fixed.get(segment);
  const found = fixed ? find(fixed, segments, at + 1, method, values) : null;
  if (found || !node.any || segment === '') return found;
  values.push(segment);
  const deeper = find(node.any, segments, at + 1, method, values);
  if (!deeper) values.pop();
  return deeper;
}

/** Names of the parameters of a path template, in order. */
export function parameterNames(path: string): readonly string[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '');
}

function named(operation: Routed, values: readonly string[]): Record<string, string | null> {
  const params: Record<string, string | null> = {};
  parameterNames(operation.path).forEach((name, index) => {
    params[name] = decode(values[index] ?? '');
  });
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign is an error of the sender, answered as a malformed parameter.
    return null;
  }
}

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
