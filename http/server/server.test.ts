import { once } from 'node:events';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import * as v from 'valibot';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RefusedProof } from '../../actors/access/refused-proofs.ts';
import type { Push } from '../../actors/channels/channel.ts';
import { CHANNELS } from '../../actors/channels/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import { otherOperations } from '../../test/every-operation.ts';
import { type SignedIn, startHttp } from '../../test/http-server.ts';
import { type Operation, operation } from '../operation.ts';
import { ListenError } from './server.ts';

const NOT_FOUND = 'https://tocsin.invalid/problems/not-found';

/** Echoes what arrived; `release` lets a held answer go. */
function echo(held?: Promise<void>, needs: 'none' | 'authenticated' = 'none'): readonly Operation[] {
  return [
    operation({
      id: 'echo',
      method: 'POST',
      path: '/echo',
      tag: 'Test',
      summary: 'Echo',
      needs,
      body: v.object({ text: v.string() }),
      answers: { 200: { description: 'The same', schema: v.unknown() } },
      async handle({ body, address }) {
        await held;
        return { status: 200, body: { ...body, address } };
      },
    }),
  ];
}

async function freePort(): Promise<number> {
  const server = createNetServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

describe('paths and listeners', () => {
  test.each([
    ['PATCH', '/api/v1/roles'],
    ['OPTIONS', '/api/v1/roles'],
    ['GET', '/api/v1/roles/'],
    ['GET', '/api/v1/Roles'],
    ['GET', '/api/v1/ingest'],
    ['POST', '/api/v1/ingest'],
    ['GET', '/api/v2/roles'],
    ['GET', '/api'],
    ['GET', '/health/live'],
    ['GET', '/metrics'],
    ['POST', '/'],
  ])('%s %s of the app listener is a 404 problem without CORS', async (method, path) => {
    const { send } = await startHttp();
    const answer = await send(method, path);
    expect(answer.status).toBe(404);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json).toEqual({ type: NOT_FOUND, title: 'Not found', status: 404, instance: path });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('the ingest listener answers what it does not serve with a problem without instance', async () => {
    const { send } = await startHttp();
    const unknown = await send('GET', '/api/v1/roles', { listener: 'ingest' });
    expect(unknown.json).toEqual({ type: NOT_FOUND, title: 'Not found', status: 404 });
    const callback = await send('POST', '/api/v1/callbacks/pigeon/CN0000000000AA', {
      listener: 'ingest',
      body: {},
    });
    expect(callback.json).toEqual({ type: NOT_FOUND, title: 'Not found', status: 404 });
  });

  test('a callback that proves nothing is 401 and is noted; a body above 1 MiB is 400 and reaches nobody', async () => {
    const refused: RefusedProof[] = [];
    const sizes: number[] = [];
    const { send } = await startHttp({
      refusedProofs: { note: (one) => void refused.push(one) },
      callbacks: [
        {
          callback: CHANNELS.bridge.callback,
          receiver: {
            async push({ body }) {
              sizes.push(body.length);
              return { status: 401 };
            },
          },
        },
      ],
    });
    const push = (size: number) =>
      send('POST', '/api/v1/callbacks/bridge/CN0000000000AA', {
        listener: 'ingest',
        body: { x: 'x'.repeat(size - '{"x":""}'.length) },
      });
    expect((await push(1_048_576)).status).toBe(401);
    expect((await push(1_048_577)).status).toBe(400);
    expect(sizes).toEqual([1_048_576]);
    const callback = { kind: 'callback', reason: 'unproven', resourceId: 'CN0000000000AA' };
    expect(refused).toEqual([{ ...callback, address: '127.0.0.1' }]);
  });

  test('a kind of callback keeps its own headers, answers JSON and has its own answer to a body above 1 MiB', async () => {
    const pushes: Push[] = [];
    const { send } = await startHttp({
      callbacks: [
        {
          callback: { path: 'plain-text', headers: ['x-secret-token'], tooLarge: 413 },
          receiver: {
            async push(request) {
              pushes.push(request);
              return { status: 200, body: '{"text":"done"}' };
            },
          },
        },
      ],
    });
    const path = '/api/v1/callbacks/plain-text/CN0000000000AA';
    const push = (body: object) =>
      send('POST', path, {
        ...{ listener: 'ingest', body },
        headers: { 'X-Secret-Token': 's', 'X-Other': 'o' },
      } as const);
    expect(await push({})).toMatchObject({ status: 200, json: { text: 'done' } });
    expect((await push({ x: 'x'.repeat(1_048_576) })).status).toBe(413);
    expect(pushes).toMatchObject([{ id: 'CN0000000000AA', body: Buffer.from('{}') }]);
    expect(pushes[0]?.headers).toContainEqual(['x-secret-token', 's']);
    expect(pushes[0]?.headers.map(([name]) => name)).not.toContain('x-other');
    const bridge = await send('POST', '/api/v1/callbacks/bridge/CN0000000000AA', {
      listener: 'ingest',
      body: {},
    });
    expect(bridge.status).toBe(404);
  });

  test('a body above 1 MiB is refused only behind the proof where a header is the proof', async () => {
    const { callback } = CHANNELS.channel_bot;
    const isProven = ({ headers }: Push) => headers.some(([, value]) => value === 'right');
    const { send } = await startHttp({
      callbacks: [
        {
          callback: callback ?? { path: '', headers: [], tooLarge: 400 },
          receiver: {
            push: async (push) => ({ status: !isProven(push) ? 401 : push.body.length === 0 ? 400 : 500 }),
          },
        },
      ],
    });
    const push = (secret: string) =>
      send('POST', '/api/v1/callbacks/channel-bot/CN0000000000AA', {
        ...{ listener: 'ingest', body: { x: 'x'.repeat(2 * 1_048_576) } },
        headers: { 'X-Telegram-Bot-Api-Secret-Token': secret },
      } as const);
    expect((await push('wrong')).status).toBe(401);
    expect((await push('right')).status).toBe(400);
  });

  test('the internal listener answers probes, metrics and plain 404', async () => {
    let reason: 'starting' | null = 'starting';
    const { send } = await startHttp({ readiness: async () => reason });
    expect(await send('GET', '/health/live', { listener: 'internal' })).toMatchObject({
      status: 200,
      text: 'ok',
    });
    expect(await send('GET', '/health/ready', { listener: 'internal' })).toMatchObject({
      status: 503,
      text: 'starting',
    });
    reason = null;
    expect(await send('GET', '/health/ready', { listener: 'internal' })).toMatchObject({
      status: 200,
      text: 'ok',
    });
    expect((await send('GET', '/metrics', { listener: 'internal' })).text).toContain('svc_live_streams 0');
    const unknown = await send('GET', '/', { listener: 'internal' });
    expect([unknown.status, unknown.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
  });

  test('three listeners on one address share a socket', async () => {
    const shared = { host: '127.0.0.1', port: await freePort() };
    const { send, addresses } = await startHttp({
      listen: { app: shared, ingest: shared, internal: shared },
      ingest: {
        register: (app) => {
          app.post('/api/v1/ingest', (res) => {
            res.writeStatus('202 Accepted').end();
          });
        },
        stop: async () => undefined,
      },
    });
    expect(new Set(Object.values(addresses).map(({ port }) => port)).size).toBe(1);
    expect((await send('GET', '/health/live')).text).toBe('ok');
    expect((await send('POST', '/api/v1/ingest', { body: {} })).status).toBe(202);
    expect((await send('GET', '/api/v1/sign-in-options')).status).toBe(200);
    expect((await send('GET', '/')).text).toContain('npm run build');
  });

  test('an address that is taken stops the start and names the listener', async () => {
    const { addresses } = await startHttp();
    const second = startHttp({ listen: { ...addresses, app: { host: '127.0.0.1', port: 0 } } });
    await expect(second).rejects.toThrow(ListenError);
  });
});

describe('requests', () => {
  test('headers of 15 KiB pass', async () => {
    const { send } = await startHttp();
    const headers = { 'x-long': 'x'.repeat(15_000) };
    expect((await send('GET', '/api/v1/sign-in-options', { headers })).status).toBe(200);
    const tooLong = await send('GET', '/api/v1/sign-in-options', {
      headers: { 'x-long': 'x'.repeat(17_000) },
    });
    expect(tooLong.status).toBe(431);
  });

  test.each([
    [97, 16_384, '404 Not Found'],
    [98, 200, '431 Request Header Fields Too Large'],
    [2, 16_385, '431 Request Header Fields Too Large'],
  ])(
    '%i headers in a head of %i bytes, and a body that goes on, are answered %s',
    async (count, size, status) => {
      const { addresses } = await startHttp();
      const socket = await rawConnection(addresses.app);
      const end = '\r\n\r\n';
      const lines = `POST /a HTTP/1.1\r\nHost: tocsin\r\nContent-Length: 900000${'\r\nx:'.repeat(count - 2)}`;
      socket.write(lines + 'x'.repeat(Math.max(0, size - lines.length - end.length)) + end);
      socket.write(Buffer.alloc(900_000));
      expect(await received(socket, '<never>')).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    },
  );

  test('HEAD answers as GET without the body', async () => {
    const { send } = await startHttp();
    const get = await send('GET', '/api/v1/sign-in-options');
    const head = await send('HEAD', '/api/v1/sign-in-options');
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });

  test('a body of 1 MiB passes, one byte more is 413, announced or not', async () => {
    const { send, signIn } = await startHttp({ operations: [echo(undefined, 'authenticated')] });
    const as = await signIn('viewer');
    const fitting = JSON.stringify({ text: 'x'.repeat(1_048_576 - '{"text":""}'.length) });
    expect(Buffer.byteLength(fitting)).toBe(1_048_576);
    expect((await send('POST', '/api/v1/echo', { as, body: fitting })).status).toBe(200);
    const announced = await send('POST', '/api/v1/echo', { as, body: `${fitting} ` });
    expect([announced.status, announced.json.title]).toEqual([413, 'Payload too large']);
    const chunked = await send('POST', '/api/v1/echo', {
      as,
      body: `${fitting} `,
      headers: { 'transfer-encoding': 'chunked' },
    });
    expect(chunked.status).toBe(413);
  });

  test('the client address is read through trusted proxies only', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9, 10.0.0.2' };
    const body = { text: '' };
    const direct = await startHttp({ operations: [echo()] });
    expect((await direct.send('POST', '/api/v1/echo', { body, headers })).json.address).toBe('127.0.0.1');
    const claiming = { 'tocsin-peer': 's 203.0.113.9' };
    const claimed = await direct.send('POST', '/api/v1/echo', { body, headers: claiming });
    expect(claimed.json.address).toBe('127.0.0.1');
    const behind = await startHttp({ operations: [echo()], trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] });
    expect((await behind.send('POST', '/api/v1/echo', { body, headers })).json.address).toBe('203.0.113.9');
  });

  test('a thrown error is a generic 500 that is logged; an unreachable database a 503', async () => {
    const broken = (error: Error) =>
      [{ ...echo()[0], handle: () => Promise.reject(error) }] as readonly Operation[];
    const defect = await startHttp({ operations: [broken(new Error('password=hunter2'))] });
    const answer = await defect.send('POST', '/api/v1/echo', { body: { text: '' } });
    expect(answer.json).toMatchObject({ status: 500, type: 'https://tocsin.invalid/problems/internal' });
    expect(answer.text).not.toContain('hunter2');
    expect(defect.logged).toEqual(['api_request_failed']);

    const away = await startHttp({ operations: [broken(new Error('gone'))], isUnavailable: () => true });
    const refused = await away.send('POST', '/api/v1/echo', { body: { text: '' } });
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.json).toMatchObject({ status: 503, retry_after_seconds: 5 });
    expect(away.logged).toEqual([]);
  });

  test('a database that does not answer is 503 after 5 s', async () => {
    const { send, clock, access, signIn } = await startHttp();
    const viewer = await signIn('viewer');
    let asked = () => {};
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    Object.assign(access.sessions, {
      find: () => {
        asked();
        return new Promise(() => undefined);
      },
    });
    const answer = send('GET', '/api/v1/me', { as: viewer });
    await arrived;
    clock.advance(5 * SECOND);
    expect(await answer).toMatchObject({ status: 503, json: { retry_after_seconds: 5 } });
  });

  test('requests are counted by path template', async () => {
    const { send, registry } = await startHttp({ operations: otherOperations() });
    await send('GET', '/api/v1/users/SR0000000000AA');
    await send('GET', '/api/v1/nothing');
    await send('BREW', '/api/v1/nothing');
    const text = await registry.metrics();
    expect(text).toContain(
      'svc_api_requests_total{route_pattern="/api/v1/users/{user_id}",method="GET",code="401"} 1',
    );
    expect(text).toContain('svc_api_requests_total{route_pattern="unmatched",method="GET",code="404"} 1');
    expect(text).not.toContain('BREW');
  });
});

test('a stream says that its reader is behind, and goes on when that one reads again', async () => {
  const piece = 'x'.repeat(10_000);
  const writes: boolean[] = [];
  let isDrained = false;
  const stream = operation({
    id: 'stream',
    method: 'GET',
    path: '/stream',
    tag: 'Test',
    summary: 'Stream',
    needs: 'none',
    answers: { 200: { description: 'Text', schema: v.unknown(), contentType: 'text/event-stream' } },
    handle: async () => ({
      status: 200,
      stream(output) {
        output.onDrained(() => {
          isDrained = true;
        });
        while (writes.at(-1) !== false && writes.length < 5_000) writes.push(output.write(piece));
      },
    }),
  });
  const { addresses } = await startHttp({ operations: [[stream]] });
  const socket = await rawConnection(addresses.app);
  socket.pause();
  socket.write(`GET /api/v1/stream HTTP/1.1\r\nHost: tocsin\r\n\r\n`);
  await expect.poll(() => writes.at(-1), { timeout: 5_000 }).toBe(false);
  socket.resume();
  await expect.poll(() => isDrained, { timeout: 5_000 }).toBe(true);
});

/** A connection on which a test writes as it likes. */
async function rawConnection({ port }: { readonly port: number }): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => socket.destroy());
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const head = (path: string, length: number, as?: SignedIn) =>
  [
    `POST /api/v1${path} HTTP/1.1\r\nHost: tocsin\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`,
    as ? `Cookie: ${as.cookie}\r\nX-CSRF-Token: ${as.csrf}\r\n` : '',
    '\r\n',
  ].join('');

/** Everything a connection brings until it is closed, or until `end` appears. */
function received(socket: Socket, end: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (text.includes(end)) resolve(text);
    });
    socket.on('close', () => resolve(`${text}<closed>`));
  });
}

const OPTIONS_REQUEST = '/api/v1/sign-in-options HTTP/1.1\r\nHost: tocsin\r\n';

describe('connections', () => {
  test('are kept after HEAD, whose length is that of GET', async () => {
    const { addresses } = await startHttp();
    const socket = await rawConnection(addresses.app);
    socket.write(`HEAD ${OPTIONS_REQUEST}\r\n`);
    const empty = await received(socket, '\r\n\r\n');
    expect(empty).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    socket.write(`GET ${OPTIONS_REQUEST}\r\n`);
    const full = await received(socket, '}');
    expect(full).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const lengths = (text: string) => text.match(/^content-length: \d+/gim);
    expect(lengths(empty)).toHaveLength(1);
    expect(lengths(empty)).toEqual(lengths(full));
  });

  test('are kept after 304', async () => {
    const { addresses, send } = await startHttp();
    const etag = (await send('GET', '/api/v1/openapi.json')).headers.etag;
    const socket = await rawConnection(addresses.app);
    socket.write(`GET /api/v1/openapi.json HTTP/1.1\r\nHost: tocsin\r\nIf-None-Match: ${etag}\r\n\r\n`);
    expect(await received(socket, '\r\n\r\n')).toMatch(/^HTTP\/1\.1 304 /);
    socket.write(`GET ${OPTIONS_REQUEST}\r\n`);
    expect(await received(socket, '}')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test.each([
    ['repeated with another value', 'Content-Length: 2\r\nContent-Length: 3\r\n'],
    ['not a decimal number', 'Content-Length: 0x2\r\n'],
    ['negative', 'Content-Length: -2\r\n'],
    ['empty', 'Content-Length:\r\n'],
  ])('a Content-Length that is %s is 400 and the end of its connection', async (_, lines) => {
    const { addresses } = await startHttp({ operations: [echo()] });
    for (const listener of ['app', 'ingest', 'internal'] as const) {
      const socket = await rawConnection(addresses[listener]);
      socket.write(`POST /api/v1/echo HTTP/1.1\r\nHost: tocsin\r\n${lines}\r\n`);
      const answer = await received(socket, '<never>');
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answer).toMatch(/<closed>$/);
    }
  });

  test('what follows a request of unclear length is never served', async () => {
    const { addresses } = await startHttp({ operations: [echo()] });
    const socket = await rawConnection(addresses.app);
    const lines = 'Host: tocsin\r\nContent-Length: 0\r\nContent-Length: 40\r\n';
    socket.write(`POST /api/v1/echo HTTP/1.1\r\n${lines}\r\nGET ${OPTIONS_REQUEST}\r\n`);
    expect(await received(socket, '<never>')).not.toContain('200 OK');
  });

  test('a Content-Length that is repeated with the same value is taken', async () => {
    const { addresses } = await startHttp({ operations: [echo()] });
    const socket = await rawConnection(addresses.app);
    const body = '{"text":"x"}';
    const lines = `Content-Length: ${body.length}\r\n`;
    socket.write(head('/echo', body.length).replace(lines, lines + lines) + body);
    expect(await received(socket, '}')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('bodies that nobody may send', () => {
  test('without credentials the answer does not wait for the body', async () => {
    const { addresses } = await startHttp({ operations: otherOperations() });
    const socket = await rawConnection(addresses.app);
    socket.write(head('/users', 1000));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('too large is told first', async () => {
    const { send } = await startHttp({ operations: otherOperations() });
    const answer = await send('POST', '/api/v1/users', { body: 'x'.repeat(1_048_577) });
    expect(answer.status).toBe(413);
  });
});

describe('shutdown', () => {
  test('a request that does not end holds it up for 10 s, and idle connections are closed', async () => {
    let begun = () => {};
    const arrived = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const stuck = echo().map((found) => ({
      ...found,
      handle: () => {
        begun();
        return new Promise<never>(() => undefined);
      },
    }));
    const { addresses, clock, http, send } = await startHttp({ operations: [stuck] });
    const idle = await rawConnection(addresses.app);
    idle.write('GET /api/v1/sign-in-options HTTP/1.1\r\nHost: tocsin\r\n\r\n');
    await once(idle, 'data');
    const closed = once(idle, 'close');
    const cut = send('POST', '/api/v1/echo', { body: { text: 'never' } }).catch((error: Error) => error);
    await arrived;
    const drain = http.drain();
    clock.advance(10 * SECOND);
    await Promise.all([drain, closed]);
    expect(await cut).toBeInstanceOf(Error);
  });

  test('requests under way finish, new ones are refused, probes are answered to the end', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const shared = { host: '127.0.0.1', port: await freePort() };
    const { http, send } = await startHttp({
      operations: [echo(held)],
      listen: { app: shared, ingest: shared, internal: shared },
    });
    const first = send('POST', '/api/v1/echo', { body: { text: 'late' } });
    await send('GET', '/health/live');

    let drained = false;
    const drain = http.drain().then(() => {
      drained = true;
    });
    const refused = await send('GET', '/api/v1/sign-in-options');
    expect([refused.status, refused.headers.connection]).toEqual([503, 'close']);
    expect((await send('GET', '/health/live')).text).toBe('ok');
    expect(drained).toBe(false);

    release();
    expect((await first).json.text).toBe('late');
    await drain;
  });
});
