/** The entries of the allowed and denied lists of the outbound policy (outbound-http §2.1). */
import ipaddr from 'ipaddr.js';
import { contains, type Ip, type Network, parseAddress, unmapped } from './address-classes.ts';

export type PolicyEntry =
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
export function entryHoldsAddress(entry: PolicyEntry, address: Ip): boolean {
  return entry.kind === 'network' && contains(entry.network, address);
}

/** Whether an entry names this host name (normalised: lower case, no trailing dot). */
export function entryHoldsName(entry: PolicyEntry, name: string): boolean {
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
