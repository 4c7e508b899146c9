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

test('every proof that is named exists', () => {
  const named = [...text.matchAll(/`([\w./-]+\/[\w./-]+|[\w-]+\.json|Dockerfile)`/g)].map(
    ([, file]) => file ?? '',
  );
  const linked = [...text.matchAll(/\]\(([\w./-]+)\)/g)].map(([, file]) => path.join('docs', file ?? ''));
  expect(named.length).toBeGreaterThan(90);
  expect([...named, ...linked].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});
