/** `docs/templates.md` is true: its examples give what it says, and it names every function. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FUNCTIONS } from './functions/table.ts';
import { rendered } from './run.fixture.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/templates.md'), 'utf8');
const examples = [...page.matchAll(/```template\n([\s\S]*?)\n```\n\n```text\n([\s\S]*?)\n```/g)];

test.each(examples.map(([, source = '', result = '']) => [source, result]))('%s', (source, result) => {
  expect(rendered(source)).toBe(result);
});

test('every function is there', () => {
  expect(examples.length).toBeGreaterThan(3);
  expect([...FUNCTIONS.keys()].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
