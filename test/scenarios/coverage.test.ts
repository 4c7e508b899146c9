/** Every row of the contract's tables has a case here, or a test elsewhere that cites it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { caseName } from './case.ts';
import { CASES, ROWS, TESTED_ELSEWHERE } from './tables.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const cased = new Set(CASES.map(({ table, row }) => `${table} ${row}`));

test('every row of the tables has a case, or is tested elsewhere', () => {
  const rows = Object.entries(ROWS).flatMap(([table, count]) =>
    Array.from({ length: count }, (_, index) => `${table} ${index + 1}`),
  );
  const elsewhere = TESTED_ELSEWHERE.map(({ table, row }) => `${table} ${row}`);
  expect([...cased, ...elsewhere].sort()).toEqual(rows.sort());
});

test.each(TESTED_ELSEWHERE)('$table row $row is cited by $file', ({ file, citation }) => {
  expect(readFileSync(path.join(root, file), 'utf8')).toContain(citation);
});

test('no two cases have one name', () => {
  expect(new Set(CASES.map(caseName)).size).toBe(CASES.length);
});
