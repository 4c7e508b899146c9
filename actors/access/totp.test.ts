import { generateSync } from 'otplib';
import { describe, expect, test } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import { acceptedStep, base32, otpauthUri } from './totp.ts';

const SEED = Buffer.from('12345678901234567890');
const NOW = 1_111_111_109 * SECOND;
const STEP = 37_037_036;

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the vectors of RFC 6238: at %i s the code is %s', (seconds, code) => {
  const at = seconds * SECOND;
  expect(acceptedStep(SEED, code, at, null)).toBe(Math.floor(seconds / 30));
  expect(acceptedStep(SEED, String((Number(code) + 1) % 1_000_000).padStart(6, '0'), at, null)).toBeNull();
});

describe('a typed code', () => {
  const code = (step: number) => generateSync({ secret: SEED, epoch: step * 30 });

  test.each([
    ['of this step', code(STEP), null, STEP],
    ['of the step before', code(STEP - 1), null, STEP - 1],
    ['of the step after', code(STEP + 1), null, STEP + 1],
    ['two steps old', code(STEP - 2), null, null],
    ['two steps early', code(STEP + 2), null, null],
    ['with spaces', code(STEP).replace(/(...)/, '$1 '), null, STEP],
    ['that was accepted before', code(STEP), STEP, null],
    ['older than one that was accepted', code(STEP - 1), STEP, null],
    ['newer than the one that was accepted', code(STEP + 1), STEP, STEP + 1],
    ['after the clock was set back', code(STEP), STEP + 2, null],
    ['of five digits', code(STEP).slice(1), null, null],
    ['in other digits than ASCII', '٠٨١٨٠٤', null, null],
    ['that is no number', 'abcdef', null, null],
    ['that is empty', '', null, null],
  ])('counts in its step and one to either side, once: %s', (_, typed, last, step) => {
    expect(acceptedStep(SEED, typed, NOW, last)).toBe(step);
  });
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('base32 of "%s" is %s, without padding', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

test.each([
  ['ann@example.org', 'ann%40example.org'],
  ['corp:ann', 'corp%3Aann'],
])('the URI names the login %s, percent-encoded, and the issuer', (login, encoded) => {
  expect(otpauthUri(login, SEED)).toBe(
    `otpauth://totp/Tocsin:${encoded}?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tocsin`,
  );
});
