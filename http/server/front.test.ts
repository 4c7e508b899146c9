import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFramer, createPeers, HEADER_LIMIT, openFront } from './front.ts';

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

test('a head of 16 KiB and 97 headers passes; instead of more, one that the server answers 431 passes as the last', () => {
  const frame = `${LINE}${HOST}X: \r\n\r\n`;
  const fitting = frame.replace('X: ', `X: ${'x'.repeat(HEADER_LIMIT - frame.length)}`);
  expect(passed([fitting])).toBe(fitting.replace(LINE, LINE + PEER));
  const longer = fitting.replace('X: ', 'X: x');
  const refusal = passed([longer, fitting]);
  expect(refusal).toMatch(/^GET \/ HTTP\/1\.1\r\n(?:x:\r\n){100,}\r\n$/);
  expect(passed([`${LINE}X: ${'x'.repeat(HEADER_LIMIT)}`, fitting])).toBe(refusal);
  const many = `${LINE}${HOST}${'x:\r\n'.repeat(96)}\r\n`;
  expect(passed([many])).toBe(many.replace(LINE, LINE + PEER));
  expect(passed([many.replace(HOST, `${HOST}x:\r\n`), fitting])).toBe(refusal);
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

/** @returns a client that reads nothing, and the connection that the front opened for it */
async function startFront(): Promise<{ readonly client: Socket; readonly upstream: Socket }> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const host = '127.0.0.1';
  const server = createServer({ allowHalfOpen: true }).listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const front = await openFront({ host, port: 0 }, port, createPeers(), (error) => {
    throw error;
  });
  const client = connect({ host, port: front!.port, allowHalfOpen: true });
  const [upstream] = await once(server, 'connection');
  onTestFinished(() => {
    vi.useRealTimers();
    for (const socket of [client, upstream]) socket.destroy();
    for (const each of [front!, server]) each.close();
  });
  for (const socket of [client, upstream]) socket.on('error', () => undefined);
  return { client, upstream };
}

test('a server that cannot be reached is reported, and the client is told by the end', async () => {
  const host = '127.0.0.1';
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const reported: Error[] = [];
  const front = await openFront({ host, port: 0 }, port, createPeers(), (error) => reported.push(error));
  onTestFinished(() => front!.close());
  const client = connect({ host, port: front!.port });
  client.resume();
  await once(client, 'close');
  expect(reported).toMatchObject([{ code: 'ECONNREFUSED' }]);
});

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));
const aMoment = () => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['is cut', false],
  ['is cut when the server has given up before', true],
])(
  'a client that reads nothing of a large answer, but goes on sending, %s after 30 s',
  async (_, givesUp) => {
    const { client, upstream } = await startFront();
    upstream.write(Buffer.alloc(64 * 1_048_576));
    while (vi.getTimerCount() === 0) await aMoment();
    if (givesUp) upstream.destroy();
    const gone = givesUp ? once(client, 'end') : closed(upstream);
    vi.advanceTimersByTime(29_000);
    client.write('x');
    for (let turn = 0; turn < 10; turn++) await aMoment();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1_000);
    if (givesUp) client.resume();
    await gone;
    expect(client.bytesRead).toBeLessThan(64 * 1_048_576);
  },
);

test('a client that goes on sending after the end of its last answer is cut after 30 s', async () => {
  const { client, upstream } = await startFront();
  upstream.resume().end('answer');
  upstream.destroy();
  await once(client.resume(), 'end');
  const gone = closed(client);
  vi.advanceTimersByTime(29_000);
  client.write('x');
  for (let turn = 0; turn < 10; turn++) await aMoment();
  expect(client.destroyed).toBe(false);
  vi.advanceTimersByTime(1_000);
  const sending = setInterval(() => client.write('x'), 10);
  await gone;
  clearInterval(sending);
});

test('back-pressure holds either side until the other one has read', async () => {
  const { client, upstream } = await startFront();
  client.resume();
  const size = 32 * 1_048_576;
  for (let round = 0; round < 32; round++) upstream.write(Buffer.alloc(size / 32));
  const head = `${LINE}${HOST}Content-Length: ${size}\r\n\r\n`;
  client.write(head);
  for (let round = 0; round < 32; round++) client.write(Buffer.alloc(size / 32));
  while (client.bytesRead < size) await aMoment();
  upstream.resume();
  while (upstream.bytesRead < size + head.length) await aMoment();
  expect(vi.getTimerCount()).toBe(0);
});
