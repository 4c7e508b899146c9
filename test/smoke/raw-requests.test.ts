/**
 * Requests as bytes, against the real process: what follows an unclear one on its connection is never served (api §1.2
 * rule 11). Each is sent twice to each listener, with a second request in the same packet and in a packet of its own.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/**
 * What becomes of the first request, and of its connection:
 * - `refused`: 400, or 505 for another version, then the end of the connection
 * - `last`: it is answered, then the connection ends
 * - `served`: both requests are answered, unless they share a packet: without an answer to the first one it may end the
 *   connection, as the library does not pipeline
 */
type Outcome = 'refused' | 'last' | 'served';

const HOST = 'Host: tocsin\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';
const INGEST_PATH = '/api/v1/ingest';
const MARK = 'SmuggledRequest';
/** Served, it is answered with its path, as a problem's instance. */
const SECOND = `GET /api/v1/${MARK} HTTP/1.1\r\n${HOST}\r\n`;

const post = (headers: string, body = '') => `POST /api/v1/sessions HTTP/1.1\r\n${headers}\r\n${body}`;
const get = (headers: string, body = '', target = '/api/v1/sign-in-options') =>
  `GET ${target} HTTP/1.1\r\n${headers}\r\n${body}`;
const lengthOf = (body: string) => `Content-Length: ${body.length}\r\n`;

const REQUESTS: readonly (readonly [name: string, outcome: Outcome, raw: string])[] = [
  ['a plain GET', 'served', get(HOST)],
  ['a POST with Content-Length', 'served', post(`${HOST}${JSON_TYPE}Content-Length: 2\r\n`, '{}')],
  [
    'Content-Length twice, the same',
    'served',
    post(`${HOST}Content-Length: 2\r\nContent-Length: 2\r\n`, '{}'),
  ],
  ['Content-Length: 0', 'served', get(`${HOST}Content-Length: 0\r\n`)],
  ['Transfer-Encoding: chunked', 'served', post(`${HOST}${CHUNKED}`, CHUNKS)],
  ['a chunk size that ends in a bare LF', 'refused', post(`${HOST}${CHUNKED}`, '2\n{}\r\n0\r\n\r\n')],
  ['chunk data that end in a bare LF', 'refused', post(`${HOST}${CHUNKED}`, '2\r\n{}\n0\r\n\r\n')],
  ['chunk data without an end of their own', 'refused', post(`${HOST}${CHUNKED}`, '2\r\n{}XX0\r\n\r\n')],
  ['Connection: close', 'last', get(`${HOST}Connection: close\r\n`)],
  ['Connection: keep-alive, Close', 'last', get(`${HOST}Connection: keep-alive, Close\r\n`)],
  // Transfer-Encoding other than exactly chunked
  ['Transfer-Encoding: Chunked', 'refused', post(`${HOST}Transfer-Encoding: Chunked\r\n`, CHUNKS)],
  [
    'Transfer-Encoding: gzip, chunked',
    'refused',
    post(`${HOST}Transfer-Encoding: gzip, chunked\r\n`, CHUNKS),
  ],
  [
    'Transfer-Encoding: chunked, identity',
    'refused',
    post(`${HOST}Transfer-Encoding: chunked, identity\r\n`, CHUNKS),
  ],
  ['Transfer-Encoding: identity', 'refused', post(`${HOST}Transfer-Encoding: identity\r\n`)],
  ['Transfer-Encoding: xchunked', 'refused', post(`${HOST}Transfer-Encoding: xchunked\r\n`, CHUNKS)],
  ['Transfer-Encoding: "chunked"', 'refused', post(`${HOST}Transfer-Encoding: "chunked"\r\n`, CHUNKS)],
  ['Transfer-Encoding without a value', 'refused', post(`${HOST}Transfer-Encoding:\r\n`)],
  ['Transfer-Encoding twice', 'refused', post(`${HOST}${CHUNKED}${CHUNKED}`, CHUNKS)],
  [
    'Transfer-Encoding twice, once identity',
    'refused',
    post(`${HOST}${CHUNKED}Transfer-Encoding: identity\r\n`, CHUNKS),
  ],
  // both framing headers
  ['Content-Length before chunked', 'refused', post(`${HOST}Content-Length: 2\r\n${CHUNKED}`, CHUNKS)],
  ['Content-Length after chunked', 'refused', post(`${HOST}${CHUNKED}Content-Length: 2\r\n`, CHUNKS)],
  ['Content-Length: 0 and chunked', 'refused', post(`${HOST}Content-Length: 0\r\n${CHUNKED}`, CHUNKS)],
  // lengths
  [
    'two different Content-Lengths',
    'refused',
    post(`${HOST}Content-Length: 2\r\nContent-Length: 3\r\n`, '{}'),
  ],
  ['Content-Length: 2, 2', 'refused', post(`${HOST}Content-Length: 2, 2\r\n`, '{}')],
  ['Content-Length: +2', 'refused', post(`${HOST}Content-Length: +2\r\n`, '{}')],
  ['Content-Length: 0x2', 'refused', post(`${HOST}Content-Length: 0x2\r\n`, '{}')],
  [
    'Content-Length beyond every number',
    'refused',
    post(`${HOST}Content-Length: 99999999999999999999\r\n`, '{}'),
  ],
  ['Content-Length without a value', 'refused', post(`${HOST}Content-Length:\r\n`)],
  // chunk sizes
  ['a chunk size of 0x2', 'refused', post(`${HOST}${CHUNKED}`, '0x2\r\n{}\r\n0\r\n\r\n')],
  ['a negative chunk size', 'refused', post(`${HOST}${CHUNKED}`, '-2\r\n{}\r\n0\r\n\r\n')],
  [
    'a chunk size beyond 64 bits',
    'refused',
    post(`${HOST}${CHUNKED}`, 'ffffffffffffffff2\r\n{}\r\n0\r\n\r\n'),
  ],
  ['white space behind a chunk size', 'refused', post(`${HOST}${CHUNKED}`, '2 ;a=b\r\n{}\r\n0\r\n\r\n')],
  ['a chunk extension', 'served', post(`${HOST}${CHUNKED}`, '2;a=b\r\n{}\r\n0\r\n\r\n')],
  ['a chunk extension with a bare LF', 'refused', post(`${HOST}${CHUNKED}`, '2;a\nxx\r\n{}\r\n0\r\n\r\n')],
  ['a trailer', 'served', post(`${HOST}${CHUNKED}`, '2\r\n{}\r\n0\r\nX: y\r\n\r\n')],
  ['a trailer without a name', 'refused', post(`${HOST}${CHUNKED}`, '2\r\n{}\r\n0\r\n: y\r\n\r\n')],
  ['a trailer of framing', 'refused', post(`${HOST}${CHUNKED}`, `2\r\n{}\r\n0\r\n${lengthOf('{}')}\r\n`)],
  ['a trailer that ends in a bare LF', 'refused', post(`${HOST}${CHUNKED}`, '2\r\n{}\r\n0\r\nX: y\n\r\n')],
  // bodies that nobody reads
  ['a GET with a body', 'refused', get(`${HOST}${lengthOf(SECOND)}`, SECOND)],
  ['a GET with a chunked body', 'refused', get(`${HOST}${CHUNKED}`, CHUNKS)],
  [
    'a body that is answered before it is complete',
    'last',
    `POST /api/v1/routes HTTP/1.1\r\n${HOST}Content-Length: 5000\r\n\r\n`,
  ],
  // bare LF and CR
  ['bare LF everywhere', 'refused', get(HOST).replaceAll('\r\n', '\n')],
  ['a request line that ends in a bare LF', 'refused', get(HOST).replace('\r\n', '\n')],
  ['a request line that ends in a bare CR', 'refused', get(HOST).replace('\r\n', '\r')],
  ['a header that ends in a bare LF', 'refused', post(`X: y\n${HOST}Content-Length: 2\r\n`, '{}')],
  ['a bare CR inside a value', 'refused', post(`${HOST}X: a\r${CHUNKED}`, CHUNKS)],
  ['a head that ends in a bare LF', 'refused', `GET / HTTP/1.1\r\n${HOST}\n`],
  // headers
  [
    'white space before the colon of Transfer-Encoding',
    'refused',
    post(`${HOST}Transfer-Encoding : chunked\r\n`, CHUNKS),
  ],
  ['a folded Transfer-Encoding', 'refused', post(`${HOST}X: a\r\n ${CHUNKED}`, CHUNKS)],
  ['a header without a name', 'refused', get(`${HOST}: x\r\n`)],
  ['a header without a name before Content-Length', 'refused', post(`${HOST}: x\r\n${lengthOf(SECOND)}`)],
  ['a header without a name before chunked', 'refused', post(`${HOST}: x\r\n${CHUNKED}`, CHUNKS)],
  ['a POST without a length', 'served', post(HOST)],
  ['U+0000 in a value', 'refused', get(`${HOST}X: a\0b\r\n`)],
  ['no Host', 'refused', get('')],
  ['two Hosts', 'refused', get(`${HOST}Host: other\r\n`)],
  ['a Host with a path', 'refused', get('Host: tocsin/other\r\n')],
  // targets and methods
  ['an absolute form with a foreign host', 'refused', get(HOST, '', 'http://other.example/api/v1/me')],
  ['an absolute form with its own host', 'refused', get(HOST, '', 'http://tocsin/api/v1/me')],
  ['a path that is not ASCII', 'refused', get(HOST, '', '/api/v1/\xe9')],
  ['CONNECT with a path', 'refused', `CONNECT /api/v1/me HTTP/1.1\r\n${HOST}\r\n`],
  ['an authority form', 'refused', `CONNECT other.example:443 HTTP/1.1\r\n${HOST}\r\n`],
  ['a method in lower case', 'refused', get(HOST).replace('GET', 'get')],
  ['HTTP/1.0', 'refused', get(HOST).replace('1.1', '1.0')],
  ['HTTP/2.0', 'refused', get(HOST).replace('1.1', '2.0')],
];

/** People's, senders', senders' where the library reads it alone, and people's on node:http. */
const LISTENERS = ['app', 'ingest', 'fast', 'node'] as const;
/** By listener and request: what came back to both requests in one packet, and to each in its own. */
const seen = new Map<string, readonly [together: string, apart: string]>();
const tocsin = new Installation();
const fast = new Installation({ SVC_INGEST_FRAMING: 'fast' });
const node = new Installation({ SVC_HTTP_ENGINE: 'node' });

beforeAll(async () => {
  const ready: Ready = await tocsin.start();
  const urls = {
    app: ready.app_url,
    ingest: ready.ingest_url,
    fast: (await fast.start()).ingest_url,
    node: (await node.start()).app_url,
  };
  for (const listener of LISTENERS) {
    await Promise.all(
      REQUESTS.map(async ([name, outcome, written]) => {
        // Where Snapshots are posted, bodies are read by another part.
        const raw =
          listener === 'app' || listener === 'node'
            ? written
            : written.replace(' /api/v1/sessions ', ` ${INGEST_PATH} `);
        const answers = [raw + SECOND, [raw, SECOND]].map((packets) =>
          exchange(urls[listener], [packets].flat(), outcome),
        );
        const [together, apart] = await Promise.all(answers);
        seen.set(`${listener} ${name}`, [together!, apart!]);
      }),
    );
  }
}, 90_000);

afterAll(async () => {
  await Promise.all([tocsin.remove(), fast.remove(), node.remove()]);
});

/** Everything that came back until the connection was closed, or until the second request was served as expected. */
async function exchange(url: string, packets: readonly string[], outcome: Outcome): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = '';
  let isClosed = false;
  socket.on('data', (data) => {
    text += data.toString('latin1');
  });
  // A server that closes while it is still sent to resets the connection; what it answered counts.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
  });
  for (const [index, packet] of packets.entries()) {
    // The second packet follows the answer.
    if (index > 0) await until('an answer', async () => text !== '' || isClosed, 30);
    socket.write(Buffer.from(packet, 'latin1'));
  }
  if (outcome === 'served') await until('both answers', async () => answersIn(text) === 2 || isClosed, 30);
  else await until('the end of the connection', async () => isClosed, 30);
  socket.destroy();
  return isClosed ? `${text}<closed>` : text;
}

const answersIn = (text: string) => text.split('HTTP/1.1 ').length - 1;

test('the table has forty requests at least', () => {
  expect(REQUESTS.length).toBeGreaterThanOrEqual(40);
});

const STRICT = (['app', 'ingest', 'node'] as const).flatMap((listener) =>
  REQUESTS.map(([name, outcome]) => [listener, name, outcome] as const),
);

test.each(STRICT)('%s: %s is %s', (listener, name, outcome) => {
  const [together, apart] = seen.get(`${listener} ${name}`)!;
  switch (outcome) {
    case 'served':
      expect(apart).toMatch(/^HTTP\/1\.1 [24]\d\d /);
      expect(apart).not.toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close/);
      expect(answersIn(apart)).toBe(2);
      if (listener !== 'ingest') expect(apart).toContain(MARK);
      break;
    case 'last':
      expect(apart).toMatch(/^HTTP\/1\.1 [24]\d\d /);
      for (const answer of [together, apart])
        expect([answersIn(answer), answer]).toEqual([1, expect.stringMatching(/<closed>$/)]);
      break;
    case 'refused': {
      const status = name.startsWith('HTTP/') ? '505 HTTP Version Not Supported' : '400 Bad Request';
      for (const answer of [together, apart]) {
        expect(answersIn(answer)).toBe(1);
        expect(answer.startsWith(`HTTP/1.1 ${status}\r\nConnection: close\r\n`), answer).toBe(true);
        expect(answer).toMatch(/<closed>$/);
      }
    }
  }
});

/** The library is generous, so little may follow on the connection. */
test.each(REQUESTS)('with fast framing nothing follows %s, unless it is served', (name, outcome) => {
  const [together, apart] = seen.get(`fast ${name}`)!;
  for (const answer of [together, apart]) {
    expect(answersIn(answer)).toBeLessThanOrEqual(outcome === 'served' ? 2 : 1);
    if (outcome !== 'served') expect(answer).toMatch(/<closed>$/);
  }
});
