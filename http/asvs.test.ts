/** docs/asvs.md answers every requirement once, and a yes names tests that run. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(ROOT, 'docs', 'asvs.md'), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, numbers = '', answer = '', how = '', shown = '']) => ({ numbers, answer, how, shown }));

/**
 * ASVS 4.0.3, levels 1 and 2: how many requirements each section has, by its number. What is deleted in 4.0.3, and what is
 * of level 3, is in {@link ELSEWHERE}.
 */
const SECTIONS: Readonly<Record<string, number>> = {
  ...{ 1.1: 7, 1.2: 4, 1.4: 5, 1.5: 4, 1.6: 4, 1.7: 2, 1.8: 2, 1.9: 2, '1.10': 1, 1.11: 3, 1.12: 2, 1.14: 6 },
  ...{ 2.1: 12, 2.2: 7, 2.3: 3, 2.4: 5, 2.5: 7, 2.6: 3, 2.7: 6, 2.8: 7, 2.9: 3, '2.10': 4 },
  ...{ 3.1: 1, 3.2: 4, 3.3: 4, 3.4: 5, 3.5: 3, 3.6: 2, 3.7: 1 },
  ...{ 4.1: 5, 4.2: 2, 4.3: 3 },
  ...{ 5.1: 5, 5.2: 8, 5.3: 10, 5.4: 3, 5.5: 4 },
  ...{ 6.1: 3, 6.2: 8, 6.3: 3, 6.4: 2 },
  ...{ 7.1: 4, 7.2: 2, 7.3: 4, 7.4: 3 },
  ...{ 8.1: 6, 8.2: 3, 8.3: 8 },
  ...{ 9.1: 3, 9.2: 5 },
  ...{ 10.1: 1, 10.2: 6, 10.3: 3 },
  ...{ 11.1: 8 },
  ...{ 12.1: 3, 12.2: 1, 12.3: 6, 12.4: 2, 12.5: 2, 12.6: 1 },
  ...{ 13.1: 5, 13.2: 6, 13.3: 2, 13.4: 2 },
  ...{ 14.1: 5, 14.2: 6, 14.3: 3, 14.4: 7, 14.5: 4 },
};
const DELETED = ['1.4.2', '1.4.3', '1.12.1', '4.1.4', '7.3.2', '13.1.2', '13.2.4', '14.3.1'];
const LEVEL_3 = [
  ...[
    '1.11.3',
    '2.2.4',
    '2.2.5',
    '2.2.6',
    '2.2.7',
    '3.6.1',
    '3.6.2',
    '6.2.7',
    '6.2.8',
    '6.3.3',
    '8.1.5',
    '8.1.6',
  ],
  ...['9.2.5', '10.1.1', '10.2.3', '10.2.4', '10.2.5', '10.2.6', '14.1.5'],
];
const ELSEWHERE = new Set([...DELETED, ...LEVEL_3]);

function requirements(): readonly string[] {
  return Object.entries(SECTIONS).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, index) => `${section}.${index + 1}`).filter(
      (one) => !ELSEWHERE.has(one),
    ),
  );
}

/** `5.1.3, 5.1.5–5.1.7` in single numbers; a range stays within its section. */
function numbersOf(cell: string): readonly string[] {
  return cell.split(', ').flatMap((part) => {
    const [first = '', last = first] = part.split('–');
    const section = first.slice(0, first.lastIndexOf('.') + 1);
    const [from, to] = [first, last].map((one) => Number(one.slice(section.length)));
    if (!last.startsWith(section) || !from || !to || to < from) return [`${part} is no range`];
    return Array.from({ length: to - from + 1 }, (_, index) => `${section}${from + index}`);
  });
}

test('every requirement of levels 1 and 2 has one answer', () => {
  // 267 with the eight that 4.0.3 deleted.
  expect(requirements()).toHaveLength(267 - DELETED.length);
  expect(rows.flatMap(({ numbers }) => numbersOf(numbers)).sort()).toEqual([...requirements()].sort());
});

test('every answer is one of three, with words to it', () => {
  for (const { numbers, answer, how } of rows) {
    expect([numbers, ['yes', 'no', 'n/a'].includes(answer)]).toEqual([numbers, true]);
    expect([numbers, how.split(' ').length >= 3]).toEqual([numbers, true]);
  }
});

/** `file` “name of a test, or of a group of tests, in it” */
const PROOF = /`([\w./-]+\.test\.ts)` “([^”]+)”/g;

test('every yes names the tests that show it, and they exist', () => {
  const missing: unknown[] = [];
  for (const { numbers, answer, shown } of rows) {
    const proofs = [...shown.matchAll(PROOF)].map(([, file = '', name = '']) => ({ file, name }));
    const isWhole = proofs.map(({ file, name }) => `\`${file}\` “${name}”`).join('; ') === shown;
    if ((answer === 'yes') !== proofs.length > 0 || !isWhole) missing.push({ numbers, answer, shown });
    missing.push(...proofs.filter(({ file, name }) => !titlesOf(file).has(name)));
  }
  expect(missing).toEqual([]);
});

const titles = new Map<string, ReadonlySet<string>>();

/** What a file calls its tests and groups that always run, tables by their pattern. */
function titlesOf(file: string): ReadonlySet<string> {
  const known = titles.get(file) ?? readTitles(path.join(ROOT, file));
  titles.set(file, known);
  return known;
}

function readTitles(file: string): ReadonlySet<string> {
  const found = new Set<string>();
  if (!existsSync(file)) return found;
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title) && declaresTests(node.expression)) found.add(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return found;
}

/** `test`, `it` and `describe`, and their tables; neither `skip` nor `todo` nor `runIf`. */
function declaresTests(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return ['test', 'it', 'describe'].includes(callee.text);
  if (!ts.isCallExpression(callee) || !ts.isPropertyAccessExpression(callee.expression)) return false;
  return callee.expression.name.text === 'each' && declaresTests(callee.expression.expression);
}

test('every page that is linked exists', () => {
  const linked = [...text.matchAll(/\]\(([\w./-]+)\)/g)].map(([, file]) => path.join('docs', file ?? ''));
  expect(linked.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});
