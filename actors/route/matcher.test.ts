import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MatcherOp } from '../directory.ts';
import type { Labels } from '../model.ts';
import { compileMatchers, formatMatcher, matcherProblems, parseMatcherText } from './matcher.ts';

const MISSING: Labels = {};
const EMPTY: Labels = { x: '' };
const API: Labels = { x: 'api-1' };

describe('a Matcher (routes §1)', () => {
  const table: [MatcherOp, string, boolean, boolean][] = [
    ['=', '', true, false],
    ['!=', '', false, true],
    ['!=', 'web', true, true],
    ['=~', '.*', true, true],
    ['=~', '.+', false, true],
    ['=~', 'api', false, false],
    ['=~', 'api-.*', false, true],
    ['!~', '.+', true, false],
    ['!~', 'api-.*', true, false],
    ['=~', 'api-1|web', false, true],
    ['=~', '', true, false],
    ['=~', '(?i)API-\\d', false, true],
  ];
  it.each(table)('x%s"%s" with the label missing: %s, with api-1: %s', (op, value, missing, api) => {
    const matches = compileMatchers([{ label: 'x', op, value }]);
    expect([matches(MISSING), matches(EMPTY), matches(API)]).toEqual([missing, missing, api]);
  });

  it('compares literally: case, spaces and Unicode forms count', () => {
    const matches = compileMatchers([{ label: 'x', op: '=', value: 'é' }]);
    expect([{ x: 'é' }, { x: 'É' }, { x: 'é ' }, { x: 'é'.normalize('NFD') }].map(matches)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('combines a list with AND; an empty list matches everything', () => {
    const three = (['a', 'b', 'c'] as const).map((label) => ({ label, op: '=' as const, value: '1' }));
    expect(compileMatchers(three)({ a: '1', b: '1', c: '1' })).toBe(true);
    expect(compileMatchers(three)({ a: '1', b: '1' })).toBe(false);
    expect(compileMatchers(three.slice(0, 2))({ a: '1', b: '1' })).toBe(true);
    expect(compileMatchers([])({})).toBe(true);
  });

  it('never takes an inherited property for a label', () => {
    expect(compileMatchers([{ label: 'constructor', op: '=', value: '' }])({})).toBe(true);
    expect(
      compileMatchers([{ label: '__proto__', op: '=', value: 'x' }])(JSON.parse('{"__proto__":"x"}')),
    ).toBe(true);
  });

  it('matches a whole value and no line feed with a dot, unless (?s)', () => {
    const one = (value: string, text: string) =>
      compileMatchers([{ label: 'x', op: '=~', value }])({ x: text });
    expect(one('a$', 'a\n')).toBe(false);
    expect(one('.*', 'a\nb')).toBe(false);
    expect(one('(?s).*', 'a\nb')).toBe(true);
    expect(one('(?m)^a$', 'a\nb')).toBe(false);
    expect(one('a|b', 'ab')).toBe(false);
  });

  it('that does not compile makes its list match nothing, whatever the operator', () => {
    const broken = [{ label: 'x', op: '!~' as const, value: 'api-(' }];
    expect(compileMatchers(broken)(API)).toBe(false);
    expect(matcherProblems(broken)).toEqual([
      { index: 0, message: expect.stringContaining('missing closing )') },
    ]);
  });

  it.each(['api-(', '(?=a)', '(?<=a)b', '(?<!a)b', '(a)\\1', 'a++', '(?>a)', 'a{1001}', 'a)|(b', '\\Qabc'])(
    'refuses %s as not RE2',
    (value) => {
      expect(matcherProblems([{ label: 'x', op: '=~', value }])).toHaveLength(1);
    },
  );

  it('refuses an expression whose program would be huge', () => {
    const value = '(?:[a-y]?){1000}(?:x*){1000}'.repeat(10);
    expect(matcherProblems([{ label: 'x', op: '=~', value }])).toEqual([
      { index: 0, message: 'expression is too large' },
    ]);
  });

  it.each(['(a+)+$', '(a|aa)+$'])('answers %s for 4,096 × a and a b within a second', (value) => {
    const matches = compileMatchers([{ label: 'x', op: '=~', value }]);
    const started = performance.now();
    expect(matches({ x: `${'a'.repeat(4096)}b` })).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('a value of very many characters', () => {
  const one = (value: string, x: string) => compileMatchers([{ label: 'x', op: '=~', value }])({ x });
  const large = '(?:a?){1000}[a]+';

  it.each([
    ['is judged by its first 65,536 characters', '[a]+', 65_536, true],
    ['is judged as a whole up to there', '[a]+', 65_535, false],
    ['is judged so by simple expressions, too', 'a.*b', 65_536, false],
    ['is judged by fewer when the expression is large', large, 3_000, true],
    ['but by a good part all the same', large, 1_500, false],
  ])('%s', (_, expression, count, expected) => {
    expect(one(expression, `${'a'.repeat(count)}b`)).toBe(expected);
  });

  it('is never cut within a character', () => {
    expect(one('a[😀]+', `a${'😀'.repeat(40_000)}`)).toBe(true);
  });
});

describe('the text form of a Matcher (routes §1.2)', () => {
  it.each([
    ['a="x"', 'a', '=', 'x'],
    [' a != "x" ', 'a', '!=', 'x'],
    ['a=~"x"', 'a', '=~', 'x'],
    ['a!~"x.*"', 'a', '!~', 'x.*'],
    ['job:rate="0"', 'job:rate', '=', '0'],
    ['"with space"=""', 'with space', '=', ''],
    ['"say \\"hi\\""="a\\nb\\\\c"', 'say "hi"', '=', 'a\nb\\c'],
    ['_x="}, {"', '_x', '=', '}, {'],
  ])('reads %s', (text, label, op, value) => {
    expect(parseMatcherText(text)).toEqual({ ok: true, matcher: { label, op, value } });
  });

  it.each([
    '',
    'a',
    'a=',
    'a=x',
    'a==x',
    'a= ~"x"',
    'a~"x"',
    '{a="x"}',
    'a="x",b="y"',
    'a="x" tail',
    'a="x',
    'a="\\t"',
    'a="x\ny"',
    '1a="x"',
    'ä="x"',
    '""="x"',
    '"a\\nb"="x"',
    `a="${'x'.repeat(1001)}"`,
    `"${'x'.repeat(257)}"="x"`,
  ])('refuses %j', (text) => {
    expect(parseMatcherText(text)).toMatchObject({ ok: false, code: 'invalid_format' });
  });

  it('refuses an expression that is not RE2, in the words of the engine', () => {
    expect(parseMatcherText('a=~"(?=x)"')).toEqual({
      ok: false,
      code: 'invalid_regex',
      detail: expect.stringContaining('(?='),
    });
  });

  it.each(['a="x"', 'a!~"x\\"\\\\\\n"', '"with space"=""'])('writes %s back as it is', (text) => {
    const parsed = parseMatcherText(text);
    expect(parsed.ok && formatMatcher(parsed.matcher)).toBe(text);
  });

  it('reads back whatever it writes', () => {
    const label = fc.string({
      unit: fc.constantFrom('a', '_', '"', '\\', ' ', '=', '~', 'é', '😀'),
      minLength: 1,
    });
    const value = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '=', '{', '😀') });
    const op = fc.constantFrom<MatcherOp>('=', '!=');
    fc.assert(
      fc.property(label, op, value, (...[name, operator, text]) => {
        const matcher = { label: name, op: operator, value: text };
        expect(parseMatcherText(formatMatcher(matcher))).toEqual({ ok: true, matcher });
      }),
    );
  });
});
