import { expect, test } from 'vitest';
import { createMask } from '../secrets/masking.ts';
import { errorLine } from './verdict.ts';

const SECRET = 'sEcr3t-of-a-receiver';
const mask = createMask([SECRET]);

test.each([
  ['as one line', ' no\n\tsuch  \u0007room ', 'no such room'],
  ['without secrets', `no ${SECRET}`, 'no [redacted]'],
  ['in its first bytes', 'я'.repeat(1_000), 'я'.repeat(512)],
  ['without a part of a secret where it is cut', `${'x'.repeat(1_020)}${SECRET}`, `${'x'.repeat(1_020)}[red`],
])('an error is told %s', (_, said, told) => {
  expect(errorLine(said, mask)).toBe(told);
});

test('of a long answer no more is looked at than shows', () => {
  let looked = 0;
  const counting = (text: string) => {
    looked += text.length;
    return mask(text);
  };
  expect(errorLine('no '.repeat(1_400_000), counting)).toHaveLength(1_024);
  expect(looked).toBeLessThan(200_000);
});

test('a secret that the first cut went through does not show, however much before it is blank', () => {
  for (let kept = 1; kept < SECRET.length; kept++) {
    const said = `${' '.repeat(128 * 1024 - kept)}${SECRET}${' '.repeat(1_000_000)}`;
    expect(errorLine(said, mask)).toBe('');
  }
});
