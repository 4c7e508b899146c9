import { describe, expect, test } from 'vitest';
import { createMask, cutToBytes, maskShapes, maskUrl, mayHoldShapes } from './masking.ts';

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

  const odd = `a"b&c<d+e/f'g%h|{}`;
  const maskOdd = createMask([odd]);
  test.each([
    ['as a URL has it in its path', new URL(`http://h.example/${odd}`).pathname.slice(1)],
    ['as a URL has it in its query', new URL(`http://h.example/?${odd}`).search.slice(1)],
    [
      'in a JSON body of a template',
      odd.replaceAll('"', '\\"').replaceAll('&', '\\u0026').replaceAll('<', '\\u003c'),
    ],
    [
      'in JSON of a program that escapes all it can',
      odd.replace(/[^a-z]/g, (c) => `\\u00${c.charCodeAt(0).toString(16).toUpperCase()}`),
    ],
    ['in HTML', 'a&quot;b&amp;c&lt;d+e/f&#39;g%h|{}'],
    ['percent-encoded twice', encodeURIComponent(encodeURIComponent(odd))],
  ])('of odd characters, %s', (_name, text) => {
    expect(maskOdd(`before ${text} after`)).toBe('before [redacted] after');
  });

  const json = (text: string) => JSON.stringify(text).slice(1, -1);
  const jsonOfTemplates = (text: string) =>
    json(text).replaceAll('&', '\\u0026').replaceAll('<', '\\u003c').replaceAll("'", '\\u0027');
  const jsonOfNumbers = (text: string) =>
    text
      .replaceAll('\\', '\\\\')
      .replace(/["&'<>+]|[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const percent = (text: string) => encodeURIComponent(text);
  const html = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
  const ways = { json, jsonOfTemplates, jsonOfNumbers, percent, html };
  const twice = Object.entries(ways).flatMap(([first, inner]) =>
    Object.entries(ways).map(([then, outer]) => [first, then, (text: string) => outer(inner(text))] as const),
  );
  test.each(twice)('of odd characters, escaped by %s and then by %s', (_first, _then, written) => {
    for (const secret of [odd, String.raw`\\a\"b\c'd&\\`, SECRET]) {
      const masked = createMask([secret])(`before ${written(secret)} after`);
      expect(masked).toBe('before [redacted] after');
    }
  });

  test.each([
    ['backslashes alone', '\\'.repeat(40), '\\'],
    ['backslashes and others in turn', '\\"'.repeat(40), '\\"'],
    ['an escaped backslash', '%5C'.repeat(40), '%5C'],
    ['a backslash and an escaped one', '\\%5C'.repeat(40), '\\%5C'],
    ['a backslash that HTML escapes', '&#92;'.repeat(40), '&#92;'],
    ['a backslash that JSON spells', '\\u005c'.repeat(40), '\\u005c'],
    ['escaped percent signs', '%25'.repeat(40), '%25'],
    ['escaped ampersands', '&amp;'.repeat(40), '&amp;'],
  ])('of %s is not looked for for ever in what is nearly it', (_name, secret, part) => {
    const masked = createMask([`${secret}!`]);
    expect(masked(`${secret}!`)).toBe('[redacted]');
    const text = part.repeat(2000);
    expect(masked(text)).toBe(text);
  });

  test.each(['', 'u:', 'us:', 'user:'])('in base64 behind %j', (before) => {
    const text = Buffer.from(before + SECRET, 'utf8').toString('base64');
    const whose = Math.max(0, Math.ceil((before.length * 8) / 6) - 1);
    expect(mask(text)).toBe(`${text.slice(0, whose)}[redacted]`);
  });

  test('with a line end behind it is hidden where a URL leaves that out', () => {
    const masked = createMask(['t0ken-of-a-paste\n'])(new URL('http://h.example/t0ken-of-a-paste\n/x').href);
    expect(masked).toBe('http://h.example/[redacted]/x');
  });

  test('that is an address is hidden behind its host, as whoever answers there tells it', () => {
    const masked = createMask(['https://Hooks.example:443/services/T0NE/sEcr3t?sig=a%2Fb0']);
    expect(masked('https://hooks.example/services/T0NE/sEcr3t?sig=a%2Fb0')).toBe(
      'https://hooks.example[redacted]',
    );
    expect(masked('nothing at sEcr3t with a/b0')).toBe('nothing at [redacted] with [redacted]');
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
  ['the data of a button', `{"action":"AQEF${'a-_9'.repeat(12)}abc"}`, '{"action":"[redacted]"}'],
  ['user information', 'see https://u:p@host/x', 'see https://[redacted]@host/x'],
  ['nothing to hide', 'answered 400: bad label a@b', 'answered 400: bad label a@b'],
])('shapes: %s', (_name, text, masked) => {
  expect(maskShapes(text)).toBe(masked);
  // Whatever is masked is noticed before, in a text and in a line of JSON.
  for (const line of [text, JSON.stringify(`\n${text}`)])
    expect([line, mayHoldShapes(line)]).toEqual([line, masked !== text]);
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

test('a Secret that separates parameters leaves nothing behind in the query', () => {
  const known = createMask(['first&second']);
  expect(maskUrl(new URL('https://h.example/in?token=first&second&x=1'), known)).toBe(
    'https://h.example/in?token=[redacted]&x=1',
  );
});

test('a cut never splits a character', () => {
  expect(cutToBytes('aя🔥', 2)).toBe('a');
  expect(cutToBytes('aя🔥', 3)).toBe('aя');
  expect(cutToBytes('aя🔥', 6)).toBe('aя');
  expect(cutToBytes('aя🔥', 7)).toBe('aя🔥');
});

test('the part of a bot token after the number of the bot is hidden alone, too', () => {
  const masked = createMask(['123456:hunter2-very-secret']);
  expect(masked('bot 123456: invalid port "hunter2-very-secret"')).toBe(
    'bot 123456: invalid port "[redacted]"',
  );
  expect(masked('at /bot123456:hunter2-very-secret/getMe')).toBe('at /bot[redacted]/getMe');
});
