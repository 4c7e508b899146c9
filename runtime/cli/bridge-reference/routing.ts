/** Which operation a request asks for. */
import { OPERATIONS, type OperationName } from './operations.ts';
import { invalid } from './wire.ts';

export const OPERATION_NAMES = Object.keys(OPERATIONS) as OperationName[];

export function split(target: string): { path: string; query: URLSearchParams } {
  const [path = '', ...rest] = target.split('?');
  return { path, query: new URLSearchParams(rest.join('?')) };
}

/**
 * Looks at the raw path, so that an encoded slash stays inside its segment.
 * @returns the path parameter still encoded, empty where there is none; null: no such operation
 */
export function findOperation(method: string, path: string): { name: OperationName; segment: string } | null {
  const segments = path.split('/');
  for (const name of OPERATION_NAMES) {
    const pattern = OPERATIONS[name].path.split('/');
    const fits = pattern.length === segments.length && OPERATIONS[name].method === method;
    if (!fits || !pattern.every((part, index) => part === '*' || part === segments[index])) continue;
    return { name, segment: segments[pattern.indexOf('*')] ?? '' };
  }
  return null;
}

/** @throws Refusal */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('path', 'is not percent-encoded UTF-8');
  }
}
