/** How Alerts and feeds are identified: the fingerprint of labels, the key of a feed (ingestion §4, §5.1). */
import { hash } from 'node:crypto';
import { base32 } from '../../runtime/public-id.ts';
import type { Labels } from '../model.ts';

const HASH_LENGTH = 26;

/** Identity of a groupKey of any length: 130 bits of its SHA-256 as 26 characters `[a-z2-7]`. */
export function groupKeyHash(groupKey: string): string {
  return base32(hash('sha256', groupKey, 'buffer')).slice(0, HASH_LENGTH);
}

/** Key of a feed actor: `<Integration id>.<groupKeyHash>` (ingestion §5.1). */
export function feedKey(integrationId: string, hashed: string): string {
  return `${integrationId}.${hashed}`;
}

/** The Integration a feed belongs to. */
export function integrationOf(key: string): string {
  return key.slice(0, key.indexOf('.'));
}

/** 0xcbf29ce484222325 and the low part of the prime 2^40 + 0x1b3, in halves that JavaScript multiplies exactly. */
const OFFSET_HIGH = 0xcbf29ce4;
const OFFSET_LOW = 0x84222325;
const PRIME_LOW = 0x1b3;
const SEPARATOR = 0xff;

/**
 * Identity of an Alert that came without one: FNV-1a (64 bit) over name, 0xff, value, 0xff of every label in byte order
 * of the names (ingestion §4.1).
 * @returns 16 lowercase hexadecimal digits
 */
export function computeFingerprint(labels: Labels): string {
  const names = Object.keys(labels);
  const bytes: Buffer[] = [];
  for (const name of inByteOrder(names)) bytes.push(Buffer.from(name), Buffer.from(labels[name] ?? ''));
  let high = OFFSET_HIGH;
  let low = OFFSET_LOW;
  for (const text of bytes) {
    // The separator is mixed in like one more byte.
    for (let index = 0; index <= text.length; index++) {
      low = (low ^ (index < text.length ? (text[index] as number) : SEPARATOR)) >>> 0;
      const product = low * PRIME_LOW;
      high = (Math.imul(high, PRIME_LOW) + (product - (product >>> 0)) / 0x1_0000_0000 + (low << 8)) >>> 0;
      low = product >>> 0;
    }
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}

/** Order of the UTF-8 bytes, which for text without surrogates is the order of the UTF-16 units. */
function inByteOrder(names: string[]): string[] {
  if (names.every((name) => !SURROGATE.test(name))) return names.sort();
  return names.sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}

const SURROGATE = /[\ud800-\udfff]/;
