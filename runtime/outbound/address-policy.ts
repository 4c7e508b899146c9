/**
 * Where outbound requests may go (outbound-http §2). Pure: it judges names and addresses that somebody else
 * resolved. `connect.ts` enforces the answer on the socket itself.
 */
import ipaddr from 'ipaddr.js';
import {
  ALWAYS_BLOCKED,
  alwaysBlockedClass,
  contains,
  type Ip,
  isLoopback,
  isPublic,
  judgedAs,
  type Network,
  parseAddress,
  unmapped,
} from './address-classes.ts';

/** The policy as people save it; entries are normalised. */
export interface OutboundPolicy {
  /** `standard` allows private addresses; `strict` only public ones and what the allowed list opens. */
  readonly policy: 'standard' | 'strict';
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

export const DEFAULT_OUTBOUND_POLICY: OutboundPolicy = { policy: 'standard', allowed: [], denied: [] };

/** Why a target is refused. */
export interface Refusal {
  /** `link_local (always)`, `denied by <entry>`, `loopback`, `not_public`, … */
  readonly rule: string;
  /** For people: `refused by the outbound policy: <subject> <rule>`. */
  readonly error: string;
}

/** What a host is to a request; a refusal says so. */
export type HostRole = 'target' | 'proxy';

export interface AddressPolicy {
  /** Judges a host before its name is resolved (outbound-http §2.3 rule 1). Literal addresses always pass here. */
  judgeHost(host: string, role?: HostRole): Refusal | null;
  /**
   * Judges one address of a host (outbound-http §2.3 rules 2 to 8). `host` is the name it came from, or the literal
   * itself.
   */
  judgeAddress(host: string, address: string, role?: HostRole): Refusal | null;
  /** Judges a name that only the proxy can resolve, once {@link judgeHost} has passed it (outbound-http §3 rule 5). */
  judgeUnresolved(host: string): Refusal | null;
}

/** Names that mean this machine or a cloud's metadata service wherever they are resolved. */
const INWARD_NAMES: readonly (readonly [name: RegExp, rule: string])[] = [
  [/^(.*\.)?localhost$/, 'loopback'],
  [
    /^(metadata\.google\.internal|metadata\.goog|instance-data|instance-data\.ec2\.internal)$/,
    'cloud_metadata (always)',
  ],
];

/**
 * Compiles a saved policy.
 * @throws when an entry does not parse: only normalised entries are ever stored
 */
export function createAddressPolicy(saved: OutboundPolicy): AddressPolicy {
  const allowed = saved.allowed.map(storedEntry);
  const denied = saved.denied.map(storedEntry);

  const judgeOne = (name: string | null, address: Ip): string | null => {
    const always = alwaysBlockedClass(address);
    if (always) return `${always} (always)`;
    const denial = denied.find((entry) => entryHoldsAddress(entry, address));
    if (denial) return `denied by ${denial.text}`;
    if (allowed.some((entry) => entryHoldsAddress(entry, address))) return null;
    if (isLoopback(address)) return 'loopback';
    if (name !== null && allowed.some((entry) => entryHoldsName(entry, name))) return null;
    return saved.policy === 'strict' && !isPublic(address) ? 'not_public' : null;
  };

  return {
    judgeHost(host, role = 'target') {
      const name = hostName(host);
      const denial = name === null ? undefined : denied.find((entry) => entryHoldsName(entry, name));
      const subject = role === 'proxy' ? `proxy ${name}` : `host ${name}`;
      return denial ? refusal(subject, `denied by ${denial.text}`) : null;
    },
    judgeAddress(host, address, role = 'target') {
      const subject = role === 'proxy' ? `proxy ${address}` : address;
      const parsed = parseAddress(address);
      if (!parsed) return refusal(subject, 'zone_id (always)');
      const name = hostName(host);
      for (const judged of judgedAs(parsed)) {
        const rule = judgeOne(name, judged);
        if (rule) return refusal(subject, rule);
      }
      return null;
    },
    judgeUnresolved(host) {
      const name = hostName(host) ?? host;
      const inward = INWARD_NAMES.find(([pattern]) => pattern.test(name));
      if (inward) return refusal(`host ${name}`, inward[1]);
      if (saved.policy !== 'strict' || allowed.some((entry) => entryHoldsName(entry, name))) return null;
      return refusal(`host ${name}`, 'name_not_allowed');
    },
  };
}

/** The always-blocked classes and their networks, as the API shows them. */
export function alwaysBlockedTexts(): string[] {
  return Object.entries(ALWAYS_BLOCKED).map(([rule, networks]) => `${rule}: ${networks.join(', ')}`);
}

/** The host of a URL as an address literal without brackets, or as a name without trailing dot. */
export function targetHost(url: URL): string {
  const host = url.hostname.toLowerCase();
  return host.startsWith('[') ? host.slice(1, -1) : host.replace(/\.$/, '');
}

/** The normalised name of a host; null for a literal address. */
function hostName(host: string): string | null {
  return parseAddress(host) ? null : host.toLowerCase().replace(/\.$/, '');
}

function storedEntry(text: string): PolicyEntry {
  const entry = parsePolicyEntry(text);
  if (!entry) throw new Error(`The stored outbound policy holds an entry that cannot be read: ${text}`);
  return entry;
}

function refusal(subject: string, rule: string): Refusal {
  return { rule, error: `refused by the outbound policy: ${subject} ${rule}` };
}

/** The entries of the allowed and denied lists of the outbound policy (outbound-http §2.1). */
type PolicyEntry =
  | { readonly kind: 'network'; readonly text: string; readonly network: Network }
  | { readonly kind: 'name'; readonly text: string; readonly name: string }
  /** `*.suffix`: every name below, at any depth, not the suffix itself. */
  | { readonly kind: 'pattern'; readonly text: string; readonly suffix: string };

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NUMERIC_LABEL = /^(\d+|0x[0-9a-f]*)$/;

/**
 * Reads one entry: a network, an address, a host name or a `*.domain` pattern.
 * @returns the entry with its normalised text (lower case, host bits cleared, no brackets, no trailing dot), or null
 */
export function parsePolicyEntry(input: string): PolicyEntry | null {
  const text = input.trim().toLowerCase().replace(/\.$/, '');
  if (text.includes('/')) return networkEntry(text);
  const address = parseAddress(unbracketed(text));
  if (address) return addressEntry(address);
  if (text.startsWith('*.')) {
    const suffix = text.slice(2);
    return isHostName(suffix) ? { kind: 'pattern', text, suffix } : null;
  }
  return isHostName(text) ? { kind: 'name', text, name: text } : null;
}

/** Whether an entry names this address. */
function entryHoldsAddress(entry: PolicyEntry, address: Ip): boolean {
  return entry.kind === 'network' && contains(entry.network, address);
}

/** Whether an entry names this host name (normalised: lower case, no trailing dot). */
function entryHoldsName(entry: PolicyEntry, name: string): boolean {
  if (entry.kind === 'name') return entry.name === name;
  return entry.kind === 'pattern' && name.endsWith(`.${entry.suffix}`);
}

function networkEntry(text: string): PolicyEntry | null {
  const [base = '', bitsText = '', ...rest] = text.split('/');
  const address = parseAddress(base);
  if (!address || rest.length > 0 || !/^\d{1,3}$/.test(bitsText)) return null;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const bits = Number(bitsText);
  if (bits > width) return null;
  const network = unmapped([networkBase(address, bits), bits]);
  return { kind: 'network', text: `${network[0].toString()}/${network[1]}`, network };
}

function addressEntry(address: Ip): PolicyEntry {
  const network = unmapped([address, address.kind() === 'ipv4' ? 32 : 128]);
  return { kind: 'network', text: network[0].toString(), network };
}

function networkBase(address: Ip, bits: number): Ip {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes);
}

function unbracketed(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}

/** A name whose last label is a number would be read as an address by every URL parser, so it can never match. */
function isHostName(text: string): boolean {
  if (text.length === 0 || text.length > 253) return false;
  const labels = text.split('.');
  if (!labels.every((label) => LABEL.test(label))) return false;
  return !NUMERIC_LABEL.test(labels.at(-1) ?? '');
}
