/** What kind of place an IP address is (outbound-http §2.2). Pure tables; nothing here resolves or connects. */
import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** Classes that no allowed entry opens. */
export type AlwaysBlocked = 'unspecified' | 'link_local' | 'cloud_metadata' | 'multicast';

/** An address range: a base address and the number of leading bits that count. */
export type Network = readonly [Ip, number];

/** The networks that are refused under every policy, in the order in which they are listed to people. */
export const ALWAYS_BLOCKED: Readonly<Record<AlwaysBlocked, readonly string[]>> = {
  unspecified: ['0.0.0.0/8', '::/128'],
  link_local: ['169.254.0.0/16', 'fe80::/10'],
  // Reviewed list of well-known metadata services outside the link-local range.
  cloud_metadata: [
    '100.100.100.200/32',
    '168.63.129.16/32',
    '192.0.0.192/32',
    'fd00:ec2::254/128',
    'fd20:ce::254/128',
  ],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
};

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

const NOT_PUBLIC = [
  // private
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  'fc00::/7',
  // shared, reserved, documentation and benchmarking
  '100.64.0.0/10',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
  '2001:db8::/32',
  '64:ff9b:1::/48',
  '2001::/32',
  'fec0::/10',
];

const ALWAYS_NETWORKS = Object.entries(ALWAYS_BLOCKED).flatMap(([rule, texts]) =>
  texts.map((text) => ({ rule: rule as AlwaysBlocked, network: parseNetwork(text) })),
);
const LOOPBACK_NETWORKS = LOOPBACK.map(parseNetwork);
const NOT_PUBLIC_NETWORKS = NOT_PUBLIC.map(parseNetwork);
const GLOBAL_UNICAST = parseNetwork('2000::/3');

const MAPPED = parseNetwork('::ffff:0:0/96');
const NAT64 = parseNetwork('64:ff9b::/96');
/** Stateless translation (RFC 2765): another place of the same bits than the mapped form. */
const TRANSLATED = parseNetwork('::ffff:0:0:0/96');
const SIX_TO_FOUR = parseNetwork('2002::/16');
const COMPATIBLE = parseNetwork('::/96');
const LOCAL_NAT64 = parseNetwork('64:ff9b:1::/48');
/** Where prefixes of 48, 56, 64 and 96 bits carry an IPv4 address (RFC 6052 §2.2); the byte at 8 is never part of it. */
const LOCAL_NAT64_LAYOUTS: readonly (readonly number[])[] = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];
const TEREDO = parseNetwork('2001::/32');
const NEVER_COMPATIBLE = [parseNetwork('::/128'), parseNetwork('::1/128')];

/** Reads a literal address in its usual text form (four decimals, or IPv6 without zone). Null for anything else. */
export function parseAddress(text: string): Ip | null {
  if (text.includes('%')) return null;
  return isIPv4(text) || isIPv6(text) ? ipaddr.parse(text) : null;
}

export function alwaysBlockedClass(address: Ip): AlwaysBlocked | null {
  return ALWAYS_NETWORKS.find(({ network }) => contains(network, address))?.rule ?? null;
}

export function isLoopback(address: Ip): boolean {
  return LOOPBACK_NETWORKS.some((network) => contains(network, address));
}

/** Whether an address may belong to the public internet. */
export function isPublic(address: Ip): boolean {
  if (isLoopback(address) || alwaysBlockedClass(address) !== null) return false;
  if (NOT_PUBLIC_NETWORKS.some((network) => contains(network, address))) return false;
  return address.kind() === 'ipv4' || contains(GLOBAL_UNICAST, address);
}

/**
 * The addresses that stand for one address in a decision: an IPv4 address carried inside an IPv6 one counts alone
 * (mapped, NAT64) or beside its carrier (6to4, compatible, translated, Teredo, local-use NAT64). All of them must pass.
 */
export function judgedAs(address: Ip): readonly Ip[] {
  if (address.kind() === 'ipv4') return [address];
  const bytes = address.toByteArray();
  if (contains(MAPPED, address) || contains(NAT64, address)) return [ipv4(bytes.slice(12))];
  if (contains(SIX_TO_FOUR, address)) return [address, ipv4(bytes.slice(2, 6))];
  if (contains(TEREDO, address)) return [address, ipv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  if (contains(LOCAL_NAT64, address)) return [address, ...locallyTranslated(bytes)];
  if (contains(TRANSLATED, address)) return [address, ipv4(bytes.slice(12))];
  const compatible = contains(COMPATIBLE, address) && !NEVER_COMPATIBLE.some((n) => contains(n, address));
  return compatible ? [address, ipv4(bytes.slice(12))] : [address];
}

/**
 * What a translator of this network may make of an address. The length of its prefix is not known, so every layout
 * counts; one that begins with a zero byte is the padding of another, unless all of them are.
 */
function locallyTranslated(bytes: readonly number[]): Ip[] {
  const read = LOCAL_NAT64_LAYOUTS.map((places) => places.map((place) => bytes[place] ?? 0));
  const meant = read.filter(([first]) => first !== 0);
  return (meant.length > 0 ? meant : read).map(ipv4);
}

/** Whether `address` lies in `network`; families never match each other. */
export function contains(network: Network, address: Ip): boolean {
  return (
    network[0].kind() === address.kind() && address.match(network as [ipaddr.IPv4 & ipaddr.IPv6, number])
  );
}

/** The IPv4 address or network that a mapped one (`::ffff:a.b.c.d`) stands for; others come back unchanged. */
export function unmapped([address, bits]: Network): Network {
  if (address.kind() === 'ipv4' || bits < 96 || !contains(MAPPED, address)) return [address, bits];
  return [ipv4(address.toByteArray().slice(12)), bits - 96];
}

function parseNetwork(text: string): Network {
  return ipaddr.parseCIDR(text);
}

function ipv4(bytes: number[]): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes);
}
