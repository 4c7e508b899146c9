/** Ways to make the service call what it must not: each ends with the rule that refuses it, and nothing is connected. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SECOND, systemClock } from '../clock.ts';
import { DEFAULT_OUTBOUND_POLICY, type OutboundPolicy } from './address-policy.ts';
import { createOutboundClient, type OutboundClient, type OutboundResult } from './client.ts';
import type { Resolve } from './judge-target.ts';
import type { ProxyRoute } from './proxy.ts';

const cleanups: (() => void)[] = [];

/** Every address that this process tried to connect to, by whatever way. */
let attempts: string[] = [];
const onSocket = (message: unknown): void => {
  const { socket } = message as { readonly socket: Socket };
  socket.on('connectionAttempt', (address: string) => attempts.push(address));
};

beforeEach(() => {
  attempts = [];
  subscribe('net.client.socket', onSocket);
});

afterEach(() => {
  unsubscribe('net.client.socket', onSocket);
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Resolving is a fault where a host is an address however it is spelled. */
const NEVER: Resolve = (host) => Promise.reject(new Error(`${host} was resolved`));

function newClient({ policy = DEFAULT_OUTBOUND_POLICY, resolve }: Partial<Surroundings>): OutboundClient {
  const client = createOutboundClient({
    ...{ clock: systemClock, policy },
    ...(resolve && { resolve }),
  });
  cleanups.push(() => client.close());
  return client;
}

function get(client: OutboundClient, url: string, proxy: ProxyRoute | null = null): Promise<OutboundResult> {
  return client.request({
    owner: 'destination/DS1',
    class: 'delivery',
    proxy,
    method: 'GET',
    url: new URL(url),
    headers: [],
    body: null,
    timeout: 10 * SECOND,
    answerLimit: 1024,
  });
}

function attempt(url: string, { proxy = null, resolve = NEVER, ...others }: Partial<Surroundings> = {}) {
  return get(newClient({ ...others, resolve }), url, proxy);
}

const proxyAt = (host: string, type: ProxyRoute['type'] = 'http'): ProxyRoute => ({
  ...{ type, host, port: 3128, username: null, password: null },
});

interface Surroundings {
  readonly policy: OutboundPolicy;
  readonly resolve: Resolve;
  readonly proxy: ProxyRoute | null;
}

const LOOPBACK = 'loopback';
const METADATA = 'link_local (always)';
const NOWHERE = 'unspecified (always)';

describe('spellings of addresses', () => {
  test.each([
    ['decimal', 'http://2130706433/', LOOPBACK],
    ['decimal', 'http://2852039166/', METADATA],
    ['octal', 'http://0177.0.0.1/', LOOPBACK],
    ['octal in one part', 'http://017700000001/', LOOPBACK],
    ['octal with many zeros', 'http://00000177.0.0.01/', LOOPBACK],
    ['octal', 'http://0251.0376.0251.0376/', METADATA],
    ['hexadecimal', 'http://0x7f000001/', LOOPBACK],
    ['hexadecimal in capitals', 'HTTP://0X7F000001/', LOOPBACK],
    ['hexadecimal parts', 'http://0xa9.0xfe.0xa9.0xfe/', METADATA],
    ['mixed parts', 'http://0x7f.1/', LOOPBACK],
    ['short', 'http://127.1/', LOOPBACK],
    ['short, three parts', 'http://169.254.43518/', METADATA],
    ['the last of its network', 'http://127.255.255.255/', LOOPBACK],
    ['zero', 'http://0/', NOWHERE],
    ['full-width digits', 'http://\uff11\uff12\uff17.0.0.1/', LOOPBACK],
    ['circled digits', 'http://\u2460\u2461\u2466.0.0.1/', LOOPBACK],
    ['full-width letters of hexadecimal', 'http://\uff10\uff58\uff17\uff46.1/', LOOPBACK],
    ['ideographic full stops', 'http://127\u30020\u30020\u30021/', LOOPBACK],
    ['percent-encoded', 'http://%31%32%37.0.0.1/', LOOPBACK],
    ['a trailing dot', 'http://127.0.0.1./', LOOPBACK],
    ['a trailing dot', 'http://169.254.169.254./latest/meta-data/', METADATA],
    ['IPv6 loopback', 'http://[::1]/', LOOPBACK],
    ['IPv6 in full', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', LOOPBACK],
    ['mapped', 'http://[::ffff:127.0.0.1]/', LOOPBACK],
    ['mapped in hexadecimal', 'http://[::ffff:a9fe:a9fe]/', METADATA],
    ['mapped in capitals', 'http://[::FFFF:7F00:1]/', LOOPBACK],
    ['mapped in full', 'http://[0:0:0:0:0:FFFF:169.254.169.254]/', METADATA],
    ['translated', 'http://[::ffff:0:127.0.0.1]/', LOOPBACK],
    ['translated', 'http://[::ffff:0:a9fe:a9fe]/', METADATA],
    ['NAT64', 'http://[64:ff9b::169.254.169.254]/', METADATA],
    ['NAT64 of a network\u2019s own', 'http://[64:ff9b:1::7f00:1]/', LOOPBACK],
    ['6to4', 'http://[2002:7f00:1::1]/', LOOPBACK],
    ['6to4', 'http://[2002:a9fe:a9fe::1]/', METADATA],
    ['Teredo', 'http://[2001:0:0:0:0:0:80ff:fffe]/', LOOPBACK],
    ['Teredo', 'http://[2001:0:1::5601:5601]/', METADATA],
    ['compatible', 'http://[::127.0.0.1]/', LOOPBACK],
    ['link-local IPv6', 'http://[fe80::1]/', METADATA],
    ['unspecified IPv6', 'http://[::]/', NOWHERE],
    ['a user that looks like a host', 'http://public.example@127.0.0.1/', LOOPBACK],
    ['a user and a password', 'http://public.example:80@169.254.169.254/', METADATA],
    ['a backslash before the user', 'http://127.0.0.1\\@public.example/', LOOPBACK],
    ['a fragment before the user', 'http://127.0.0.1#@public.example/', LOOPBACK],
    ['tabs and line breaks', 'http://127\t.0.\n0.1/', LOOPBACK],
    ['a name that is metadata\u2019s address', 'http://100.100.100.200/', 'cloud_metadata (always)'],
    ['multicast', 'http://224.0.0.251/', 'multicast (always)'],
  ])('%s: %s, directly and through proxies', async (_name, url, rule) => {
    const policy = { ...DEFAULT_OUTBOUND_POLICY, allowed: ['127.0.0.9'] };
    const ways = [null, proxyAt('127.0.0.9'), proxyAt('127.0.0.9', 'https'), proxyAt('127.0.0.9', 'socks5')];
    for (const proxy of ways)
      expect(await attempt(url, { policy, proxy })).toMatchObject({ kind: 'blocked', refusal: { rule } });
    expect(attempts).toEqual([]);
  });

  test.each([
    'http://[fe80::1%25eth0]/',
    'http://[::1%eth0]/',
    'http://127.0.0.1.5/',
    'http://256.256.256.256/',
  ])('%s is no URL at all', (url) => {
    expect(URL.canParse(url)).toBe(false);
  });
});

describe('names', () => {
  const answering =
    (...addresses: string[]): Resolve =>
    async () =>
      addresses;

  test.each<[string, string, readonly string[], string]>([
    ['that resolve to loopback', 'localtest.example', ['127.0.0.1'], LOOPBACK],
    ['that resolve to metadata', 'public.example', ['169.254.169.254'], METADATA],
    ['that resolve to a zone', 'public.example', ['fe80::1%eth0'], 'zone_id (always)'],
    ['with nothing but bad answers', 'public.example', ['::1', '169.254.169.254'], LOOPBACK],
    ['with a trailing dot', 'localhost.', ['::1', '127.0.0.1'], LOOPBACK],
    ['mapped by the resolver', 'public.example', ['::ffff:169.254.169.254'], METADATA],
    ['below localhost', 'tocsin.localhost', ['127.0.0.1'], LOOPBACK],
    ['below localhost, not of ASCII', 'b\u00fccher.localhost', ['::1'], LOOPBACK],
    ['in punycode', 'xn--bcher-kva.example', ['127.0.0.1', '::1', '0.0.0.0'], LOOPBACK],
  ])('%s', async (_name, host, addresses, rule) => {
    const result = await attempt(`http://${host}/`, { resolve: answering(...addresses) });
    expect(result).toMatchObject({ kind: 'blocked', refusal: { rule } });
    expect(attempts).toEqual([]);
  });

  test.each([
    'localhost',
    'LOCALHOST.',
    'loc%61lhost',
    '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
    '\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3',
    'local\u00adhost',
    'public.example@localhost',
  ])('%s is refused by what the resolver of the system says of it', async (host) => {
    const result = await get(newClient({}), `http://${host}/`);
    expect(result).toMatchObject({ kind: 'blocked', refusal: { rule: LOOPBACK } });
    expect(attempts).toEqual([]);
  });

  test.each([
    'Denied.Example',
    'denied.example.',
    'DENIED.EXAMPLE',
    'd%65nied.example',
    'deep.below.denied.example',
  ])('%s is denied before it is resolved', async (host) => {
    const policy: OutboundPolicy = {
      policy: 'standard',
      allowed: [],
      denied: ['denied.example', '*.denied.example'],
    };
    expect(await attempt(`http://${host}/`, { policy })).toMatchObject({ kind: 'blocked' });
  });

  test('one that answers differently the second time is judged by the answer that is connected to', async () => {
    let asked = 0;
    const resolve: Resolve = async () => (asked++ === 0 ? ['169.254.169.254'] : ['127.0.0.1']);
    expect(await attempt('http://rebind.example/', { resolve })).toMatchObject({
      kind: 'blocked',
      refusal: { rule: METADATA },
    });
    expect(asked).toBe(1);
  });
});

describe('proxies', () => {
  const resolve: Resolve = async (host) => {
    if (host === 'proxy.example') return ['127.0.0.1'];
    return ['203.0.113.7'];
  };

  test.each([
    ['on loopback', '127.0.0.1', 'loopback'],
    ['at a metadata address', '169.254.169.254', 'link_local (always)'],
    ['at a mapped metadata address', '::ffff:169.254.169.254', 'link_local (always)'],
    ['whose name is loopback', 'proxy.example', 'loopback'],
  ])('%s are refused as proxies', async (_name, host, rule) => {
    const result = await attempt('http://public.example/', { resolve, proxy: proxyAt(host) });
    expect(result).toMatchObject({
      kind: 'blocked',
      refusal: { rule, error: expect.stringContaining(' proxy ') },
    });
    expect(attempts).toEqual([]);
  });
});

describe('at a server', () => {
  /** The one address of this machine that requests may go to. */
  const OPEN = '127.0.0.2';
  const policy: OutboundPolicy = { ...DEFAULT_OUTBOUND_POLICY, allowed: [OPEN] };

  /** Listens on every address of the machine, so that whatever is tried would be answered. */
  async function serve(status: number, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const server = createServer((_request, response) => response.writeHead(status, headers).end());
    await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening));
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  test.each(['2130706434', '0x7f.2', '0177.0.0.2', '127.2', '\uff11\uff12\uff17.2', '[::ffff:127.0.0.2]'])(
    '%s reaches what its address reaches once that is allowed',
    async (host) => {
      const port = await serve(204);
      const url = `http://${host}:${port}/`;
      expect(await attempt(url, { policy })).toMatchObject({ kind: 'answer', status: 204 });
      expect(attempts).toHaveLength(1);
    },
  );

  test('of several addresses of a name only those that pass are tried', async () => {
    const port = await serve(204);
    const resolve: Resolve = async () => ['169.254.169.254', '127.0.0.1', '::1', OPEN, '127.0.0.3'];
    expect(await attempt(`http://mixed.example:${port}/`, { policy, resolve })).toMatchObject({
      status: 204,
    });
    expect(attempts).toEqual([OPEN]);
  });

  test('a name that moves inward between its check and the next connection is refused there', async () => {
    const port = await serve(204, { Connection: 'close' });
    const asked: string[] = [];
    const resolve: Resolve = async (host) => {
      asked.push(host);
      return asked.length === 1 ? [OPEN] : ['127.0.0.1'];
    };
    const client = newClient({ policy, resolve });
    const url = `http://rebind.example:${port}/`;
    expect(await get(client, url)).toMatchObject({ kind: 'answer', status: 204 });
    expect(asked).toHaveLength(1);
    expect(await get(client, url)).toMatchObject({ kind: 'blocked', refusal: { rule: LOOPBACK } });
    expect(attempts).toEqual([OPEN]);
  });

  test.each(
    [301, 302, 303, 307, 308].flatMap((status) =>
      ['http://127.0.0.1/', 'http://169.254.169.254/latest/meta-data/', '//localhost/', '/elsewhere'].map(
        (location) => [status, location] as const,
      ),
    ),
  )('a %i to %s is an answer and nothing else', async (status, location) => {
    const port = await serve(status, { Location: location });
    const result = await attempt(`http://${OPEN}:${port}/`, { policy });
    expect(result).toMatchObject({ kind: 'answer', status, headers: { location } });
    expect(attempts).toEqual([OPEN]);
  });
});
