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

/** A longer list shows only what the other one lacks. */
const LONG_LIST = 20;
/** Characters of a value that somebody may still compare by eye. */
const MOST_SHOWN = 10_000;

/** Fields that differ, arrays and everything in them as one value. */
export function differences(mine: unknown, theirs: unknown, at = ''): readonly Difference[] {
  if (isPlainObject(mine) && isPlainObject(theirs)) {
    const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    return names.flatMap((name) => differences(mine[name], theirs[name], at + pointer(name)));
  }
  if (same(mine, theirs)) return [];
  return [{ pointer: at, mine: show(lackedBy(theirs, mine)), theirs: show(lackedBy(mine, theirs)) }];
}

/** Of a long list what the other one lacks; all of it where nothing is lacking: they differ in their order. */
function lackedBy(other: unknown, value: unknown): unknown {
  if (!Array.isArray(value) || !Array.isArray(other)) return value;
  if (Math.max(value.length, other.length) <= LONG_LIST) return value;
  const there = new Set(other.map(canonical));
  const here = new Set(value.map(canonical));
  if (value.every((item) => there.has(canonical(item))) && other.every((item) => here.has(canonical(item))))
    return value;
  return value.filter((item) => !there.has(canonical(item)));
}

/** Equal for values that say the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
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
  if (value === undefined || value === null || value === '' || isEmptyList(value)) return '—';
  const text = typeof value === 'object' ? JSON.stringify(value, null, 1) : String(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
