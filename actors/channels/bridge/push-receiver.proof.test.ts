import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { isSigningSecret } from '../signature.ts';
import { type PushHeaders, provePush } from './push-receiver.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const BODY = Buffer.from(
  '{"id":"evt-7f3a","type":"press","occurred_at":"2026-10-03T09:41:08Z","message_id":"m-1001","user":{"external_id":"u-17","username":"bob","display_name":"Bob Jones"},"data":"abc"}',
);
const GOOD = 'v1,5XwTg0w5ampO9SJRbfakkNlIRkchPeWFP8xlqR4jRLo=';
const HEADERS = { id: 'evt-7f3a', timestamp: '1791020468', signature: GOOD };
const NOW = 1_791_020_468 * SECOND;

/** The id of what is authentic, else why it is not. */
function prove(headers: PushHeaders, body: Uint8Array, secret: string | null, now: number): string {
  const proof = provePush(headers, body, secret, now);
  return proof.is === 'authentic' ? proof.id : proof.is;
}

test.each<[string, object, string]>([
  ['the vector of the protocol', {}, 'evt-7f3a'],
  [
    'the second of two signatures, as while a secret is rotated',
    { signature: `v1,AAAA ${GOOD}` },
    'evt-7f3a',
  ],
  ['another version beside it', { signature: `v2,abc ${GOOD}` }, 'evt-7f3a'],
  ['another version alone', { signature: GOOD.replace('v1', 'v2') }, 'signature_invalid'],
  ['the eleventh signature', { signature: `${'v1,AAAA '.repeat(10)}${GOOD}` }, 'signature_invalid'],
  ['another id', { id: 'evt-7f3b' }, 'signature_invalid'],
  ['another time', { timestamp: '1791020469' }, 'signature_invalid'],
  ['no id', { id: null }, 'signature_invalid'],
  ['no time', { timestamp: null }, 'signature_invalid'],
  ['no signature', { signature: null }, 'signature_invalid'],
  ['an id with a space', { id: 'evt 7f3a' }, 'signature_invalid'],
  ['a time that is no number', { timestamp: '1791020468.0' }, 'signature_invalid'],
])('%s', (_name, changes, expected) => {
  expect(prove({ ...HEADERS, ...changes }, BODY, SECRET, NOW)).toBe(expected);
});

test.each([
  [300, 'evt-7f3a'],
  [-300, 'evt-7f3a'],
  [301, 'timestamp_out_of_range'],
  [-301, 'timestamp_out_of_range'],
])('a clock that is %i s apart', (seconds, expected) => {
  expect(prove(HEADERS, BODY, SECRET, NOW + seconds * SECOND)).toBe(expected);
});

test('every bit of the body counts, and without a secret nothing is authentic', () => {
  const changed = Buffer.from(BODY);
  changed[20] = (changed[20] ?? 0) ^ 1;
  expect(prove(HEADERS, changed, SECRET, NOW)).toBe('signature_invalid');
  expect(prove(HEADERS, BODY, null, NOW)).toBe('signature_invalid');
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
  expect(isSigningSecret(text)).toBe(expected);
});
