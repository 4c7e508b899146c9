import { expect, test } from 'vitest';
import { isOpenWithoutHttps, parseHostPort } from './config-values.ts';

test.each([
  ['http://localhost:8080', ':8080', true],
  ['http://localhost:8080', '0.0.0.0:8080', true],
  ['http://127.0.0.1:8080', '10.0.0.7:8080', true],
  ['http://localhost:8080', '127.0.0.1:8080', false],
  ['http://localhost:8080', '[::1]:8080', false],
  ['https://oncall.example', ':8080', false],
])('an app at %s that listens on %s is open to machines that cannot sign in: %s', (url, listen, isOpen) => {
  const address = parseHostPort(listen);
  expect(address && isOpenWithoutHttps(url, address)).toBe(isOpen);
});
