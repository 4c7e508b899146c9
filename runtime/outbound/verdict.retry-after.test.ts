import { expect, test } from 'vitest';
import { parseInstant, SECOND } from '../clock.ts';
import { redirectText, retryAfter } from './verdict.ts';

const NOW = parseInstant('2026-10-03T09:41:07Z') ?? 0;

test.each<[string | undefined, number | null]>([
  ['0', 0],
  ['7', 7],
  [' 30 ', 30],
  ['31536000', 31_536_000],
  ['31536001', null],
  ['Sat, 03 Oct 2026 09:42:07 GMT', 60],
  ['Saturday, 03-Oct-26 09:42:07 GMT', 60],
  ['Sat Oct  3 09:42:07 2026', 60],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['soon', null],
  ['', null],
  [undefined, null],
])('Retry-After %j waits %j s', (header, seconds) => {
  expect(retryAfter(header, NOW)).toBe(seconds === null ? null : NOW + seconds * SECOND);
});

test.each<[string | undefined, string]>([
  ['https://other.example/in', 'redirect to https://other.example/in not followed'],
  ['/login', 'redirect to https://relay.example/login not followed'],
  ['https://u:p@other.example/', 'redirect to https://[redacted]@other.example/ not followed'],
  ['/login?api_key=abc&x=1', 'redirect to https://relay.example/login?api_key=[redacted]&x=1 not followed'],
  ['http://[', 'redirect without a usable Location'],
  [undefined, 'redirect without Location'],
])('Location %j says: %s', (location, text) => {
  expect(redirectText(new URL('https://relay.example/in'), location)).toBe(text);
});
