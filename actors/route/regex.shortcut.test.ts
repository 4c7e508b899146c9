import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeEngine } from './regex.fixture.ts';
import { shortcut } from './regex.ts';

const PIECES = [
  'a',
  'b',
  '-',
  ' ',
  '\n',
  'é',
  '😀',
  '.',
  '*',
  '+',
  '?',
  '|',
  '.*',
  '.+',
  '\\.',
  '\\-',
  '\\|',
  '\\\\',
  '(',
  ')',
  '[',
  '^',
  '$',
  '{',
];
const expressions = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => parts.join(''));
const values = fc
  .array(fc.constantFrom('a', 'b', '-', ' ', '\n', 'é', '😀', '.', '|', '\\', '*'), { maxLength: 8 })
  .map((parts) => parts.join(''));

describe('a shortcut for a regular expression', () => {
  it('answers like the engine', () => {
    fc.assert(
      fc.property(expressions, fc.array(values, { maxLength: 20 }), (expression, texts) => {
        const full = wholeEngine(expression);
        const short = full && shortcut(expression);
        if (!full || !short) return;
        for (const text of [...texts, '', expression, expression.replaceAll('\\', '')]) {
          expect([text, short(text)]).toEqual([text, full.testExact(text)]);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '',
    'api',
    'a|b|',
    'prod-.*',
    '.*',
    '.+',
    '.*\\.example\\.org',
    'a.+b',
    'a.*|b|.+c',
    '.*a.*',
    'a.+b.*c',
    '.+\\..*|x',
  ])('exists for %j', (expression) => {
    expect(shortcut(expression)).not.toBeNull();
  });

  it.each(['.*.*', '.*\n.*', '(a|b)', '[ab]', 'a.', '(?i)a', 'a?', '\\d', '\\_', '^a', 'a$', '.*?'])(
    'is not taken for %j',
    (expression) => {
      expect(shortcut(expression)).toBeNull();
    },
  );
});
