import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from '../../test/fakes/certificate.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { type Clock, SECOND, systemClock } from '../clock.ts';
import type { OutboundPolicy } from './address-policy.ts';
import {
  createOutboundClient,
  type OutboundClient,
  type OutboundRequest,
  type OutboundTrace,
} from './client.ts';
import type { Resolve } from './judge-target.ts';

const LOOPBACK_ALLOWED: OutboundPolicy = { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] };

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function serve(handler: Handler): Promise<{ port: number; server: Server; sockets: () => number }> {
  const server = createServer(handler);
  let sockets = 0;
  server.on('connection', () => sockets++);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, sockets: () => sockets };
}

function client(options: { policy?: OutboundPolicy; resolve?: Resolve; clock?: Clock } = {}): OutboundClient {
  const made = createOutboundClient({
    clock: options.clock ?? systemClock,
    policy: options.policy ?? LOOPBACK_ALLOWED,
    ...(options.resolve ? { resolve: options.resolve } : {}),
  });
  cleanups.push(() => made.close());
  return made;
}

function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    owner: 'destination/DS1',
    class: 'delivery',
    method: 'GET',
    url: new URL(url),
    headers: [],
    body: null,
    timeout: 10 * SECOND,
    answerLimit: 1024,
    ...more,
  };
}

/** A promise that a handler can resolve. */
function signal(): { readonly fired: Promise<void>; fire(): void } {
  let fire = (): void => undefined;
  const fired = new Promise<void>((resolve) => {
    fire = resolve;
  });
  return { fired, fire: () => fire() };
}

describe('the wire', () => {
  test('sends headers and body as given, with the name as Host', async () => {
    const seen: string[] = [];
    const { port } = await serve((request, response) => {
      request.setEncoding('utf8');
      request.on('data', (text: string) => seen.push(text));
      request.on('end', () => {
        seen.push(`${request.method} ${request.url} ${request.headers.host} ${request.headers['x-one']}`);
        response.end('fine');
      });
    });
    const resolve: Resolve = async () => ['127.0.0.1'];
    const result = await client({ resolve }).request(
      get(`http://relay.example:${port}/in?x=1`, {
        method: 'POST',
        headers: [['X-One', 'a']],
        body: Buffer.from('{"a":1}'),
      }),
    );
    expect(result).toMatchObject({ kind: 'answer', status: 200, tooLarge: false });
    expect(seen).toEqual(['{"a":1}', `POST /in?x=1 relay.example:${port} a`]);
  });

  test('never follows a redirect', async () => {
    const { port, sockets } = await serve((_request, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const result = await client().request(get(`http://127.0.0.1:${port}/`));
    expect(result).toMatchObject({ status: 302, headers: { location: '/elsewhere' } });
    expect(sockets()).toBe(1);
  });

  test('never decodes an answer', async () => {
    const packed = gzipSync('hello');
    const { port } = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const result = await client().request(get(`http://127.0.0.1:${port}/`));
    expect(result.kind === 'answer' && result.body.equals(packed)).toBe(true);
  });

  test('stops reading at the answer limit', async () => {
    const { port } = await serve((_request, response) => {
      response.end('x'.repeat(5000));
    });
    const result = await client().request(get(`http://127.0.0.1:${port}/`));
    expect(result).toMatchObject({ kind: 'answer', status: 200, tooLarge: true });
    expect(result.kind === 'answer' && result.body.length).toBe(1024);
  });

  test('ignores proxy variables of the environment', async () => {
    process.env.HTTP_PROXY = 'http://127.0.0.1:1';
    cleanups.push(() => delete process.env.HTTP_PROXY);
    const { port } = await serve((_request, response) => response.end('direct'));
    expect(await client().request(get(`http://127.0.0.1:${port}/`))).toMatchObject({ status: 200 });
  });
});

describe('connections', () => {
  test('are kept and belong to one owner', async () => {
    const { port, sockets } = await serve((_request, response) => response.end());
    const outbound = client();
    const url = `http://127.0.0.1:${port}/`;
    await outbound.request(get(url));
    await outbound.request(get(url));
    expect(sockets()).toBe(1);
    await outbound.request(get(url, { owner: 'destination/DS2' }));
    expect(sockets()).toBe(2);
  });

  test('are opened anew after the policy changed', async () => {
    const { port, sockets } = await serve((_request, response) => response.end());
    const outbound = client();
    const url = `http://127.0.0.1:${port}/`;
    await outbound.request(get(url));
    outbound.setPolicy({ ...LOOPBACK_ALLOWED });
    await outbound.request(get(url));
    expect(sockets()).toBe(2);
    outbound.setPolicy({ policy: 'standard', allowed: [], denied: [] });
    expect(await outbound.request(get(url))).toMatchObject({
      kind: 'blocked',
      refusal: { rule: 'loopback' },
    });
  });

  test('a kept socket that died is replaced once for GET, and is a lost connection for POST', async () => {
    const used = new WeakSet<object>();
    const { port, sockets } = await serve((request, response) => {
      if (used.has(request.socket)) return void request.socket.destroy();
      used.add(request.socket);
      response.end();
    });
    const outbound = client();
    const url = `http://127.0.0.1:${port}/`;
    await outbound.request(get(url));
    expect(await outbound.request(get(url))).toMatchObject({ status: 200 });
    expect(sockets()).toBe(2);
    expect(await outbound.request(get(url, { method: 'POST' }))).toMatchObject({
      kind: 'failed',
      code: 'connection_lost',
    });
  });
});

test('a kept socket that dies in the middle of an answer is not tried again', async () => {
  const used = new WeakSet<object>();
  const { port, sockets } = await serve((request, response) => {
    if (used.has(request.socket)) {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => request.socket.destroy());
      return;
    }
    used.add(request.socket);
    response.end();
  });
  const outbound = client();
  const url = `http://127.0.0.1:${port}/`;
  await outbound.request(get(url));
  expect(await outbound.request(get(url))).toMatchObject({ kind: 'failed', code: 'connection_lost' });
  expect(sockets()).toBe(1);
});

test('other credentials open other connections', async () => {
  const { port, sockets } = await serve((_request, response) => response.end());
  const outbound = client();
  const url = `http://127.0.0.1:${port}/`;
  for (const credentials of ['1.1', '1.1', '1.2']) await outbound.request(get(url, { credentials }));
  expect(sockets()).toBe(2);
});

test('a request is called off by its signal', async () => {
  const arrived = signal();
  const { port } = await serve(() => arrived.fire());
  const controller = new AbortController();
  const pending = client().request(get(`http://127.0.0.1:${port}/`, { signal: controller.signal }));
  await arrived.fired;
  controller.abort();
  expect(await pending).toMatchObject({ code: 'cancelled' });
});

test('an observer is told headers of the answer as they came, and the time that it took', async () => {
  const { port } = await serve((_request, response) => {
    response.writeHead(
      503,
      [
        ['Retry-After', '30'],
        ['X-Two', 'a'],
        ['X-Two', 'b'],
      ].flat(),
    );
    response.end();
  });
  const traces: OutboundTrace[] = [];
  await client().request(get(`http://127.0.0.1:${port}/`, { observe: (trace) => void traces.push(trace) }));
  expect(traces).toHaveLength(1);
  expect(traces[0]).toMatchObject({ via: 'direct', isUnverified: false });
  expect(traces[0]?.answerHeaders?.slice(0, 3)).toEqual([
    ['Retry-After', '30'],
    ['X-Two', 'a'],
    ['X-Two', 'b'],
  ]);
  expect(traces[0]?.ended).toBeGreaterThanOrEqual(traces[0]?.began ?? Number.NaN);
});

describe('the address policy on the socket', () => {
  test('a name is resolved once a connection, and a later DNS answer changes nothing', async () => {
    const { port, sockets } = await serve((_request, response) => response.end());
    let asked = 0;
    const resolve: Resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']);
    const outbound = client({ resolve });
    const url = `http://rebind.example:${port}/`;
    expect(await outbound.request(get(url))).toMatchObject({ status: 200 });
    expect(await outbound.request(get(url))).toMatchObject({ status: 200 });
    expect([asked, sockets()]).toEqual([1, 1]);
  });

  test('of a mixed answer only passing addresses are tried', async () => {
    const { port } = await serve((_request, response) => response.end());
    const resolve: Resolve = async () => ['169.254.169.254', '127.0.0.1'];
    const result = await client({ resolve }).request(get(`http://mixed.example:${port}/`));
    expect(result).toMatchObject({ status: 200 });
  });

  test('with no passing address the first refusal is the answer', async () => {
    const resolve: Resolve = async () => ['169.254.169.254', '224.0.0.1'];
    const result = await client({ resolve }).request(get('http://mixed.example/'));
    expect(result).toMatchObject({
      kind: 'blocked',
      refusal: { error: 'refused by the outbound policy: 169.254.169.254 link_local (always)' },
    });
  });

  test('a denied name is not even resolved', async () => {
    let asked = 0;
    const resolve: Resolve = async () => {
      asked++;
      return ['127.0.0.1'];
    };
    const policy: OutboundPolicy = { ...LOOPBACK_ALLOWED, denied: ['*.test.example'] };
    const result = await client({ policy, resolve }).request(get('http://a.test.example/'));
    expect([result.kind, asked]).toEqual(['blocked', 0]);
  });
});

describe('TLS', () => {
  async function serveTls(options: SecureContextOptions = {}): Promise<number> {
    const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY, ...options }, (request, response) =>
      response.end(request.headers.host),
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  function trusting(extraRoots: readonly string[]): OutboundClient {
    const made = createOutboundClient({
      clock: systemClock,
      policy: LOOPBACK_ALLOWED,
      resolve: async () => ['127.0.0.1'],
      extraRoots,
    });
    cleanups.push(() => made.close());
    return made;
  }

  test.each([
    ['a name', 'relay.example'],
    ['an address', '127.0.0.1'],
  ])('works with a trusted certificate for %s', async (_name, host) => {
    const port = await serveTls();
    const result = await trusting([CERTIFICATE]).request(get(`https://${host}:${port}/`));
    expect(result).toMatchObject({ kind: 'answer', status: 200, body: Buffer.from(`${host}:${port}`) });
  });

  test.each<[string, string, readonly string[], SecureContextOptions]>([
    ['a certificate nobody vouches for', 'relay.example', [], {}],
    ['a certificate of another name', 'other.example', [CERTIFICATE], {}],
    ['TLS 1.1', 'relay.example', [CERTIFICATE], { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }],
  ])('refuses %s', async (_name, host, roots, options) => {
    const port = await serveTls(options);
    const result = await trusting(roots).request(get(`https://${host}:${port}/`));
    expect(result).toMatchObject({ kind: 'failed', code: 'tls_failed' });
  });
});

test('no variable turns the check of certificates off', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  cleanups.push(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (_request, response) =>
    response.end(),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  expect(await client().request(get(`https://127.0.0.1:${port}/`))).toMatchObject({ code: 'tls_failed' });
});

describe('failures', () => {
  test('a name that does not resolve', async () => {
    const resolve: Resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await client({ resolve }).request(get('http://nowhere.example/'))).toEqual({
      kind: 'failed',
      code: 'dns_failed',
      error: 'DNS: nowhere.example not found',
    });
  });

  test('a refused connection', async () => {
    const { port, server } = await serve(() => undefined);
    await new Promise((closed) => server.close(closed));
    expect(await client().request(get(`http://127.0.0.1:${port}/`))).toMatchObject({
      code: 'connect_refused',
      error: 'connection refused',
    });
  });

  test('no connection within 5 s', async () => {
    const clock = createManualClock();
    const asked = signal();
    const resolve: Resolve = () => {
      asked.fire();
      return new Promise(() => undefined);
    };
    const pending = client({ clock, resolve }).request(get('http://slow.example/'));
    await asked.fired;
    clock.advance(5 * SECOND);
    expect(await pending).toMatchObject({ code: 'connect_timeout' });
  });

  test('no whole answer within the timeout', async () => {
    const clock = createManualClock();
    const arrived = signal();
    const { port } = await serve((_request, response) => {
      response.write('begun');
      arrived.fire();
    });
    const pending = client({ clock }).request(get(`http://127.0.0.1:${port}/`));
    await arrived.fired;
    clock.advance(10 * SECOND);
    expect(await pending).toEqual({ kind: 'failed', code: 'timeout', error: 'no answer within 10 s' });
  });

  test('an answer that is not HTTP', async () => {
    const server = createTcpServer((socket) => {
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n\r\n'));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await client().request(get(`http://127.0.0.1:${port}/`))).toMatchObject({
      code: 'response_invalid',
    });
  });

  test('TLS against a server that speaks plain HTTP', async () => {
    const { port } = await serve((_request, response) => response.end());
    expect(await client().request(get(`https://127.0.0.1:${port}/`))).toMatchObject({ code: 'tls_failed' });
  });

  test('closing ends what is in flight', async () => {
    const arrived = signal();
    const { port } = await serve(() => arrived.fire());
    const outbound = client();
    const pending = outbound.request(get(`http://127.0.0.1:${port}/`));
    await arrived.fired;
    outbound.close();
    expect(await pending).toMatchObject({ code: 'cancelled' });
    expect(await outbound.request(get(`http://127.0.0.1:${port}/`))).toMatchObject({ code: 'cancelled' });
  });
});
