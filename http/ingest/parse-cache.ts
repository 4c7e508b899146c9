/** Bodies that were read lately, so that a repeat is never read again. */
import { type ParsedBody, parseSnapshot } from '../../actors/feed/snapshot.ts';

/** How many bytes of bodies the remembered Snapshots were read from. */
export const PARSE_CACHE_BYTES = 32 * 1024 * 1024;

export interface ParseCache {
  /** What a body says, when it is remembered. */
  get(bodyHash: string): ParsedBody | null;
  /** Reads a body and remembers what it says. */
  read(bodyHash: string, body: Buffer): ParsedBody;
}

interface Remembered {
  readonly parsed: ParsedBody;
  readonly bytes: number;
}

/** Forgets the body not asked for longest when more than `limit` bytes are remembered. */
export function createParseCache(limit: number = PARSE_CACHE_BYTES): ParseCache {
  const remembered = new Map<string, Remembered>();
  let total = 0;

  const get = (bodyHash: string): ParsedBody | null => {
    const found = remembered.get(bodyHash);
    if (found === undefined) return null;
    remembered.delete(bodyHash);
    remembered.set(bodyHash, found);
    return found.parsed;
  };

  return {
    get,
    read(bodyHash, body) {
      const known = get(bodyHash);
      if (known !== null) return known;
      const parsed = parseSnapshot(body);
      remembered.set(bodyHash, { parsed, bytes: body.length });
      total += body.length;
      for (const [oldest, { bytes }] of remembered) {
        if (total <= limit) break;
        remembered.delete(oldest);
        total -= bytes;
      }
      return parsed;
    },
  };
}
