/** Bodies that were read lately, so that a repeat is never read again, and the shard that a body belongs to. */
import { isAscii } from 'node:buffer';
import { LARGE_BODY, scanBody } from '../../actors/feed/body.ts';
import { feedKey, groupKeyHash } from '../../actors/feed/identity.ts';
import { feedAddress } from '../../actors/feed/messages.ts';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import { type ParsedBody, parseSnapshot } from '../../actors/feed/snapshot.ts';
import { shardOf } from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';

/** Memory that remembered Snapshots take at most, in bytes; ordinary ones take half of what is reckoned. */
export const PARSE_CACHE_BYTES = 64 * 1024 * 1024;

/** Bytes of memory beside texts, as measured: of a remembered body, of an entry, and of a label or annotation. */
const OF_A_BODY = 768;
const OF_AN_ENTRY = 384;
const OF_A_PAIR = 72;

export interface ParseCache {
  get(bodyHash: string): ParsedBody | null;
  /** Reads a body and remembers what it says. */
  read(bodyHash: string, body: Buffer): ParsedBody;
}

interface Remembered {
  readonly parsed: ParsedBody;
  /** Of memory. */
  readonly bytes: number;
}

/** Forgets the body not asked for longest when what is remembered takes more than `limit` bytes of memory. */
export function createParseCache(limit: number = PARSE_CACHE_BYTES): ParseCache {
  const remembered = new Map<string, Remembered>();
  /** Bytes of memory. */
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
      if (body.length >= LARGE_BODY) return parsed;
      const bytes = memoryOf(parsed, body);
      remembered.set(bodyHash, { parsed, bytes });
      total += bytes;
      for (const [oldest, { bytes }] of remembered) {
        if (total <= limit) break;
        remembered.delete(oldest);
        total -= bytes;
      }
      return parsed;
    },
  };
}

/** Bytes of memory that a read body takes, or a little more. */
function memoryOf(parsed: ParsedBody, body: Buffer): number {
  if (!parsed.ok) return OF_A_BODY;
  const { groupKey, notificationReason, entries } = parsed.snapshot;
  let characters = groupKey.length + (notificationReason?.length ?? 0);
  let pairs = 0;
  for (const { labels, annotations, generatorUrl, fingerprint } of entries) {
    characters += fingerprint.length + (generatorUrl?.length ?? 0);
    for (const map of [labels, annotations]) {
      for (const name in map) {
        pairs++;
        characters += name.length + (map[name] as string).length;
      }
    }
  }
  // A text with one character beyond Latin-1 takes two bytes for each.
  const isNarrow = isAscii(body) && !body.includes('\\u');
  const text = isNarrow ? characters : 2 * characters;
  return OF_A_BODY + entries.length * OF_AN_ENTRY + pairs * OF_A_PAIR + text;
}

/**
 * Says the shard of a Snapshot that is about to be stored; null when there is none to say. Never throws, whatever the
 * body is.
 */
export type SnapshotShard = (
  snapshot: Pick<NewSnapshot, 'integrationId' | 'bodyHash' | 'body'>,
) => number | null;

/** A body that is no Snapshot has no feed; it goes where all of them of its Integration go. */
export function shardOfBody(integrationId: PublicId, parsed: ParsedBody): number {
  const key = parsed.ok ? feedKey(integrationId, parsed.snapshot.groupKeyHash) : integrationId;
  return shardOf(feedAddress(key));
}

/**
 * Reads each body once for as long as it is remembered. A large one is only scanned: whoever owns the shard reads it, and
 * moves it in the rare case that it is no Snapshot of that feed.
 */
export function createSnapshotShard(cache: ParseCache): SnapshotShard {
  return ({ integrationId, bodyHash, body }) => {
    if (body.length < LARGE_BODY) return shardOfBody(integrationId, cache.read(bodyHash, body));
    return scannedShard(integrationId, body) ?? shardOf(feedAddress(integrationId));
  };
}

/**
 * One process needs no shards. Of a large body it keeps which feed it is for, so that only Snapshots of that feed wait
 * with it.
 */
export const largeSnapshotShard: SnapshotShard = ({ integrationId, body }) =>
  body.length < LARGE_BODY ? null : scannedShard(integrationId, body);

function scannedShard(integrationId: PublicId, body: Uint8Array): number | null {
  const { groupKey } = scanBody(body);
  return groupKey === null ? null : shardOf(feedAddress(feedKey(integrationId, groupKeyHash(groupKey))));
}
