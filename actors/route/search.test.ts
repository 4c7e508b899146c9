import * as fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test } from 'vitest';
import { compileSearch, type SearchRegex, sizeOf } from './search.ts';

const free = () => {};

function searchOf(expression: string, spend: (steps: number) => void = free): SearchRegex {
  const search = compileSearch(expression, spend);
  if (typeof search === 'string') throw new Error(search);
  return search;
}

/** Steps of compiling an expression, and of looking for it in a text. */
function costOf(expression: string, text: string): { readonly compiling: number; readonly looking: number } {
  let steps = 0;
  const spend = (more: number) => {
    steps += more;
  };
  const search = searchOf(expression, spend);
  const compiling = steps;
  search.has(text, 0, spend);
  return { compiling, looking: steps - compiling };
}

const ATOMS = [
  'a',
  'b',
  '.',
  '^',
  '$',
  '\\b',
  '\\B',
  '(?m:^)',
  '(?m:$)',
  '[^a]',
  '\\n',
  'é',
  '😀',
  '(?i:É)',
  '\\w',
];
const expressions = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `(${left}|${right})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('*', '+?', '?', '*?', '{2}', '{1,3}'))
      .map(([inner, times]) => `(?:${inner})${times}`),
  ),
})).expression;
const texts = fc
  .array(fc.constantFrom('a', 'b', 'A', ' ', '\n', 'é', 'É', '😀', '\ud83d'), { maxLength: 12 })
  .map((parts) => parts.join(''));

test('finds what the engine finds', () => {
  fc.assert(
    fc.property(expressions, texts, fc.nat({ max: 12 }), (expression, text, at) => {
      const from = Math.min(at, text.length);
      const matcher = RE2JS.compile(expression).matcher(text);
      const wanted = matcher.find(from) ? [matcher.start(), matcher.end(), matcher.group(0)] : null;
      const search = searchOf(expression);
      const found = search.find(text, from, free);
      expect(found && [found.start, found.end, found.group('0')]).toEqual(wanted);
      expect(search.has(text, from, free)).toBe(wanted !== null);
    }),
    { numRuns: 3_000 },
  );
});

test('goes on when the automaton has grown too large', () => {
  let bits = 1;
  const text = Array.from({ length: 7_000 }, () => {
    bits = (bits * 48_271) % 2_147_483_647;
    return bits % 2 ? 'a' : 'b';
  }).join('');
  const search = searchOf('a[ab]{300}c');
  expect(search.has(text, 0, free)).toBe(false);
  expect(search.find(`${text}a${'b'.repeat(300)}c`, 0, free)?.end).toBe(7_302);
});

describe('work', () => {
  test('is left undone when it is not paid for', () => {
    const search = searchOf('[^b]{500}!');
    const refuse = () => {
      throw new Error('too much');
    };
    expect(() => search.has('a'.repeat(1_000), 0, refuse)).toThrow('too much');
    expect(() => compileSearch('a', refuse)).toThrow('too much');
    expect(search.has(`${'a'.repeat(500)}!`, 0, free)).toBe(true);
  });

  test('grows with the instructions that are alive', () => {
    const text = 'a'.repeat(1_000);
    expect(costOf('[^b]{500}!', text).looking).toBeGreaterThan(500 * 500);
    expect(costOf('[^b]{5}!', text).looking).toBeLessThan(500);
  });

  test('is little for a text of which the automaton has learnt enough', () => {
    const search = searchOf('[^b]{500}!');
    const text = 'a'.repeat(1_000);
    search.has(text, 0, free);
    let steps = 0;
    search.has(text, 0, (more) => {
      steps += more;
    });
    expect(steps).toBeLessThan(500);
  });

  test('of compiling follows the repetitions, classes and ranges', () => {
    expect(costOf('(a|b){500}(c|d){400}', '').compiling).toBeGreaterThan(40_000);
    expect(costOf('\\pL{500}', '').compiling).toBeGreaterThan(200_000);
    expect(costOf('(?i)[B-\\x{1E942}]', '').compiling).toBeGreaterThan(80_000);
    expect(costOf('^payments-[a-z0-9-]+$', '').compiling).toBeLessThan(3_000);
  });

  test('of the groups of a match is paid for when they are asked for', () => {
    let steps = 0;
    const found = searchOf('(a*)b').find(`${'a'.repeat(1_000)}b`, 0, (more) => {
      steps += more;
    });
    const before = steps;
    expect(found?.group('1')).toHaveLength(1_000);
    expect(steps - before).toBeGreaterThan(500);
  });
});

describe('an expression is measured', () => {
  test.each([
    ['abc', 3],
    ['a{1000}', 1_000],
    ['(?:ab|c){2,10}d', 31],
    ['((a{10}){10}){10}', 1_000],
    ['(a{10}', 10],
    ['a{2}{3}', 6],
    ['a{,3}', 5],
    ['(?P<name>a)(?i:b)', 2],
    ['\\{1000}', 6],
    ['\\x{10FFFF}{3}', 3],
    ['\\pL{10}', 210],
    ['😀{4}', 4],
  ])('%s', (expression, written) => {
    expect(sizeOf(expression).written).toBe(written);
  });

  test('a bracket expression is one part', () => {
    expect(sizeOf('[a(]{10}').written).toBeCloseTo(12);
    expect(sizeOf('[]{2}[:alpha:]x]').written).toBeLessThan(2);
  });

  test('and refused before it is compiled when it is written out too long', () => {
    expect(compileSearch('a{1000}'.repeat(16), free)).toBe('expression is too large');
    expect(compileSearch('a{1000}'.repeat(9), free)).not.toBeTypeOf('string');
  });

  test.each([
    ['[B-\\x{1E942}]', 0],
    ['(?i)[B-\\x{1E942}]', 0x1_e942 - 0x42],
    ['(?i)[a-c\\x41-\\101-]', 2],
    ['(?s)(?i)[--z]', 0x7a - 0x2d],
    ['(?P<i>[a-z])', 0],
  ])('%s', (expression, folded) => {
    expect(sizeOf(expression).folded).toBe(folded);
  });
});
