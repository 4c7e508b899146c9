import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { CERTIFICATE, PRIVATE_KEY } from '../../test/fakes/certificate.ts';
import {
  type Credentials,
  type ProxyFake,
  type ProxyFakeOptions,
  startProxy,
} from '../../test/fakes/proxies.ts';
import { SECOND, systemClock } from '../clock.ts';
import type { OutboundPolicy } from './address-policy.ts';
import { createOutboundClient, type OutboundRequest, type OutboundTrace } from './client.ts';
import type { Resolve } from './judge-target.ts';
import { type ProxyRoute, type ProxyType, parseProxyAddress } from './proxy.ts';

const OPEN: OutboundPolicy = { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] };
const LOGIN: Credentials = { username: 'svc', password: 'hunter2 pässword' };
const TYPES: readonly ProxyType[] = ['http', 'https', 'socks5'];

/** What the outside is here: a name that we can resolve to a public address which only the proxy reaches. */
const resolve: Resolve = async (host) => {
  if (host === 'relay.example') return ['203.0.113.7', '2001:db8:7::7'];
  if (host === 'proxy.example') return ['127.0.0.1'];
  throw new Error('ENOTFOUND');
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function target(scheme: 'http' | 'https'): Promise<number> {
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    request
      .resume()
      .on('end', () => response.end(`${request.method} ${request.url} ${request.headers.host}`));
  };
  const server: Server =
    scheme === 'http'
      ? createServer(answer)
      : createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function proxyFake(type: ProxyType, options?: ProxyFakeOptions): Promise<ProxyFake> {
  const fake = await startProxy(type, options);
  cleanups.push(fake.close);
  return fake;
}

function client(policy: OutboundPolicy = OPEN, how: Resolve = resolve) {
  const made = createOutboundClient({ clock: systemClock, policy, resolve: how, extraRoots: [CERTIFICATE] });
  cleanups.push(() => made.close());
  return made;
}

function through(
  proxy: Pick<ProxyRoute, 'type' | 'port'> & Partial<ProxyRoute>,
  url: string,
  more: Partial<OutboundRequest> = {},
): OutboundRequest {
  // The certificate of the fakes names 127.0.0.1.
  const route: ProxyRoute = { host: '127.0.0.1', username: null, password: null, ...proxy };
  return {
    owner: 'destination/DS1',
    class: 'delivery',
    proxy: route,
    method: 'POST',
    url: new URL(url),
    headers: [],
    body: Buffer.from('body'),
    timeout: 10 * SECOND,
    answerLimit: 1024,
    ...more,
  };
}

describe.each(TYPES)('through a proxy of type %s', (type) => {
  test.each([
    ['http', null],
    ['https', null],
    ['http', LOGIN],
    ['https', LOGIN],
  ] as const)('a request to an %s target arrives, with login %j', async (scheme, credentials) => {
    const port = await target(scheme);
    const fake = await proxyFake(type, credentials ? { credentials } : {});
    const outbound = client();
    let trace: OutboundTrace | null = null;
    const request = through(
      { type, port: fake.port, ...credentials },
      `${scheme}://relay.example:${port}/in?x=1`,
      {
        observe(seen) {
          trace = seen;
        },
      },
    );
    for (const _ of [1, 2]) {
      expect(await outbound.request(request)).toMatchObject({
        status: 200,
        body: Buffer.from(`POST /in?x=1 relay.example:${port}`),
      });
    }
    expect(trace).toMatchObject({ via: 'proxy', isUnverified: false });
    expect(fake.faults).toEqual([]);
    const absolute = `POST http://relay.example:${port}/in?x=1`;
    const expected =
      type === 'socks5' ? `SOCKS domain relay.example:${port}` : `CONNECT relay.example:${port}`;
    const isAbsolute = type !== 'socks5' && scheme === 'http';
    expect(fake.asked).toEqual(isAbsolute ? [absolute, absolute] : [expected]);
    expect(fake.connections()).toBe(1);
  });

  test.each(['http', 'https'] as const)('a refused login is told apart, target %s', async (scheme) => {
    const fake = await proxyFake(type, { credentials: LOGIN });
    const url = `${scheme}://relay.example:${await target(scheme)}/`;
    for (const credentials of [{}, { username: 'svc', password: 'wrong' }]) {
      expect(await client().request(through({ type, port: fake.port, ...credentials }, url))).toMatchObject({
        kind: 'failed',
        code: 'proxy_auth_failed',
        error: expect.stringContaining('the proxy refused the login'),
      });
    }
  });

  test('a target that it does not connect to is its failure', async () => {
    const fake = await proxyFake(type, { refuseWith: type === 'socks5' ? 2 : 403 });
    const url = 'https://relay.example/';
    expect(await client().request(through({ type, port: fake.port }, url))).toMatchObject({
      kind: 'failed',
      code: 'proxy_failed',
    });
  });

  test('one that hangs up is its failure', async () => {
    const server = createTcpServer((socket) =>
      socket.on('error', () => undefined).once('data', () => socket.end()),
    );
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await client().request(through({ type, port }, 'https://relay.example/'))).toMatchObject({
      kind: 'failed',
      code: 'proxy_failed',
    });
  });

  test('one that cannot be reached is its failure', async () => {
    const fake = await proxyFake(type);
    await fake.close();
    expect(
      await client().request(through({ type, port: fake.port }, 'https://relay.example/')),
    ).toMatchObject({
      kind: 'failed',
      code: 'proxy_failed',
      error: 'the proxy: connection refused',
    });
  });

  test('a name that only the proxy resolves goes out unverified under the standard policy', async () => {
    const port = await target('http');
    const fake = await proxyFake(type);
    let trace: OutboundTrace | null = null;
    const url = `http://inside.elsewhere.example:${port}/`;
    const observe = (seen: OutboundTrace) => {
      trace = seen;
    };
    expect(await client().request(through({ type, port: fake.port }, url, { observe }))).toMatchObject({
      status: 200,
    });
    expect(trace).toMatchObject({ isUnverified: true });
  });

  test.each<[string, Partial<OutboundPolicy>, string, string]>([
    ['a denied name', { denied: ['*.example'] }, 'relay.example', 'host relay.example denied by *.example'],
    ['an always-blocked address', {}, '169.254.169.254', '169.254.169.254 link_local (always)'],
    ['loopback', { allowed: ['127.0.0.9'] }, '127.0.0.1', '127.0.0.1 loopback'],
    ['one bad address among good ones', {}, 'mixed.example', '169.254.169.254 link_local (always)'],
    ['localhost, unresolved', {}, 'localhost', 'host localhost loopback'],
    ['a name below localhost, unresolved', {}, 'x.LOCALHOST.', 'host x.localhost loopback'],
    [
      'a metadata name, unresolved',
      {},
      'metadata.google.internal',
      'host metadata.google.internal cloud_metadata (always)',
    ],
    ['another metadata name, unresolved', {}, 'instance-data', 'host instance-data cloud_metadata (always)'],
    [
      'a name that is not allowed, unresolved and strict',
      { policy: 'strict' },
      'away.example',
      'host away.example name_not_allowed',
    ],
  ])('%s never reaches it', async (_name, policy, host, error) => {
    const how: Resolve = async (name) =>
      name === 'mixed.example' ? ['203.0.113.7', '169.254.169.254'] : resolve(name);
    // Loopback stays closed but for the one address at which the proxy stands.
    const made = client({ ...OPEN, allowed: ['127.0.0.9'], ...policy }, how);
    const proxy = await proxyThatNobodyCalls();
    for (const scheme of ['http', 'https']) {
      const request = through({ type, ...proxy.place }, `${scheme}://${host}/`);
      expect(await made.request(request)).toMatchObject({
        kind: 'blocked',
        refusal: { error: `refused by the outbound policy: ${error}` },
      });
    }
    expect(proxy.calls()).toBe(0);
  });

  test('strict lets an allowed name through that only the proxy resolves', async () => {
    const port = await target('http');
    const fake = await proxyFake(type);
    const strict: OutboundPolicy = {
      policy: 'strict',
      allowed: ['127.0.0.0/8', '*.elsewhere.example'],
      denied: [],
    };
    const url = `http://inside.elsewhere.example:${port}/`;
    expect(await client(strict).request(through({ type, port: fake.port }, url))).toMatchObject({
      status: 200,
    });
  });

  test.each<[string, Partial<OutboundPolicy>, string, string]>([
    ['on loopback without an allowed network', { allowed: [] }, '127.0.0.1', 'proxy 127.0.0.1 loopback'],
    ['at a metadata address', {}, '100.100.100.200', 'proxy 100.100.100.200 cloud_metadata (always)'],
    [
      'with a denied name',
      { denied: ['proxy.example'] },
      'proxy.example',
      'proxy proxy.example denied by proxy.example',
    ],
    ['that resolves to loopback', { allowed: [] }, 'proxy.example', 'proxy 127.0.0.1 loopback'],
  ])('a proxy %s is refused', async (_name, policy, host, error) => {
    const fake = await proxyFake(type);
    const request = through({ type, host, port: fake.port }, 'http://relay.example/');
    expect(await client({ ...OPEN, ...policy }).request(request)).toMatchObject({
      kind: 'blocked',
      refusal: { error: `refused by the outbound policy: ${error}` },
    });
    expect(fake.connections()).toBe(0);
  });

  test('another password never travels over a connection of the one before', async () => {
    const port = await target('http');
    const fake = await proxyFake(type, { credentials: LOGIN });
    const outbound = client();
    const url = `http://relay.example:${port}/`;
    await outbound.request(through({ type, port: fake.port, ...LOGIN }, url));
    const other = { ...LOGIN, password: 'other' };
    expect(await outbound.request(through({ type, port: fake.port, ...other }, url))).toMatchObject({
      code: 'proxy_auth_failed',
    });
    expect(fake.connections()).toBe(2);
  });
});

async function proxyThatNobodyCalls() {
  let calls = 0;
  const host = '127.0.0.9';
  const server = createTcpServer((socket) => {
    calls++;
    socket.destroy();
  });
  await new Promise<void>((ready) => server.listen(0, host, ready));
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { place: { host, port }, calls: () => calls };
}

test('the certificate of the target is checked behind a proxy', async () => {
  const port = await target('https');
  const fake = await proxyFake('http');
  const how: Resolve = async () => ['203.0.113.7'];
  const request = through({ type: 'http', port: fake.port }, `https://other.example:${port}/`);
  expect(await client(OPEN, how).request(request)).toMatchObject({ code: 'tls_failed' });
});

test('the certificate of an https proxy is checked', async () => {
  const fake = await proxyFake('https');
  const request = through(
    { type: 'https', host: 'proxy.example', port: fake.port },
    'https://relay.example/',
  );
  expect(await client().request(request)).toMatchObject({
    code: 'proxy_failed',
    error: expect.stringContaining('TLS'),
  });
});

describe('the address of a proxy', () => {
  test.each([
    ['proxy.example:3128', { host: 'proxy.example', port: 3128 }],
    ['10.1.2.3:80', { host: '10.1.2.3', port: 80 }],
    ['[fd00::1]:1080', { host: 'fd00::1', port: 1080 }],
    ['PROXY.example.:1', { host: 'proxy.example', port: 1 }],
    ['2130706433:3128', { host: '127.0.0.1', port: 3128 }],
    ['0x7f.1:3128', { host: '127.0.0.1', port: 3128 }],
  ])('%s is read', (text, place) => {
    expect(parseProxyAddress(text)).toEqual(place);
  });

  test.each([
    'proxy.example',
    'proxy.example:',
    'proxy.example:0',
    'proxy.example:65536',
    'http://proxy.example:3128',
    'user@proxy.example:3128',
    'proxy.example:3128/',
    'proxy.example:3128?x',
    '::1:3128',
    '[::1%25eth0]:3128',
    '[::1]',
    'a b:1',
    ':3128',
    'proxy\\.example:1',
    `${'a.'.repeat(127)}aa:1`,
  ])('%s is none', (text) => {
    expect(parseProxyAddress(text)).toBeNull();
  });
});
