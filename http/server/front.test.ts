import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFramer, HEADER_LIMIT } from './front.ts';

const PEER = 'tocsin-peer: s 127.0.0.1\r\n';
const LINE = 'POST /a HTTP/1.1\r\n';
const HOST = 'Host: a\r\n';
const UNCLEAR = 'GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n';

/** Everything that is passed on of a connection that arrives in these pieces. */
function passed(pieces: readonly string[]): string {
  const { read } = createFramer(PEER);
  const parts = pieces.flatMap((piece) => read(Buffer.from(piece, 'latin1')));
  return Buffer.concat(parts).toString('latin1');
}

const CHUNKED = `${LINE}${HOST}Transfer-Encoding: chunked\r\n\r\n`;
const STREAMS: readonly (readonly [name: string, sent: string, passedOn: string])[] = [
  ['two requests', `${LINE}${HOST}\r\n${LINE}${HOST}\r\n`, `${LINE}${PEER}${HOST}\r\n`.repeat(2)],
  [
    'a body that looks like a request',
    `${LINE}${HOST}Content-Length: 23\r\n\r\nGET / HTTP/1.1\r\n: x\r\n\r\n${LINE}${HOST}\r\n`,
    `${LINE}${PEER}${HOST}Content-Length: 23\r\n\r\nGET / HTTP/1.1\r\n: x\r\n\r\n${LINE}${PEER}${HOST}\r\n`,
  ],
  [
    'chunks without their extensions and trailers',
    `${CHUNKED}2;a="b"\r\n{}\r\nA;x\r\n0123456789\r\n0\r\nX: y\r\nZ:\r\n\r\n${LINE}${HOST}\r\n`,
    `${LINE}${PEER}${CHUNKED.slice(LINE.length)}2\r\n{}\r\nA\r\n0123456789\r\n0\r\n\r\n${LINE}${PEER}${HOST}\r\n`,
  ],
  [
    'nothing after the last request of a connection',
    `${LINE}${HOST}Connection: close\r\n\r\n${LINE}${HOST}\r\n`,
    `${LINE}${PEER}${HOST}Connection: close\r\n\r\n`,
  ],
  [
    'a refusal in place of an unclear request, and nothing after it',
    `${LINE}${HOST}\r\n${LINE}${HOST}: x\r\n\r\n${LINE}${HOST}\r\n`,
    `${LINE}${PEER}${HOST}\r\n${UNCLEAR}`,
  ],
  ['a bad chunk in place of one', `${CHUNKED}2\n{}`, `${LINE}${PEER}${CHUNKED.slice(LINE.length)}-1\r\n`],
  [
    'an address that the client claims, behind the one that it has',
    `${LINE}Tocsin-Peer: s 192.0.2.1\r\n${HOST}\r\n`,
    `${LINE}${PEER}Tocsin-Peer: s 192.0.2.1\r\n${HOST}\r\n`,
  ],
];

test.each(STREAMS)('however its packets are cut, the server gets %s', (_, sent, passedOn) => {
  expect(passed([sent])).toBe(passedOn);
  expect(passed([...sent])).toBe(passedOn);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: sent.length })), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), sent.length];
      const pieces = at.slice(1).map((end, index) => sent.slice(at[index], end));
      expect(passed(pieces.filter((piece) => piece !== ''))).toBe(passedOn);
    }),
  );
});

test('a head of 16 KiB passes, a longer one goes on as it is, for the server to answer 431, and is the last', () => {
  const frame = `${LINE}${HOST}X: \r\n\r\n`;
  const fitting = frame.replace('X: ', `X: ${'x'.repeat(HEADER_LIMIT - frame.length)}`);
  expect(passed([fitting])).toBe(fitting.replace(LINE, LINE + PEER));
  const longer = fitting.replace('X: ', 'X: x');
  expect(passed([longer, fitting])).toBe(longer);
  const endless = `${LINE}X: ${'x'.repeat(HEADER_LIMIT)}`;
  expect(passed([endless, fitting])).toBe(endless);
});

test.each([
  ['white space', `${LINE}X: ${' '.repeat(16_000)}\0\r\n\r\n`],
  ['names', `${LINE}${'x'.repeat(16_000)}\0\r\n\r\n`],
  ['headers', `${LINE}${'x:\r\n'.repeat(4_000)}\0\r\n\r\n`],
])('a head of %s that ends badly is refused in linear time', (_, head) => {
  const startedAt = performance.now();
  for (let round = 0; round < 100; round++) expect(passed([head])).toBe(UNCLEAR);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});
