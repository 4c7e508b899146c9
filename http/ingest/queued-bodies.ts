/** Reads what queued Snapshots say: from memory, or else with one look into the database for many of them. */
import type { QueuedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import { PAGE_SNAPSHOTS } from './intake.ts';
import type { ParseCache } from './parse-cache.ts';

/** Bytes of bodies in memory together; a single larger one goes alone. */
const CHUNK_BYTES = 16 * 1024 * 1024;

export interface QueuedBodiesDeps {
  readonly queue: Pick<SnapshotQueue, 'bodies'>;
  readonly cache: ParseCache;
}

/** Gives the Snapshots of a page with what their bodies say, in order, a part of the page at a time. */
export type ReadQueued = <Queued extends QueuedSnapshot>(
  page: readonly Queued[],
) => AsyncGenerator<readonly (readonly [queued: Queued, parsed: ParsedBody])[]>;

export function createReadQueued({ queue, cache }: QueuedBodiesDeps): ReadQueued {
  return async function* readQueued(page) {
    for (const chunk of chunksOf(page)) {
      const unread = chunk.filter(({ bodyHash }) => cache.get(bodyHash) === null);
      const bodies = unread.length === 0 ? new Map<string, Buffer>() : await queue.bodies(unread);
      yield chunk.map((queued) => [queued, parsedOf(queued, bodies)] as const);
    }
  };

  function parsedOf({ bodyHash }: QueuedSnapshot, bodies: ReadonlyMap<string, Buffer>): ParsedBody {
    const body = bodies.get(bodyHash);
    if (body !== undefined) return cache.read(bodyHash, body);
    return cache.get(bodyHash) ?? { ok: false, error: 'body: not stored any more' };
  }
}

function* chunksOf<Queued extends QueuedSnapshot>(page: readonly Queued[]): Generator<Queued[]> {
  let chunk: Queued[] = [];
  let bytes = 0;
  for (const queued of page) {
    const isFull = bytes + queued.sizeBytes > CHUNK_BYTES || chunk.length >= PAGE_SNAPSHOTS;
    if (chunk.length > 0 && isFull) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(queued);
    bytes += queued.sizeBytes;
  }
  if (chunk.length > 0) yield chunk;
}
