/** JSON pointers between forms and problems, and the comparison behind the conflict dialog. */
import type { FieldError } from '../api/problem.ts';

/** Writes a pointer: `pointer('matchers', 0, 'label')` is `/matchers/0/label`. */
export function pointer(...path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The error of exactly this field, or of something below it when `deep`. */
export function errorAt(errors: readonly FieldError[], at: string, deep = false): FieldError | undefined {
  return errors.find((error) => error.pointer === at || (deep && error.pointer.startsWith(`${at}/`)));
}

export interface Difference {
  readonly pointer: string;
  readonly mine: string;
  readonly theirs: string;
}

/** Fields that differ, arrays and everything in them as one value. */
export function differences(mine: unknown, theirs: unknown, at = ''): readonly Difference[] {
  if (isPlainObject(mine) && isPlainObject(theirs)) {
    const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    return names.flatMap((name) => differences(mine[name], theirs[name], at + pointer(name)));
  }
  if (same(mine, theirs)) return [];
  return [{ pointer: at, mine: show(mine), theirs: show(theirs) }];
}

/** Whether two JSON values say the same; the order of an object's members says nothing. */
export function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => same(item, other[index]));
  }
  if (isPlainObject(one) && isPlainObject(other)) {
    const names = Object.keys(one);
    return names.length === Object.keys(other).length && names.every((name) => same(one[name], other[name]));
  }
  return one === other;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  if (value === undefined || value === null || value === '') return '—';
  return typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value);
}
