import { describe, expect, test } from 'vitest';
import { looksLikeRequest, splitRequest } from './request-text.ts';

const split = (text: string) => {
  const result = splitRequest(text);
  if (result.ok) return result.parts;
  const { code, line, column } = result.error;
  return `${code} ${line}:${column}`;
};

test('a request is method and URL, headers, a blank line and the body', () => {
  expect(
    split('\r\n post  https://h/{{ .A }} \r\nX-A:  b c \r\nContent-Type: text/plain\r\n \t\r\n{\r\n}\n\n'),
  ).toBe('invalid_format 2:1');
  expect(
    split('\r\n\npost  https://h/{{ .A }} \r\nX-A:  b c \r\nContent-Type: text/plain\r\n \t\r\n{\r\n}\n\n'),
  ).toEqual({
    method: 'POST',
    url: { source: 'https://h/{{ .A }}', line: 3, column: 7 },
    headers: [
      { name: 'X-A', value: { source: 'b c', line: 4, column: 7 } },
      { name: 'Content-Type', value: { source: 'text/plain', line: 5, column: 15 } },
    ],
    body: { source: '{\n}\n', line: 7, column: 1 },
  });
});

test.each(['POST https://h', 'POST https://h\nA: b', 'POST https://h\n\n', 'DELETE https://h\n\n\n'])(
  '%j has no body',
  (text) => {
    expect(split(text)).toMatchObject({ body: null });
  },
);

const headers = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: a`).join('\n');

describe('what is refused', () => {
  test.each([
    ['', 'required 1:1'],
    [' \n\t\n', 'required 1:1'],
    ['POST https://h\n\na\0b', 'invalid_format 3:2'],
    ['x'.repeat(32_769), 'too_long 1:1'],
    ['HEAD https://h', 'invalid_format 1:1'],
    ['https://h', 'invalid_format 1:1'],
    ['{{ "POST" }} https://h', 'invalid_format 1:1'],
    ['POST', 'required 1:5'],
    ['POST  ', 'required 1:7'],
    ['POST https://h HTTP/1.1', 'invalid_format 1:6'],
    ['POST https://h http/2', 'invalid_format 1:6'],
    [`POST https://h/${'x'.repeat(4_096)}`, 'too_long 1:6'],
    ['POST https://h\nno colon', 'invalid_format 2:1'],
    ['POST https://h\nA : b', 'invalid_format 2:1'],
    ['POST https://h\n: b', 'invalid_format 2:1'],
    ['POST https://h\nA: b\n c', 'invalid_format 3:1'],
    ['POST https://h\nA: b\na: c', 'duplicate 3:1'],
    ['POST https://h\nHost: b', 'reserved 2:1'],
    ['POST https://h\nwebhook-ID: b', 'reserved 2:1'],
    [`POST https://h\nA: ${'x'.repeat(4_097)}`, 'too_long 2:4'],
    [`POST https://h\n${headers(51)}`, 'too_long 52:1'],
    ['GET https://h\n\nbody', 'invalid_format 3:1'],
    [`POST https://h\n\n${'x'.repeat(16_385)}`, 'too_long 3:1'],
  ])('%j', (text, expected) => {
    expect(split(text)).toBe(expected);
  });

  test('50 headers and the most bytes are taken', () => {
    expect(split(`POST https://h\n${headers(50)}\n\n${'x'.repeat(16_384)}`)).toMatchObject({
      method: 'POST',
    });
  });
});

test.each([
  ['POST https://h', true],
  ['\n patch https://h', true],
  ['{{ toJson . }}', false],
  ['POSTS https://h', false],
  ['posting', false],
])('%j looks like a whole request: %s', (text, expected) => {
  expect(looksLikeRequest(text)).toBe(expected);
});
