/** The example can be taken out of this repository: it needs Node.js and three packages. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const FOLDER = import.meta.dirname;
const ALLOWED = /^(?:\.\/[\w-]+\.ts|node:http|node:crypto|node:fs|commonmark|eta\/core|valibot)$/;

const files = readdirSync(FOLDER).filter(
  (file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(file),
);

test.each(files)('%s imports nothing of the service', (file) => {
  const source = readFileSync(`${FOLDER}/${file}`, 'utf8');
  const imported = [...source.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].map(
    (match) => match[1] ?? '',
  );
  expect(imported.filter((target) => !ALLOWED.test(target))).toEqual([]);
});
