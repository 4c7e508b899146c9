import { describe, expect, test } from 'vitest';
import { createMask, cutToBytes, maskShapes, maskUrl } from './masking.ts';

const SECRET = 'p@ss "wörd"/1+2';
const mask = createMask([SECRET, 'p@ss', 'abc']);

describe('a known secret', () => {
  test.each([
    ['verbatim', SECRET],
    ['percent-encoded', encodeURIComponent(SECRET)],
    ['percent-encoded in lower case', encodeURIComponent(SECRET).replace(/%../g, (e) => e.toLowerCase())],
    ['as a path', encodeURI(SECRET)],
    ['form-encoded', new URLSearchParams({ v: SECRET }).toString().slice(2)],
    ['JSON-escaped', JSON.stringify(SECRET).slice(1, -1)],
    ['JSON-escaped with ASCII only', JSON.stringify(SECRET).slice(1, -1).replace('ö', '\\u00f6')],
    ['JSON-escaped with slashes', JSON.stringify(SECRET).slice(1, -1).replaceAll('/', '\\/')],
    ['JSON-escaped inside of JSON', JSON.stringify(JSON.stringify(SECRET).slice(1, -1)).slice(1, -1)],
    ['base64', Buffer.from(SECRET).toString('base64')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
  ])('%s', (_name, text) => {
    expect(mask(`before ${text} after`)).toBe('before [redacted] after');
  });

  test('the longest one wins, so no tail shows', () => {
    expect(mask(`${SECRET}|p@ss`)).toBe('[redacted]|[redacted]');
  });

  test('values under four characters are left to known places', () => {
    expect(mask('abc')).toBe('abc');
  });
});

test.each([
  ['a token', `x svc_pat_${'a'.repeat(40)} y`, 'x [redacted] y'],
  ['a signing secret', 'whsec_AAECAwQFBgc= ', '[redacted] '],
  ['a bearer header', 'Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
  ['a bot token', `bot 123456789:${'A'.repeat(35)} z`, 'bot [redacted] z'],
  ['user information', 'see https://u:p@host/x', 'see https://[redacted]@host/x'],
  ['nothing to hide', 'answered 400: bad label a@b', 'answered 400: bad label a@b'],
])('shapes: %s', (_name, text, masked) => {
  expect(maskShapes(text)).toBe(masked);
});

test.each([
  [
    'https://u:p@h.example/a?x=1&api_key=2&Auth-Token=3#f',
    'https://[redacted]@h.example/a?x=1&api_key=[redacted]&Auth-Token=[redacted]',
  ],
  ['https://h.example:8443/', 'https://h.example:8443/'],
])('the URL %s is shown as %s', (url, shown) => {
  expect(maskUrl(new URL(url))).toBe(shown);
});

test('a cut never splits a character', () => {
  expect(cutToBytes('aя🔥', 2)).toBe('a');
  expect(cutToBytes('aя🔥', 3)).toBe('aя');
  expect(cutToBytes('aя🔥', 6)).toBe('aя');
  expect(cutToBytes('aя🔥', 7)).toBe('aя🔥');
});
