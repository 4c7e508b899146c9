import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(ROOT, 'docs', 'asvs.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('every answer is one of three, with words to it', () => {
  expect(rows.length).toBeGreaterThan(90);
  for (const [, number, answer, how] of rows) {
    expect([number, ['yes', 'no', 'n/a'].includes(answer ?? '')]).toEqual([number, true]);
    expect([number, (how ?? '').length > 10]).toEqual([number, true]);
  }
});

/** `file` “name of a test in it” */
const PROOF = /`([\w./-]+\.test\.ts)` “([^”]+)”/g;

test('every yes names the tests that show it, and they exist', () => {
  const missing: unknown[] = [];
  for (const [, number, answer, , shown = ''] of rows) {
    const proofs = [...shown.matchAll(PROOF)].map(([, file = '', name = '']) => ({ file, name }));
    if ((answer === 'yes') !== proofs.length > 0) missing.push({ number, answer, shown });
    missing.push(...proofs.filter(({ file, name }) => !isTest(file, name)));
  }
  expect(missing).toEqual([]);
});

/** Whether the file declares a test of that name, alone or in a table. */
function isTest(file: string, name: string): boolean {
  const place = path.join(ROOT, file);
  if (!existsSync(place)) return false;
  const quoted = `'${name.replaceAll("'", "\\'")}'`;
  const source = readFileSync(place, 'utf8');
  return source.includes(`(${quoted}`) || source.includes(`${quoted},`);
}

test('every page that is linked exists', () => {
  const linked = [...text.matchAll(/\]\(([\w./-]+)\)/g)].map(([, file]) => path.join('docs', file ?? ''));
  expect(linked.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});
