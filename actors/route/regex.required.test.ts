import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { wholeEngine } from './regex.fixture.ts';
import { requiredText } from './regex.ts';

const PIECES = [
  ...[
    'a',
    'b',
    'Ab',
    '-',
    'é',
    '😀',
    '\n',
    '.',
    '*',
    '+',
    '?',
    '|',
    '(',
    ')',
    '(?i)',
    '[ab]',
    '[^a]',
    '[',
    ']',
    '^',
    '$',
  ],
  ...[
    '{',
    '{2}',
    '{0,1}',
    '{0}',
    '}',
    '\\d',
    '\\w',
    '\\b',
    '\\.',
    '\\-',
    '\\\\',
    '\\x61',
    '\\pL',
    '\\Q',
    '\\E',
    '\\n',
    '*?',
  ],
];
const expressions = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join(''));
const values = fc
  .array(fc.constantFrom('a', 'b', 'A', 'B', '-', 'é', '😀', '\n', '.', '|', '\\', '*', '1', '{', '}'), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''));

describe('what a regular expression requires', () => {
  it('is held by every value that the engine matches', () => {
    fc.assert(
      fc.property(expressions, fc.array(values, { maxLength: 20 }), (expression, texts) => {
        const full = wholeEngine(expression);
        if (!full) return;
        const required = requiredText(expression);
        for (const text of [...texts, '', expression, expression.replaceAll('\\', '')]) {
          if (full.testExact(text)) expect([expression, text.includes(required)]).toEqual([expression, true]);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ['host-97\\d', 'host-97'],
    ['web', 'web'],
    ['.*\\.example\\.org', '.example.org'],
    ['db-.+-eu', 'db-'],
    ['^node\\d+-frankfurt$', '-frankfurt'],
    ['hosts?', 'host'],
    ['ab{0}c', 'a'],
    ['ab+cd', 'cd'],
    ['abc[0-9]+defgh', 'abc'],
    ['\\d+', ''],
    ['web|db', ''],
    ['(?i)web', ''],
    ['(web)?', ''],
    ['we[b|]', ''],
    ['\\Qa\\E', ''],
  ])('of %j is %j', (expression, text) => {
    expect(requiredText(expression)).toBe(text);
  });
});
