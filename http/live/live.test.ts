import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Hint, HintBus } from '../../actors/effects.ts';
import { HOUR, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { type SignedIn, startHttp, type TestHttp } from '../../test/http-server.ts';
import { createLiveUpdates, type LiveDeps } from './live.ts';

const PATH = '/api/v1/live-updates';
const GROUP: Hint = { type: 'alert-group', id: 'AGK7M3QX9P2RTA' };

interface OpenStream {
  readonly response: IncomingMessage;
  /** Resolves with everything received once it holds `text`. */
  until(text: string): Promise<string>;
  readonly closed: Promise<void>;
}

async function open({ addresses }: TestHttp, as: SignedIn): Promise<OpenStream> {
  const { host, port } = addresses.app;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = get({ host, port, path: PATH, headers: { cookie: as.cookie }, agent: false }, resolve);
    request.on('error', reject);
  });
  let text = '';
  let heard = () => {};
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    heard();
  });
  const closed = new Promise<void>((resolve) => response.on('close', resolve));
  onTestFinished(() => void response.destroy());
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) {
      await new Promise<void>((resolve, reject) => {
        heard = resolve;
        void closed.then(() => reject(new Error(`closed before ${wanted}: ${text}`)));
      });
    }
    return text;
  };
  return { response, until, closed };
}

/** Moves time on in steps of 5 s and lets each session check end. */
async function pass(clock: TestHttp['clock'], seconds: number): Promise<void> {
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  await settled();
  for (let elapsed = 0; elapsed < seconds; elapsed += 5) {
    clock.advance(5 * SECOND);
    await settled();
  }
}

describe('the stream', () => {
  test('begins with the time to reconnect and numbers its hints', async () => {
    const server = await startHttp();
    const stream = await open(server, await server.signIn('viewer'));
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    expect(await stream.until('\n\n')).toBe('retry: 3000\n\n');
    server.hints.send(GROUP);
    server.clock.advance(SECOND);
    server.hints.send({ type: 'organization', id: null });
    server.clock.advance(SECOND);
    expect(await stream.until('organization')).toBe(
      'retry: 3000\n\n' +
        'id: 1\nevent: hint\ndata: {"type":"alert-group","id":"AGK7M3QX9P2RTA"}\n\n' +
        'id: 2\nevent: hint\ndata: {"type":"organization","id":null}\n\n',
    );
  });

  test('merges equal hints that come together', async () => {
    const server = await startHttp();
    const stream = await open(server, await server.signIn('viewer'));
    for (let sent = 0; sent < 100; sent++) server.hints.send(GROUP);
    server.hints.send({ type: 'organization', id: null });
    server.clock.advance(SECOND);
    expect((await stream.until('organization')).match(/alert-group/g)).toHaveLength(1);
  });

  test('carries only what its reader may see', async () => {
    const server = await startHttp();
    const viewer = await server.signIn('viewer');
    const admin = await server.signIn('admin');
    const streams = [await open(server, viewer), await open(server, admin)] as const;
    server.hints.send({ type: 'system-status', id: null });
    server.hints.send({ type: 'account-links', id: viewer.userId });
    server.hints.send({ type: 'organization', id: null });
    server.clock.advance(SECOND);
    const texts = await Promise.all(streams.map((stream) => stream.until('organization')));
    expect(texts.map((text) => text.includes('system-status'))).toEqual([false, true]);
    expect(texts.map((text) => text.includes('{"type":"account-links","id":null}'))).toEqual([true, false]);
  });

  test('sends a comment line every 10 s', async () => {
    const server = await startHttp();
    const stream = await open(server, await server.signIn('viewer'));
    await pass(server.clock, 20);
    server.hints.send(GROUP);
    server.clock.advance(SECOND);
    expect((await stream.until('hint')).split('id: 1')[0]).toBe(
      'retry: 3000\n\n: keepalive\n\n: keepalive\n\n',
    );
  });

  test('ends within 5 s of its session, and the way back is 401; others stay', async () => {
    const server = await startHttp();
    const [leaving, staying] = [await server.signIn('viewer'), await server.signIn('admin')];
    const [gone, kept] = [await open(server, leaving), await open(server, staying)];
    await server.send('DELETE', '/api/v1/sessions/current', { as: leaving });
    await pass(server.clock, 5);
    await gone.closed;
    expect((await server.send('GET', PATH, { as: leaving })).status).toBe(401);
    server.hints.send(GROUP);
    server.clock.advance(SECOND);
    await kept.until('alert-group');
  });

  test('is no use of the session: an idle one ends under it', async () => {
    const server = await startHttp();
    const stream = await open(server, await server.signIn('viewer'));
    server.clock.advance(12 * HOUR);
    await pass(server.clock, 5);
    await stream.closed;
  });

  test('is for sessions only and does not answer HEAD', async () => {
    const server = await startHttp();
    const viewer = await server.signIn('viewer');
    expect((await server.send('GET', PATH)).status).toBe(401);
    expect((await server.send('HEAD', PATH, { as: viewer })).status).toBe(404);
  });

  test('opens ten times a session, the eleventh is 429; a closed one makes room', async () => {
    const server = await startHttp();
    const viewer = await server.signIn('viewer');
    const streams = await Promise.all(Array.from({ length: 10 }, () => open(server, viewer)));
    const refused = await server.send('GET', PATH, { as: viewer });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    expect(await server.registry.metrics()).toContain('svc_live_streams 10');
    streams[0]?.response.destroy();
    await expect.poll(() => server.registry.metrics()).toContain('svc_live_streams 9');
    await open(server, viewer);
  });

  test('closes when the service stops', async () => {
    const server = await startHttp();
    const stream = await open(server, await server.signIn('viewer'));
    await server.http.drain();
    await stream.closed;
  });

  test('cuts off a reader that does not read', async () => {
    const server = await startHttp();
    const viewer = await server.signIn('viewer');
    const socket = await deafReader(server, viewer);
    // More than the buffers of both ends of a socket take, then a few more.
    for (let round = 0; round < 200; round++) {
      for (let number = 0; number < 1_000; number++) {
        server.hints.send({
          type: 'alert-group',
          id: `AG${String(round * 1_000 + number).padStart(60, '0')}`,
        });
      }
      server.clock.advance(SECOND);
    }
    await expect.poll(() => server.registry.metrics()).toContain('svc_live_streams 0');
    socket.destroy();
  });
});

async function deafReader({ addresses, registry }: TestHttp, as: SignedIn): Promise<Socket> {
  const { host, port } = addresses.app;
  const socket = connect({ host, port });
  socket.pause();
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: test\r\nCookie: ${as.cookie}\r\n\r\n`);
  await expect.poll(() => registry.metrics()).toContain('svc_live_streams 1');
  return socket;
}

/** Live updates without HTTP: one open stream, and what was written to it. */
function openWritten(deps: Pick<LiveDeps, 'hints' | 'live'>) {
  const clock = createManualClock();
  const written: string[] = [];
  const updates = createLiveUpdates({ ...deps, clock, opened: () => undefined, log: () => undefined });
  const sessionId = 'SN0000000000AA' as PublicId;
  const userId = 'SR0000000000AA' as PublicId;
  updates.open(
    { sessionId, userId, permissions: new Set(['routes:read']) },
    {
      write: (text) => written.push(text) > 0,
      onDrained: () => undefined,
      onClosed: () => undefined,
      close: () => undefined,
    },
  );
  return { clock, written };
}

test('without its database the service sends no comment lines, and goes on with them afterwards', async () => {
  let isAway = true;
  const { clock, written } = openWritten({
    hints: { send: () => undefined, listen: () => () => undefined },
    live: async (ids) => {
      if (isAway) throw new Error('the database is away');
      return new Set(ids);
    },
  });
  await pass(clock, 60);
  expect(written).toEqual(['retry: 3000\n\n']);
  isAway = false;
  await pass(clock, 10);
  expect(written).toContain(': keepalive\n\n');
});

test('after hints may have been lost, each type comes once with id null', () => {
  const lost: (() => void)[] = [];
  const hints: HintBus = {
    send: () => undefined,
    listen(listener) {
      lost.push(() => listener(null));
      return () => undefined;
    },
  };
  const { clock, written } = openWritten({ hints, live: async (ids) => new Set(ids) });
  for (const lose of [...lost, ...lost]) lose();
  clock.advance(SECOND);
  expect([...written.join('').matchAll(/"type":"([a-z-]+)","id":null/g)].map((match) => match[1])).toEqual([
    'route',
    'organization',
    'system-notices',
    'account-links',
  ]);
});

test('a hint is written once for all streams', () => {
  const clock = createManualClock();
  let hear: (hint: Hint | null) => void = () => undefined;
  const live = createLiveUpdates({
    hints: {
      listen(listener) {
        hear = listener;
        return () => undefined;
      },
    } as HintBus,
    clock,
    live: async () => new Set<PublicId>(),
    opened: () => undefined,
    log: () => undefined,
  });
  const written: string[] = [];
  for (const name of ['1', '2', '3']) {
    live.open(
      {
        sessionId: `S${name}` as PublicId,
        userId: `U${name}` as PublicId,
        permissions: new Set(['alert-groups:read']),
      },
      {
        write: (text) => written.push(text) > 0,
        onDrained: () => undefined,
        onClosed: () => undefined,
        close: () => undefined,
      },
    );
  }
  const stringify = vi.spyOn(JSON, 'stringify');
  onTestFinished(() => stringify.mockRestore());
  hear(GROUP);
  clock.advance(SECOND / 10);
  expect(stringify).toHaveBeenCalledTimes(1);
  const event = `id: 1\nevent: hint\ndata: {"type":"alert-group","id":"${GROUP.id}"}\n\n`;
  expect(written.slice(3)).toEqual([event, event, event]);
});
