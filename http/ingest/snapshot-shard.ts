/** Which shard a Snapshot belongs to: that of its feed (operations §5.2). */
import { feedKey } from '../../actors/feed/feed-key.ts';
import { feedAddress } from '../../actors/feed/messages.ts';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import { shardOf } from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { ParseCache } from './parse-cache.ts';

/** Says the shard of a Snapshot that is about to be stored. Never throws, whatever the body is. */
export type SnapshotShard = (snapshot: Pick<NewSnapshot, 'integrationId' | 'bodyHash' | 'body'>) => number;

/** A body that is no Snapshot has no feed; it goes where all of them of its Integration go. */
export function shardOfBody(integrationId: PublicId, parsed: ParsedBody): number {
  const key = parsed.ok ? feedKey(integrationId, parsed.snapshot.groupKeyHash) : integrationId;
  return shardOf(feedAddress(key));
}

/** Reads each body once for as long as it is remembered. */
export function createSnapshotShard(cache: ParseCache): SnapshotShard {
  return ({ integrationId, bodyHash, body }) => shardOfBody(integrationId, cache.read(bodyHash, body));
}
