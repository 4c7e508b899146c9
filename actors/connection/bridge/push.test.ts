import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { authenticPush, isPushSecret } from './push.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const BODY = Buffer.from(
  '{"id":"evt-7f3a","type":"press","occurred_at":"2026-10-03T09:41:08Z","message_id":"m-1001","user":{"external_id":"u-17","username":"bob","display_name":"Bob Jones"},"data":"abc"}',
);
const GOOD = 'v1,5XwTg0w5ampO9SJRbfakkNlIRkchPeWFP8xlqR4jRLo=';
const HEADERS = { id: 'evt-7f3a', timestamp: '1791020468', signature: GOOD };
const NOW = 1_791_020_468 * SECOND;

test.each<[string, object, string | null]>([
  ['the vector of the protocol', {}, 'evt-7f3a'],
  [
    'the second of two signatures, as while a secret is rotated',
    { signature: `v1,AAAA ${GOOD}` },
    'evt-7f3a',
  ],
  ['another version beside it', { signature: `v2,abc ${GOOD}` }, 'evt-7f3a'],
  ['another version alone', { signature: GOOD.replace('v1', 'v2') }, null],
  ['the eleventh signature', { signature: `${'v1,AAAA '.repeat(10)}${GOOD}` }, null],
  ['another id', { id: 'evt-7f3b' }, null],
  ['another time', { timestamp: '1791020469' }, null],
  ['no id', { id: null }, null],
  ['no time', { timestamp: null }, null],
  ['no signature', { signature: null }, null],
  ['an id with a space', { id: 'evt 7f3a' }, null],
  ['a time that is no number', { timestamp: '1791020468.0' }, null],
])('%s', (_name, changes, expected) => {
  expect(authenticPush({ ...HEADERS, ...changes }, BODY, SECRET, NOW)).toBe(expected);
});

test.each([
  [300, 'evt-7f3a'],
  [-300, 'evt-7f3a'],
  [301, null],
  [-301, null],
])('a clock that is %i s apart', (seconds, expected) => {
  expect(authenticPush(HEADERS, BODY, SECRET, NOW + seconds * SECOND)).toBe(expected);
});

test('every bit of the body counts, and without a secret nothing is authentic', () => {
  const changed = Buffer.from(BODY);
  changed[20] = (changed[20] ?? 0) ^ 1;
  expect(authenticPush(HEADERS, changed, SECRET, NOW)).toBeNull();
  expect(authenticPush(HEADERS, BODY, null, NOW)).toBeNull();
});

test.each([
  [SECRET, true],
  [`whsec_${Buffer.alloc(24).toString('base64')}`, true],
  [`whsec_${Buffer.alloc(23).toString('base64')}`, false],
  [`whsec_${Buffer.alloc(32).toString('base64url')}`, false],
  ['whsec_', false],
  ['MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3', false],
  [`whsec_${'!'.repeat(40)}`, false],
])('whether %s can be a push secret', (text, expected) => {
  expect(isPushSecret(text)).toBe(expected);
});
