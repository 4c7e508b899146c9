import { describe, expect, test } from 'vitest';
import {
  alwaysBlockedTexts,
  createAddressPolicy,
  type OutboundPolicy,
  parsePolicyEntry,
  targetHost,
} from './address-policy.ts';

/** Judges a URL the way the connector does, with `addresses` standing in for the resolver. */
function judge(policy: Partial<OutboundPolicy>, url: string, addresses?: readonly string[]): string {
  const compiled = createAddressPolicy({ policy: 'standard', allowed: [], denied: [], ...policy });
  const host = targetHost(new URL(url));
  const early = compiled.judgeHost(host);
  if (early) return early.rule;
  const refusals = (addresses ?? [host]).map((address) => compiled.judgeAddress(host, address));
  return refusals.map((refusal) => refusal?.rule ?? 'passes').join(', ');
}

describe('literal addresses under the standard policy', () => {
  test.each([
    ['http://1.1.1.1/', 'passes'],
    ['http://10.0.0.1/', 'passes'],
    ['http://172.16.0.1/', 'passes'],
    ['http://192.168.1.1/', 'passes'],
    ['http://100.64.0.1/', 'passes'],
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.8.9.10/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://１２７.0.0.1/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[0:0:0:0:0:0:0:1]/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://[::ffff:7f00:1]/', 'loopback'],
    ['http://[64:ff9b::127.0.0.1]/', 'loopback'],
    ['http://[::127.0.0.1]/', 'loopback'],
    ['http://[2002:7f00:1::]/', 'loopback'],
    ['http://[2001:0:0:0:0:0:80ff:fffe]/', 'loopback'],
    ['http://0.0.0.0/', 'unspecified (always)'],
    ['http://0/', 'unspecified (always)'],
    ['http://0.1.2.3/', 'unspecified (always)'],
    ['http://[::]/', 'unspecified (always)'],
    ['http://[::ffff:0.0.0.0]/', 'unspecified (always)'],
    ['http://169.254.169.254/', 'link_local (always)'],
    ['http://2852039166/', 'link_local (always)'],
    ['http://0xa9fea9fe/', 'link_local (always)'],
    ['http://0251.0376.0251.0376/', 'link_local (always)'],
    ['http://[::ffff:169.254.169.254]/', 'link_local (always)'],
    ['http://[64:ff9b::a9fe:a9fe]/', 'link_local (always)'],
    ['http://[2002:a9fe:a9fe::1]/', 'link_local (always)'],
    ['http://[64:ff9b:1::169.254.169.254]/', 'link_local (always)'],
    ['http://[64:ff9b:1:a9fe:a9:fe00::]/', 'link_local (always)'],
    ['http://[64:ff9b:1:a9fe:a9:fe01:203:405]/', 'link_local (always)'],
    ['http://[64:ff9b:1:a9:fe:a9fe::]/', 'link_local (always)'],
    ['http://[64:ff9b:1:0:a9:fea9:fe00:0]/', 'link_local (always)'],
    ['http://[64:ff9b:1::127.0.0.1]/', 'loopback'],
    ['http://[64:ff9b:1::100.100.100.200]/', 'cloud_metadata (always)'],
    ['http://[64:ff9b:1::]/', 'unspecified (always)'],
    ['http://[fe80::1]/', 'link_local (always)'],
    ['http://[febf::1]/', 'link_local (always)'],
    ['http://100.100.100.200/', 'cloud_metadata (always)'],
    ['http://168.63.129.16/', 'cloud_metadata (always)'],
    ['http://192.0.0.192/', 'cloud_metadata (always)'],
    ['http://[fd00:ec2::254]/', 'cloud_metadata (always)'],
    ['http://[fd20:ce::254]/', 'cloud_metadata (always)'],
    ['http://224.0.0.1/', 'multicast (always)'],
    ['http://239.255.255.255/', 'multicast (always)'],
    ['http://[ff02::1]/', 'multicast (always)'],
    ['http://[fd00::1]/', 'passes'],
    ['http://[2606:4700::1111]/', 'passes'],
    ['http://[64:ff9b::1.1.1.1]/', 'passes'],
    ['http://[64:ff9b:1::10.0.0.1]/', 'passes'],
    ['http://[64:ff9b:1:a00:0:100::]/', 'passes'],
    ['http://[2002:0101:0101::1]/', 'passes'],
  ])('%s: %s', (url, expected) => {
    expect(judge({}, url)).toBe(expected);
  });
});

describe('literal addresses under the strict policy', () => {
  test.each([
    ['http://1.1.1.1/', 'passes'],
    ['http://10.1.2.3/', 'not_public'],
    ['http://172.31.255.255/', 'not_public'],
    ['http://192.168.0.1/', 'not_public'],
    ['http://100.64.0.1/', 'not_public'],
    ['http://192.0.0.1/', 'not_public'],
    ['http://192.0.2.1/', 'not_public'],
    ['http://198.18.0.1/', 'not_public'],
    ['http://198.51.100.1/', 'not_public'],
    ['http://203.0.113.1/', 'not_public'],
    ['http://240.0.0.1/', 'not_public'],
    ['http://255.255.255.255/', 'not_public'],
    ['http://[fc00::1]/', 'not_public'],
    ['http://[fd12::1]/', 'not_public'],
    ['http://[2001:db8::1]/', 'not_public'],
    ['http://[64:ff9b:1::1]/', 'not_public'],
    ['http://[64:ff9b:1::1.1.1.1]/', 'not_public'],
    ['http://[2001:0:1::1]/', 'not_public'],
    ['http://[fec0::1]/', 'not_public'],
    ['http://[4000::1]/', 'not_public'],
    ['http://[::1.1.1.1]/', 'not_public'],
    ['http://[2002:0a00:0001::1]/', 'not_public'],
    ['http://[::ffff:10.0.0.1]/', 'not_public'],
    ['http://[::ffff:1.1.1.1]/', 'passes'],
    ['http://[2606:4700::1111]/', 'passes'],
    ['http://127.0.0.1/', 'loopback'],
  ])('%s: %s', (url, expected) => {
    expect(judge({ policy: 'strict' }, url)).toBe(expected);
  });
});

describe('the decision order', () => {
  const url = 'http://relay.corp.example/';
  test.each<[string, Partial<OutboundPolicy>, string, readonly string[] | undefined, string]>([
    [
      'a denied name is refused before resolving',
      { denied: ['relay.corp.example'] },
      url,
      ['1.1.1.1'],
      'denied by relay.corp.example',
    ],
    [
      'a denied pattern covers every depth',
      { denied: ['*.example'] },
      url,
      ['1.1.1.1'],
      'denied by *.example',
    ],
    [
      'a pattern does not cover its own domain',
      { denied: ['*.relay.corp.example'] },
      url,
      ['1.1.1.1'],
      'passes',
    ],
    ['a name covers no name below it', { denied: ['corp.example'] }, url, ['1.1.1.1'], 'passes'],
    [
      'a trailing dot and case do not hide a name',
      { denied: ['relay.corp.example'] },
      'http://RELAY.corp.example./',
      ['1.1.1.1'],
      'denied by relay.corp.example',
    ],
    [
      'denied name wins over allowed address',
      { denied: ['relay.corp.example'], allowed: ['1.1.1.1'] },
      url,
      ['1.1.1.1'],
      'denied by relay.corp.example',
    ],
    [
      'always blocked wins over allowed network',
      { allowed: ['169.254.0.0/16'] },
      'http://169.254.169.254/',
      undefined,
      'link_local (always)',
    ],
    [
      'always blocked wins over allowed name',
      { allowed: ['relay.corp.example'] },
      url,
      ['169.254.169.254'],
      'link_local (always)',
    ],
    [
      'denied network wins over allowed network',
      { denied: ['10.0.0.0/8'], allowed: ['10.1.0.0/16'] },
      'http://10.1.2.3/',
      undefined,
      'denied by 10.0.0.0/8',
    ],
    [
      'denied network wins over allowed name',
      { denied: ['10.0.0.0/8'], allowed: ['relay.corp.example'] },
      url,
      ['10.1.2.3'],
      'denied by 10.0.0.0/8',
    ],
    [
      'allowed network opens loopback',
      { allowed: ['127.0.0.0/8'] },
      'http://127.0.0.1/',
      undefined,
      'passes',
    ],
    ['allowed IPv6 address opens loopback', { allowed: ['[::1]'] }, 'http://[::1]/', undefined, 'passes'],
    [
      'allowed IPv4 opens the mapped form',
      { allowed: ['127.0.0.1'] },
      'http://[::ffff:127.0.0.1]/',
      undefined,
      'passes',
    ],
    [
      'a mapped entry means the IPv4 address',
      { allowed: ['::ffff:127.0.0.1'] },
      'http://127.0.0.1/',
      undefined,
      'passes',
    ],
    [
      'allowed name does not open loopback',
      { allowed: ['relay.corp.example'] },
      url,
      ['127.0.0.1'],
      'loopback',
    ],
    [
      'allowed name opens private under strict',
      { policy: 'strict', allowed: ['relay.corp.example'] },
      url,
      ['10.1.2.3'],
      'passes',
    ],
    [
      'allowed pattern opens private under strict',
      { policy: 'strict', allowed: ['*.corp.example'] },
      url,
      ['10.1.2.3'],
      'passes',
    ],
    [
      'a name that is not allowed stays closed under strict',
      { policy: 'strict', allowed: ['other.example'] },
      url,
      ['10.1.2.3'],
      'not_public',
    ],
    [
      'allowed network opens private under strict',
      { policy: 'strict', allowed: ['10.0.0.0/8'] },
      url,
      ['10.1.2.3'],
      'passes',
    ],
    [
      '6to4: carrier allowed, carried address still refused',
      { allowed: ['2002::/16'] },
      'http://[2002:7f00:1::]/',
      undefined,
      'loopback',
    ],
    [
      '6to4: both allowed',
      { allowed: ['2002::/16', '127.0.0.0/8'] },
      'http://[2002:7f00:1::]/',
      undefined,
      'passes',
    ],
    [
      'Teredo: the carried address is denied',
      { denied: ['1.1.1.1'] },
      'http://[2001:0:0:0:0:0:fefe:fefe]/',
      undefined,
      'denied by 1.1.1.1',
    ],
    ['each address of a mixed answer is judged alone', {}, url, ['127.0.0.1', '1.1.1.1'], 'loopback, passes'],
    ['an address with a zone id is refused', {}, url, ['fe80::1%eth0'], 'zone_id (always)'],
  ])('%s', (_name, policy, target, addresses, expected) => {
    expect(judge(policy, target, addresses)).toBe(expected);
  });

  test('the error names subject and rule', () => {
    const policy = createAddressPolicy({ policy: 'standard', allowed: [], denied: ['*.test.example'] });
    expect(policy.judgeAddress('127.0.0.1', '127.0.0.1')?.error).toBe(
      'refused by the outbound policy: 127.0.0.1 loopback',
    );
    expect(policy.judgeHost('a.test.example')?.error).toBe(
      'refused by the outbound policy: host a.test.example denied by *.test.example',
    );
  });
});

describe('entries', () => {
  test.each([
    ['10.20.0.0/16', '10.20.0.0/16'],
    ['10.20.30.40/16', '10.20.0.0/16'],
    ['FD00::1/8', 'fd00::/8'],
    ['10.1.2.3', '10.1.2.3'],
    ['[::1]', '::1'],
    ['::FFFF:10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    [' Chat.Corp.Example. ', 'chat.corp.example'],
    ['*.corp.example', '*.corp.example'],
    ['_dmarc.example', '_dmarc.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['localhost', 'localhost'],
  ])('%s is kept as %s', (input, text) => {
    expect(parsePolicyEntry(input)?.text).toBe(text);
  });

  test.each([
    '',
    '*',
    '*.',
    'a.*.example',
    '*corp.example',
    'http://example.org',
    'example.org:443',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'example.org/8',
    'fd00::/129',
    'fe80::1%eth0',
    '-a.example',
    'a-.example',
    'a..example',
    'bücher.example',
    '10.1.2',
    '0x7f.0.0.1',
    '2130706433',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}aa`,
  ])('%j is refused', (input) => {
    expect(parsePolicyEntry(input)).toBeNull();
  });
});

test('the always-blocked classes are shown with their networks', () => {
  expect(alwaysBlockedTexts()[0]).toBe('unspecified: 0.0.0.0/8, ::/128');
  expect(alwaysBlockedTexts()).toHaveLength(4);
});
