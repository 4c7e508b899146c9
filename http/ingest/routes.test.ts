/** The ingest listener over real sockets, its database pretended. */
import net from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RefusedProof } from '../../actors/access/refused-proofs.ts';
import { feedKey, groupKeyHash } from '../../actors/feed/identity.ts';
import { feedAddress } from '../../actors/feed/messages.ts';
import { shardOf } from '../../runtime/actor/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { clientAddresses } from '../server/exchange.ts';
import { createServer, type Server } from '../server/server.ts';
import { createIngest, type Ingest, type OtherReplicas } from './index.ts';
import {
  AwayError,
  freshMetrics,
  HeldWriter,
  INTEGRATION,
  isAway,
  oneToken,
  TOKEN,
} from './ingest.fixture.ts';

const LIMIT = 16_777_216;
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

let writer: HeldWriter;
let signals: PublicId[];
let refused: RefusedProof[];
let tokens: ReturnType<typeof oneToken>;
let ingest: Ingest;
let url: string;
let port: number;
let server: Server;

beforeEach(() => listen(null));

/** Listens as the only process, or as one of several replicas. */
async function listen(others: OtherReplicas | null, isOpen = true): Promise<void> {
  writer = new HeldWriter();
  signals = [];
  refused = [];
  tokens = oneToken();
  ingest = createIngest({
    tokens,
    signals: { record: async (id) => void signals.push(id) },
    clientAddress: clientAddresses(['127.0.0.0/8']),
    refusedProofs: { note: (one) => void refused.push(one) },
    writer,
    queue: {
      page: async () => [],
      pageOf: async () => ({ snapshots: [], drawn: 0 }),
      unsorted: async () => [],
      sort: async () => undefined,
      body: async () => null,
      bodies: async () => new Map(),
      fail: async () => undefined,
      beginAttempt: async () => 1,
      forgetAttempt: async () => undefined,
    },
    system: { deliver: async () => undefined, backlog: () => 0 },
    placement: { onChange: () => () => undefined, owned: () => [], epochOf: () => null },
    others,
    clock: systemClock,
    log: silentLog,
    metrics: freshMetrics(),
    logsInfo: true,
    isUnavailable: isAway,
  });
  if (isOpen) ingest.open();
  const anywhere = { host: '127.0.0.1', port: 0 };
  const nothing = async () => null;
  server = createServer({
    listen: { app: anywhere, ingest: anywhere, internal: anywhere },
    ingestFraming: 'fast',
    engine: process.env.SVC_HTTP_ENGINE === 'node' ? 'node' : 'auto',
    handlers: { app: nothing, ingest: nothing, internal: nothing },
    clock: systemClock,
    ingest: ingest.register,
    ingestDrained: async () => undefined,
    onNodeEngine: fail,
    onDefect: (_listener, error) => fail(error),
  });
  port = (await server.start()).ingest.port;
  url = `http://127.0.0.1:${port}/api/v1`;
}

afterEach(() => server.stop());

function fail(error: unknown): void {
  throw error;
}

const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: 'POST', body: Buffer.from(body), headers });

/** Sends raw bytes and gives what came back until the peer closed, or `until` appeared. */
async function raw(pieces: readonly (string | Buffer)[], until: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  let received = '';
  const done = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (received.includes(until)) resolve();
    });
    socket.on('close', () => resolve());
    // A server that closes while it is still sent to breaks the pipe; what it answered counts.
    socket.on('error', () => resolve());
  });
  for (const piece of pieces) socket.write(piece);
  await done;
  socket.destroy();
  return received;
}

describe('POST /api/v1/ingest', () => {
  it('answers 202 without a body once the bytes are stored exactly', async () => {
    const body = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256));
    const answer = await post('/ingest', body, { ...AUTHORIZED, 'content-type': 'text/x-odd' });
    expect([answer.status, await answer.text()]).toEqual([202, '']);
    expect(writer.stored).toHaveLength(1);
    expect(writer.stored[0]).toMatchObject({
      integrationId: INTEGRATION,
      contentType: 'text/x-odd',
      shard: null,
    });
    expect(writer.stored[0]?.body.equals(body)).toBe(true);
  });

  it.each(['POST /api/v1/ingest', 'POST /api/v1/heartbeat', `GET /api/v1/heartbeat/${TOKEN}`])(
    'takes nothing from %s with two lengths: 400, and the connection ends',
    async (line) => {
      const lines = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 2\r\nContent-Length: 4\r\n`;
      const answer = await raw([`${line} HTTP/1.1\r\n${lines}\r\n{}`], '<never>');
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
      expect([writer.stored, signals]).toEqual([[], []]);
    },
  );

  it('does not answer before the commit', async () => {
    writer.open = false;
    const written = writer.nextWrite();
    let answered = false;
    const answer = post('/ingest', '{}', AUTHORIZED).then((response) => {
      answered = true;
      return response;
    });
    await written;
    // A whole exchange later there is still no answer.
    await fetch(`${url}/heartbeat`);
    expect(answered).toBe(false);
    writer.release();
    expect((await answer).status).toBe(202);
  });

  it.each([
    ['an empty body', ''],
    ['no JSON', 'not json'],
  ])('accepts %s', async (_, body) => {
    expect((await post('/ingest', body, AUTHORIZED)).status).toBe(202);
    expect(writer.stored[0]?.body.toString()).toBe(body);
  });

  it('takes the token from the path, whatever the header says', async () => {
    const answer = await post(`/ingest/${TOKEN}`, '{}', { authorization: 'Basic eA==' });
    expect(answer.status).toBe(202);
  });

  it('takes the scheme in any case', async () => {
    expect((await post('/ingest', '{}', { authorization: `bEARER ${TOKEN}` })).status).toBe(202);
  });

  it.each<[string, string, Record<string, string>]>([
    ['no credential', '/ingest', {}],
    ['another scheme', '/ingest', { authorization: `Basic ${TOKEN}` }],
    ['an unknown token', '/ingest', { authorization: `Bearer svc_int_${'b'.repeat(43)}` }],
    ['an API token', '/ingest', { authorization: `Bearer svc_pat_${'a'.repeat(43)}` }],
    ['an unknown token in the path', '/ingest/nobody', AUTHORIZED],
  ])('answers 401 to %s', async (_, path, headers) => {
    const answer = await post(path, '{}', headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    const problem = (await answer.json()) as Record<string, unknown>;
    expect(problem).toMatchObject({
      type: 'https://tocsin.invalid/problems/unauthenticated',
      title: 'Unauthenticated',
      status: 401,
    });
    expect(problem).not.toHaveProperty('instance');
    expect(writer.stored).toEqual([]);
    const isNoted = headers.authorization?.startsWith('Bearer') === true;
    expect(refused.map(({ kind }) => kind)).toEqual(isNoted ? ['integration_token'] : []);
  });

  it('notes a refused token with the address of the client behind trusted proxies, and nothing of the token', async () => {
    const headers = { authorization: `Bearer svc_int_${'b'.repeat(43)}`, 'x-forwarded-for': '198.51.100.7' };
    await post('/ingest', '{}', headers);
    await fetch(`${url}/heartbeat`, { headers });
    const noted = { kind: 'integration_token', address: '198.51.100.7', reason: 'unknown', resourceId: null };
    expect(refused).toEqual([noted, noted]);
  });

  it('refuses a revoked token from the next request', async () => {
    await post('/ingest', '{}', AUTHORIZED);
    tokens.invalidate();
    expect((await post('/ingest', '{}', AUTHORIZED)).status).toBe(401);
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('answers 404 to %s', async (method) => {
    expect((await fetch(`${url}/ingest`, { method, headers: AUTHORIZED })).status).toBe(404);
  });

  it.each(['/ingest/', `/ingest/${TOKEN}/`, `/ingest/${TOKEN}/x`])('answers 404 at %s', async (path) => {
    expect((await post(path, '{}', AUTHORIZED)).status).toBe(404);
  });

  it('stores a body of 16 MiB', async () => {
    expect((await post('/ingest', Buffer.alloc(LIMIT, 32), AUTHORIZED)).status).toBe(202);
    expect(writer.stored[0]?.body.length).toBe(LIMIT);
  });

  const head = (authorization: string, framing: string) =>
    `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${framing}\r\n\r\n`;

  it('refuses one byte more unread, and closes (#27)', async () => {
    const answer = await raw([head(`Bearer ${TOKEN}`, `Content-Length: ${LIMIT + 1}`)], 'never');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('payload-too-large');
  });

  it('answers 401 to one byte more without a valid token (#27)', async () => {
    const answer = await raw([head('Bearer x', `Content-Length: ${LIMIT + 1}`)], 'unauthenticated');
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('refuses a body that grows past the limit, and closes', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 32);
    const pieces = Array.from({ length: 17 }, () => [
      `${chunk.length.toString(16)}\r\n`,
      chunk,
      '\r\n',
    ]).flat();
    const answer = await raw([head(`Bearer ${TOKEN}`, 'Transfer-Encoding: chunked'), ...pieces], 'never');
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(writer.stored).toEqual([]);
  });

  it('stores nothing of a body that is cut off', async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`${head(`Bearer ${TOKEN}`, 'Content-Length: 100')}{"half":`);
    await new Promise<void>((resolve) => socket.end(resolve));
    // Whoever comes later is stored, so the one before was judged.
    await post('/ingest', 'whole', AUTHORIZED);
    expect(writer.stored.map(({ body }) => body.toString())).toEqual(['whole']);
  });

  it.each([
    [503, new AwayError('away'), '5', 'coordination-unavailable'],
    [500, new Error('broken'), null, 'internal'],
  ])('answers %i when the write fails', async (status, error, retryAfter, type) => {
    writer.open = false;
    const written = writer.nextWrite();
    const answer = post('/ingest', '{}', AUTHORIZED);
    await written;
    writer.release(error);
    const { headers, status: answered } = await answer;
    expect([answered, headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(((await (await answer).json()) as { type: string }).type).toContain(type);
  });

  it('writes together what arrives during a write', async () => {
    writer.open = false;
    const first = writer.nextWrite();
    const answers = [post('/ingest', '1', AUTHORIZED)];
    await first;
    const second = writer.nextWrite();
    answers.push(...['2', '3', '4'].map((body) => post('/ingest', body, AUTHORIZED)));
    await Promise.all(['2', '3', '4'].map(() => fetch(`${url}/ingest`)));
    writer.open = true;
    writer.release();
    await second;
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(writer.stored).toHaveLength(4);
    expect(writer.batches.length).toBeLessThan(4);
  });
});

describe('POST /api/v1/ingest at one of several replicas', () => {
  let called: (readonly number[])[];

  beforeEach(async () => {
    server.stop();
    const calls: (readonly number[])[] = [];
    called = calls;
    const up = { isUp: true, onState: () => () => undefined };
    await listen({ signals: up, hasIsolated: () => false, call: (shards) => void calls.push(shards) });
  });

  const group = (alerts: string) => `{"groupKey":"K","status":"firing","alerts":${alerts}}`;

  it.each([
    ['an empty body', ''],
    ['no JSON', 'not json'],
    ['no UTF-8', Buffer.from([0x7b, 0xff])],
    ['nothing but brackets', '['.repeat(5_000_000)],
    ['a group that is no text', '{"groupKey":{"a":1}}'],
    ['names that mean something elsewhere', '{"__proto__":{"groupKey":"K"},"constructor":1}'],
    ['16 MiB', Buffer.alloc(LIMIT, 32)],
    ['200,000 alerts', group(`[${Array(200_000).fill('{"labels":{}}').join()}]`)],
  ])('answers 202 to %s, and stores the same shard for it each time', async (_, body) => {
    expect((await post('/ingest', body, AUTHORIZED)).status).toBe(202);
    expect((await post('/ingest', body, AUTHORIZED)).status).toBe(202);
    const [first, second] = writer.stored.map(({ shard }) => shard);
    expect(first).toBeTypeOf('number');
    expect(second).toBe(first);
  });

  it('stores the shard of the feed, and calls its owner after the commit', async () => {
    writer.open = false;
    const written = writer.nextWrite();
    const answer = post('/ingest', group('[]'), AUTHORIZED);
    await written;
    expect(called).toEqual([]);
    writer.release();
    expect((await answer).status).toBe(202);
    const shard = shardOf(feedAddress(feedKey(INTEGRATION, groupKeyHash('K'))));
    expect(writer.stored.map((stored) => stored.shard)).toEqual([shard]);
    await vi.waitFor(() => expect(called).toEqual([[shard]]));
  });
});

describe('/api/v1/heartbeat', () => {
  it.each(['GET', 'POST'])('takes a signal by %s', async (method) => {
    expect((await fetch(`${url}/heartbeat`, { method, headers: AUTHORIZED })).status).toBe(204);
    expect((await fetch(`${url}/heartbeat/${TOKEN}`, { method })).status).toBe(204);
    expect(signals).toEqual([INTEGRATION, INTEGRATION]);
  });

  it('answers 401 without a valid token and 404 to other methods', async () => {
    expect((await fetch(`${url}/heartbeat`)).status).toBe(401);
    expect((await fetch(`${url}/heartbeat`, { method: 'PUT', headers: AUTHORIZED })).status).toBe(404);
    expect((await fetch(`${url}/heartbeat/`, { headers: AUTHORIZED })).status).toBe(404);
    expect(signals).toEqual([]);
  });
});

describe('while it waits for its turn', () => {
  it('tells senders to come again and stores nothing, until it is opened', async () => {
    server.stop();
    await listen(null, false);
    const early = await post('/ingest', '{}', AUTHORIZED);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5']);
    ingest.open();
    expect((await post('/ingest', '{}', AUTHORIZED)).status).toBe(202);
  });
});

describe('while draining', () => {
  it('refuses new requests and ends their connections', async () => {
    ingest.beginDrain();
    const head = `Host: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 2\r\n\r\n{}`;
    for (const path of ['ingest', `ingest/${TOKEN}`, 'heartbeat']) {
      // Resolves only when the server closes.
      const answer = await raw([`POST /api/v1/${path} HTTP/1.1\r\n${head}`], 'never');
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toMatch(/\r\nRetry-After: 5\r\n/);
      expect(answer).toMatch(/\r\nConnection: close\r\n/i);
    }
    expect([writer.stored, signals]).toEqual([[], []]);
  });

  it('finishes what is being received and written, and then ends those connections too', async () => {
    writer.open = false;
    const written = writer.nextWrite();
    const socket = net.connect(port, '127.0.0.1');
    const half = `POST /api/v1/ingest HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 4\r\n\r\n{ `;
    await new Promise<void>((resolve) => socket.write(half, () => resolve()));
    const writing = post('/ingest', 'first', AUTHORIZED);
    await written;
    // A whole exchange later the half of the other one has been read.
    await fetch(`${url}/heartbeat`);
    const stopped = ingest.stop();
    let received = '';
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    const second = writer.nextWrite();
    socket.write(' }');
    writer.release();
    const answer = await writing;
    expect([answer.status, answer.headers.get('connection')]).toEqual([202, 'close']);
    await second;
    writer.release();
    await closed;
    expect(received).toMatch(/^HTTP\/1\.1 202 [\s\S]*\r\nConnection: close\r\n/i);
    await stopped;
    expect(writer.stored.map(({ body }) => body.toString())).toEqual(['first', '{  }']);
  });
});
