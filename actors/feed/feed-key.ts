import { hash } from 'node:crypto';
import { base32 } from '../../runtime/base32.ts';

const HASH_LENGTH = 26;

/** Identity of a groupKey, of whatever length: 130 bits of its SHA-256 as 26 characters `[a-z2-7]`. */
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
