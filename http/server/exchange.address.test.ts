import { expect, test } from 'vitest';
import { clientAddresses } from './exchange.ts';

const PROXIES = ['10.0.0.0/8', '2001:db8::/32'];

test.each([
  ['no proxy is trusted by default', [], '198.51.100.7', '203.0.113.9', '198.51.100.7'],
  ['a trusted proxy names its client', PROXIES, '10.1.1.1', '203.0.113.9', '203.0.113.9'],
  [
    'entries are read from the right up to the first stranger',
    PROXIES,
    '10.1.1.1',
    '1.1.1.1, 203.0.113.9, 10.2.2.2',
    '203.0.113.9',
  ],
  ['the left-most counts when all are trusted', PROXIES, '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  [
    'a hop that is no address ends the walk',
    PROXIES,
    '10.1.1.1',
    '203.0.113.9, unknown, 10.2.2.2',
    '10.2.2.2',
  ],
  [
    'IPv4 inside IPv6 is IPv4',
    PROXIES,
    '0000:0000:0000:0000:0000:ffff:0a01:0101',
    '203.0.113.9',
    '203.0.113.9',
  ],
  ['IPv6 networks are trusted, too', PROXIES, '2001:db8::1', '2001:4860::8', '2001:4860::8'],
  ['without the header the socket counts', PROXIES, '10.1.1.1', null, '10.1.1.1'],
])('%s', (_name, trusted, socket, forwardedFor, expected) => {
  expect(clientAddresses(trusted)(socket, forwardedFor)).toBe(expected);
});

test('a network that cannot be read stops the start', () => {
  expect(() => clientAddresses(['10.0.0.0'])).toThrow();
});
