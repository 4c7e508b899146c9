/**
 * Generated connections, with mutations, as three parsers read them: the front, the strict parser of node:http, and the
 * server behind the front. A request of the front's must be the same request for both others (api §1.2 rule 11).
 */
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import type { Handler } from './exchange.ts';
import { createFramer } from './front.ts';
import { createServer } from './server.ts';

interface Seen {
  readonly method: string;
  readonly target: string;
  /** Latin-1. */
  body: string;
  isComplete: boolean;
}

const mostly = (usual: string, ...others: readonly string[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
const joined = (...parts: readonly fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(''));

const LINE_END = mostly('\r\n', '\n', '\r', '\r\r\n', '\n\r');
const SPACE = mostly(' ', '  ', '\t');
/** Requests and ends of bodies for whoever looks for the end of this one elsewhere. */
const CONTENT = fc.constantFrom(
  '{}',
  'GET /b HTTP/1.1\r\nHost: a\r\n\r\n',
  '0\r\n\r\n',
  '\r\n',
  '2\r\n{}\r\n0\r\n\r\n',
  '',
);
const NAME = fc.constantFrom(
  ...['X', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Host', 'Upgrade', 'Expect', 'Trailer'],
  ...["x!#$%&'*+-.^_`|~1", 'X\x80', 'X(', 'X ', ''],
);
const VALUE = fc.constantFrom(
  ...['', '0', '2', '02', '+2', '2, 2', ' 2 ', '2\xa0', '\v2', 'chunked', '\xa0chunked', 'gzip, chunked'],
  ...['close', 'te, close', 'close\xa0', 'keep-alive', 'upgrade', 'websocket', '100-continue'],
  ...['a', 'a\tb', 'a\0', '\x7f', '\x80\xff', '"'],
);
const COLON = mostly(': ', ':', ' : ', ':\t', ':  ');
const HEADER = joined(NAME, COLON, VALUE, mostly('', ' ', '\t', '\r\n ', ' \t'), LINE_END);
const METHOD = mostly('POST', 'GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'M-SEARCH', 'CONNECT', 'get', '');
const TARGET = mostly(
  '/a',
  '/',
  '/a?b=c#d',
  '/?',
  '/%',
  '//',
  '/\x80',
  '/ b',
  '/\x7f',
  '*',
  'http://a/',
  'a',
);
const VERSION = mostly('HTTP/1.1', 'HTTP/1.0', 'http/1.1', 'HTTP/1.10', 'HTTP/2.0', 'HTTP/1.1 ');
const HOST = mostly(
  'Host: a\r\n',
  'Host:\r\n',
  '',
  'Host: a\r\nHost: a\r\n',
  'Host: a/b\r\n',
  'Host: a b\r\n',
);
const CHUNK = fc
  .tuple(
    mostly('', '0', '0x', '-', ' '),
    CONTENT,
    mostly('', ';a=b', ' ;a', ';', ' ', ';\x80'),
    LINE_END,
    LINE_END,
  )
  .map(([before, content, extension, end, after]) =>
    content === '' ? '' : `${before}${content.length.toString(16)}${extension}${end}${content}${after}`,
  );
const TRAILERS = fc.oneof({ weight: 6, arbitrary: fc.constant('') }, { weight: 1, arbitrary: HEADER });
const BODY = fc.oneof(
  fc.constant('\r\n'),
  fc
    .tuple(mostly('', '0', '00', '\t'), CONTENT)
    .map(([before, content]) => `Content-Length: ${before}${content.length}\r\n\r\n${content}`),
  joined(
    fc.constant('Transfer-Encoding: chunked\r\n\r\n'),
    ...[CHUNK, CHUNK, mostly('0', '000', '', '000000000'), LINE_END, TRAILERS, LINE_END],
  ),
);
const HEADERS = fc.array(HEADER, { maxLength: 2 }).map((headers) => headers.join(''));
const REQUEST = joined(METHOD, SPACE, TARGET, SPACE, VERSION, LINE_END, HOST, HEADERS, BODY);
const MUTATION = fc.tuple(
  ...[fc.nat(400), fc.nat(2)],
  fc.constantFrom('\r', '\n', '\0', ' ', '\t', ':', ';', '0', 'f', '\x80', '\xa0', '\r\n', ','),
);
const CONNECTION = fc
  .tuple(
    fc.array(REQUEST, { minLength: 1, maxLength: 3 }),
    fc.array(MUTATION, { maxLength: 1 }),
    fc.array(fc.nat(500), { maxLength: 3 }),
  )
  .map(([requests, mutations, cuts]) => {
    let text = requests.join('');
    for (const [at, removed, inserted] of mutations)
      text = text.slice(0, at) + inserted + text.slice(at + removed);
    return cut(text, cuts);
  });

function cut(text: string, cuts: readonly number[]): readonly Buffer[] {
  const at = [0, ...cuts.map((each) => each % text.length).sort((one, other) => one - other), text.length];
  const pieces = at.slice(1).map((end, index) => Buffer.from(text.slice(at[index], end), 'latin1'));
  return pieces.filter((piece) => piece.length > 0);
}

const PEER = 'tocsin-peer: s 1 127.0.0.1\r\n';

/** What the front passes on for the server to serve: the peer's line is behind each request line. */
function byFront(pieces: readonly Buffer[]): readonly Seen[] {
  const { read } = createFramer(PEER);
  const passedOn = Buffer.concat(pieces.flatMap((piece) => read(piece))).toString('latin1');
  let [line = '', ...rests] = passedOn.split(PEER);
  return rests.map((rest) => {
    const [method = '', target = ''] = line.split(' ');
    const bodyAt = rest.indexOf('\r\n\r\n') + 4;
    const head = rest.slice(0, bodyAt);
    const lengthEnd = bodyAt + Number(/^content-length:[ \t]*(\d+)/im.exec(head)?.[1] ?? 0);
    const isChunked = /^transfer-encoding:/im.test(head);
    const [body, end] = isChunked ? chunksIn(rest, bodyAt) : [rest.slice(bodyAt, lengthEnd), lengthEnd];
    line = rest.slice(end);
    return { method, target, body, isComplete: end <= rest.length };
  });
}

/** @returns the body, and where it ends: beyond the text when it is not complete */
function chunksIn(text: string, start: number): readonly [body: string, end: number] {
  let body = '';
  let at = start;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(text.slice(at));
    if (line === null) return [body, text.length + 1];
    const size = Number.parseInt(line[1]!, 16);
    const dataAt = at + line[0].length;
    at = dataAt + size + 2;
    if (size === 0) return [body, at];
    body += text.slice(dataAt, dataAt + size);
  }
}

/** The parser of node:http, which only this module gives out. */
interface StrictParser {
  initialize(kind: number, resource: object, headerLimit: number, lenience: number): void;
  execute(piece: Buffer): number | (Error & { readonly code: string });
  [event: number]: (...given: readonly never[]) => unknown;
}
const { HTTPParser } = createRequire(import.meta.url)('_http_common') as {
  readonly HTTPParser: (new () => StrictParser) &
    Readonly<Record<'REQUEST' | 'kOnHeadersComplete' | 'kOnBody' | 'kOnMessageComplete', number>>;
};
/** By the parser's numbers. */
const METHODS = new Map(
  ['DELETE', 'GET', 'HEAD', 'POST', 'PUT', 'CONNECT', 'OPTIONS'].map((method, number) => [number, method]),
).set(24, 'M-SEARCH');
/** A method that it does not know; a length that is repeated with the same value. Neither moves the end of a body. */
const STRICTER = ['HPE_INVALID_METHOD', 'HPE_UNEXPECTED_CONTENT_LENGTH'];

function byNode(pieces: readonly Buffer[]): { readonly seen: readonly Seen[]; readonly error: string } {
  const seen: Seen[] = [];
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.REQUEST, {}, 16_384, 0);
  parser[HTTPParser.kOnHeadersComplete] = (_major, _minor, _headers, number, target) => {
    const method = METHODS.get(number) ?? '';
    seen.push({ method, target, body: '', isComplete: false });
    return method === 'CONNECT' ? 2 : 0;
  };
  parser[HTTPParser.kOnBody] = (piece: Buffer) => {
    seen.at(-1)!.body += piece.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    seen.at(-1)!.isComplete = true;
  };
  for (const piece of pieces) {
    const read = parser.execute(piece);
    if (typeof read !== 'number') return { seen, error: read.code };
    if (read < piece.length) return { seen, error: 'upgraded' };
  }
  return { seen, error: '' };
}

/** @returns how to send a connection, and what the server made of it when it is closed */
async function startServer(): Promise<(pieces: readonly Buffer[]) => Promise<readonly Seen[]>> {
  let seen: Seen[] = [];
  const note: Handler = async ({ method, path, query, body }) => {
    const one: Seen = { method, target: path + (query && `?${query}`), body: '', isComplete: false };
    seen.push(one);
    const got = await body(1_000, { take: () => true, move: () => true, release: () => undefined });
    one.isComplete = got.kind === 'bytes';
    if (got.kind === 'bytes') one.body = got.bytes.toString('latin1');
    return { status: 204, headers: [], content: null };
  };
  const free = { host: '127.0.0.1', port: 0 };
  const server = createServer({
    listen: { app: free, ingest: free, internal: free },
    ingestFraming: 'strict',
    engine: process.env.SVC_HTTP_ENGINE === 'node' ? 'node' : 'auto',
    handlers: { app: note, ingest: note, internal: note },
    clock: systemClock,
    ingest: () => undefined,
    ingestDrained: () => Promise.resolve(),
    onNodeEngine: (error) => expect.unreachable(String(error)),
    onDefect: (_, error) => expect.unreachable(String(error)),
  });
  onTestFinished(() => server.stop());
  const { app } = await server.start();
  return async (pieces) => {
    seen = [];
    const socket = connect({ ...app, noDelay: true }).on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve));
    socket.resume().end();
    await closed;
    return seen;
  };
}

test('a strict parser and the server take each request for the same as the front does', async () => {
  const send = await startServer();
  let requests = 0;
  let bodies = 0;
  await fc.assert(
    fc.asyncProperty(CONNECTION, async (pieces) => {
      const complete = byFront(pieces).filter(({ isComplete }) => isComplete);
      const node = byNode(pieces);
      const same = STRICTER.includes(node.error) ? complete.slice(0, node.seen.length) : complete;
      expect(node.seen.slice(0, same.length)).toEqual(same);
      const served = await send(pieces);
      const withBody = served.filter(({ isComplete }) => isComplete);
      // It leaves out a mere question mark; it does not pipeline, so that it may leave out the last ones.
      const expected = complete.map((one) => ({ ...one, target: one.target.replace(/\?$/, '') }));
      expect(withBody).toEqual(expected.slice(0, withBody.length));
      expect(withBody.length).toBeGreaterThanOrEqual(Math.min(complete.length, 1));
      requests += complete.length;
      bodies += complete.filter(({ body }) => body !== '').length;
    }),
    { seed: 11, numRuns: 600 },
  );
  expect(requests).toBeGreaterThan(150);
  expect(bodies).toBeGreaterThan(50);
});
