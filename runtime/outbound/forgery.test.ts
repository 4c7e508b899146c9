/** Ways to make the service call what it must not: each ends with the rule that refuses it, and nothing is connected. */
import { afterEach, describe, expect, test } from 'vitest';
import { SECOND, systemClock } from '../clock.ts';
import { DEFAULT_OUTBOUND_POLICY, type OutboundPolicy } from './address-policy.ts';
import { createOutboundClient, type OutboundClient, type OutboundResult } from './client.ts';
import type { Resolve } from './judge-target.ts';
import type { ProxyRoute } from './proxy.ts';

const clients: OutboundClient[] = [];
afterEach(() => {
  for (const made of clients.splice(0)) made.close();
});

/** Resolving is a fault where a host is an address however it is spelled. */
const NEVER: Resolve = (host) => Promise.reject(new Error(`${host} was resolved`));

async function attempt(
  url: string,
  { policy = DEFAULT_OUTBOUND_POLICY, resolve = NEVER, proxy = null }: Partial<Surroundings> = {},
): Promise<OutboundResult> {
  const client = createOutboundClient({ clock: systemClock, policy, resolve });
  clients.push(client);
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
    ['octal with many zeros', 'http://00000177.0.0.01/', LOOPBACK],
    ['octal', 'http://0251.0376.0251.0376/', METADATA],
    ['hexadecimal', 'http://0x7f000001/', LOOPBACK],
    ['hexadecimal parts', 'http://0xa9.0xfe.0xa9.0xfe/', METADATA],
    ['mixed parts', 'http://0x7f.1/', LOOPBACK],
    ['short', 'http://127.1/', LOOPBACK],
    ['zero', 'http://0/', NOWHERE],
    ['full-width digits', 'http://\uff11\uff12\uff17.0.0.1/', LOOPBACK],
    ['circled digits', 'http://\u2460\u2461\u2466.0.0.1/', LOOPBACK],
    ['ideographic full stops', 'http://127\u30020\u30020\u30021/', LOOPBACK],
    ['percent-encoded', 'http://%31%32%37.0.0.1/', LOOPBACK],
    ['a trailing dot', 'http://127.0.0.1./', LOOPBACK],
    ['a trailing dot', 'http://169.254.169.254./latest/meta-data/', METADATA],
    ['IPv6 loopback', 'http://[::1]/', LOOPBACK],
    ['IPv6 in full', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', LOOPBACK],
    ['mapped', 'http://[::ffff:127.0.0.1]/', LOOPBACK],
    ['mapped in hexadecimal', 'http://[::ffff:a9fe:a9fe]/', METADATA],
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
  ])('%s: %s', async (_name, url, rule) => {
    expect(await attempt(url)).toMatchObject({ kind: 'blocked', refusal: { rule } });
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
  ])('%s', async (_name, host, addresses, rule) => {
    const result = await attempt(`http://${host}/`, { resolve: answering(...addresses) });
    expect(result).toMatchObject({ kind: 'blocked', refusal: { rule } });
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
  const proxy = (host: string): ProxyRoute => ({
    type: 'http',
    host,
    port: 3128,
    username: null,
    password: null,
  });
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
    const result = await attempt('http://public.example/', { resolve, proxy: proxy(host) });
    expect(result).toMatchObject({
      kind: 'blocked',
      refusal: { rule, error: expect.stringContaining(' proxy ') },
    });
  });
});
