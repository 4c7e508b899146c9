/** Nothing of the tables is forgotten: every row has a case, or is named with the reason why not. */
import { expect, test } from 'vitest';
import { caseName } from './case.ts';
import { NOT_YET } from './not-yet.ts';
import { CASES, ROWS } from './tables.ts';

const cased = new Set(CASES.map(({ table, row }) => `${table} ${row}`));
const named = new Set(NOT_YET.map(({ name }) => name));

test('every row of the tables has a case, or a reason why it has none', () => {
  const missing = Object.entries(ROWS).flatMap(([table, count]) =>
    Array.from({ length: count }, (_, index) => `${table} ${index + 1}`).filter(
      (row) => !cased.has(row) && !named.has(row),
    ),
  );
  expect(missing).toEqual([]);
});

test('no case has a row that the tables lack, and no two have one name', () => {
  for (const { table, row } of CASES) expect(row).toBeLessThanOrEqual(ROWS[table]);
  expect(new Set(CASES.map(caseName)).size).toBe(CASES.length);
});

test('what is not built yet is known by name, each with its reason', () => {
  const names = new Set([...CASES.map(caseName), ...Object.entries(ROWS).flatMap(rowNames)]);
  for (const { name, why } of NOT_YET) {
    expect(names.has(name), name).toBe(true);
    expect(cased.has(name), `${name} has a case`).toBe(false);
    expect(why).not.toBe('');
  }
});

function rowNames([table, count]: [string, number]): string[] {
  return Array.from({ length: count }, (_, index) => `${table} ${index + 1}`);
}
