/** Bodies of queued Snapshots, a part of a page at a time, large ones one at a time (ingestion §4.2). */
import { setImmediate } from 'node:timers/promises';
import { LARGE_BODY } from '../../actors/feed/body.ts';
import type { QueuedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import { type ParsedBody, parseInSteps } from '../../actors/feed/snapshot.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createPauses, PAGE_SNAPSHOTS } from './intake.ts';
import { type ParseCache, shardOfBody } from './parse-cache.ts';

/** Bytes of bodies in memory together; a single larger one goes alone. */
const CHUNK_BYTES = 16 * 1024 * 1024;

const NOT_STORED: ParsedBody = { ok: false, error: 'body: not stored any more' };

export interface QueuedBodiesDeps {
  readonly queue: Pick<SnapshotQueue, 'body' | 'bodies'>;
  readonly cache: ParseCache;
  readonly large: LargeBodies;
  readonly clock: Clock;
  readonly log: Log;
  readonly isStopped: () => boolean;
}

/**
 * Gives the Snapshots of a page with what their bodies say, in order, a part of the page at a time. A large one is begun
 * at {@link LargeBodies} and given to `begun`, to be handed on once its body is read (null when the process stops): that
 * takes long, and the page goes on meanwhile. One that has to wait is left out and held there; see {@link isHeldBack}.
 */
export type ReadQueued = <Queued extends QueuedSnapshot>(
  page: readonly Queued[],
  begun: (queued: Queued, read: Promise<ParsedBody | null>) => void,
  mustWait?: (queued: Queued) => boolean,
) => AsyncGenerator<readonly (readonly [queued: Queued, parsed: ParsedBody])[]>;

export function createReadQueued(deps: QueuedBodiesDeps): ReadQueued {
  const { queue, cache, large } = deps;
  return async function* readQueued(page, begun, mustWait = (queued) => large.mustWait(queued)) {
    for (const chunk of chunksOf(page)) {
      const [first] = chunk;
      if (first !== undefined && isLarge(first.sizeBytes)) {
        if (mustWait(first)) large.hold(first);
        else begun(first, readLarge(first, await large.begin(first)));
        continue;
      }
      const bodies = await bodiesOf(chunk);
      yield chunk.map((queued) => [queued, parsedOf(queued, bodies)] as const);
    }
  };

  /** Tries again with pauses while the database is away. */
  async function readLarge(queued: QueuedSnapshot, error: string | null): Promise<ParsedBody | null> {
    if (error !== null) return { ok: false, error };
    const pauses = createPauses(deps.clock);
    while (!deps.isStopped()) {
      try {
        const body = await queue.body(queued);
        return body === null ? NOT_STORED : await parseInSteps(body, setImmediate);
      } catch (error) {
        deps.log('ingest_failed', { error: String(error) });
        await pauses.next();
      }
    }
    return null;
  }

  async function bodiesOf(chunk: readonly QueuedSnapshot[]): Promise<ReadonlyMap<string, Buffer>> {
    const unread = chunk.filter(({ bodyHash }) => cache.get(bodyHash) === null);
    return unread.length === 0 ? new Map() : queue.bodies(unread);
  }

  function parsedOf({ bodyHash }: QueuedSnapshot, bodies: ReadonlyMap<string, Buffer>): ParsedBody {
    const body = bodies.get(bodyHash);
    if (body !== undefined) return cache.read(bodyHash, body);
    return cache.get(bodyHash) ?? NOT_STORED;
  }
}

/** Whether a small Snapshot would overtake a large one; it is held then, to be read again. */
export function isHeldBack(
  large: LargeBodies,
  queued: Pick<QueuedSnapshot, 'integrationId' | 'shard'>,
  parsed: ParsedBody,
): boolean {
  if (!large.isHolding) return false;
  const place = placeOf(queued, parsed);
  if (place === null || !large.holdsBack(place)) return false;
  large.hold(place);
  return true;
}

/** Where a small Snapshot belongs; null for what is no Snapshot, which has no feed to overtake in. */
function placeOf(
  { integrationId, shard }: Pick<QueuedSnapshot, 'integrationId' | 'shard'>,
  parsed: ParsedBody,
): Place | null {
  return parsed.ok ? { integrationId, shard: shard ?? shardOfBody(integrationId, parsed) } : null;
}

function* chunksOf<Queued extends QueuedSnapshot>(page: readonly Queued[]): Generator<Queued[]> {
  let chunk: Queued[] = [];
  let bytes = 0;
  for (const queued of page) {
    const isFull =
      isLarge(queued.sizeBytes) ||
      bytes >= CHUNK_BYTES ||
      bytes + queued.sizeBytes > CHUNK_BYTES ||
      chunk.length >= PAGE_SNAPSHOTS;
    if (chunk.length > 0 && isFull) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(queued);
    bytes = isLarge(queued.sizeBytes) ? CHUNK_BYTES : bytes + queued.sizeBytes;
  }
  if (chunk.length > 0) yield chunk;
}

/** Attempts after which the next one is not made. */
export const MOST_ATTEMPTS = 3;

/** How long one keeps those of other feeds waiting: its actor may rest, or not be readable, for longer. */
const LONGEST_WAIT: Micros = 10 * SECOND;

/** Places held at a time. With more, everything waits until one is free. */
const MOST_HELD = 1_000;

/** Where a Snapshot belongs. Without a shard its feed is not known, and may be any of the Integration. */
export type Place = Pick<QueuedSnapshot, 'integrationId' | 'shard'>;

export interface LargeBodiesDeps {
  readonly clock: Clock;
  readonly queue: Pick<SnapshotQueue, 'beginAttempt' | 'forgetAttempt'>;
  readonly log: Log;
}

interface UnderWay {
  readonly place: Place;
  /** Its body is being read: until it is handed on, nothing of its feed may be. */
  isRead: boolean;
  /** Runs until it keeps those of other feeds waiting no longer; null then. */
  patience: Timer | null;
}

export class LargeBodies {
  readonly #deps: LargeBodiesDeps;
  readonly #freed: () => void;
  /** By `seq`. Usually one; more where the ones before take very long. */
  readonly #underWay = new Map<number, UnderWay>();
  /** Attempts that are being taken back, by `seq`. */
  readonly #forgetting = new Map<number, Promise<void>>();
  /** Places with a Snapshot that waits in the database. */
  readonly #held = new Map<string, Place>();
  /** How many under way are being read. */
  #reading = 0;

  /** @param freed is called when one that waits may begin: the Snapshots of {@link held} are to be read again */
  constructor(deps: LargeBodiesDeps, freed: () => void) {
    this.#deps = deps;
    this.#freed = freed;
  }

  /** Where Snapshots wait; bounded by {@link MOST_HELD}. */
  get held(): Iterable<Place> {
    return this.#held.values();
  }

  get isHolding(): boolean {
    return this.#held.size + this.#reading > 0;
  }

  /** Whether a Snapshot would overtake one that waits. */
  holdsBack(place: Place): boolean {
    if (!this.isHolding) return false;
    if (this.#held.size >= MOST_HELD) return true;
    for (const { isRead, place: other } of this.#underWay.values())
      if (!isRead && mayShareFeed(other, place)) return true;
    for (const held of this.#held.values()) if (mayShareFeed(held, place)) return true;
    return false;
  }

  /** Whether another one keeps all that are large waiting. */
  get isBusy(): boolean {
    for (const { patience } of this.#underWay.values()) if (patience !== null) return true;
    return false;
  }

  /** Whether a large body cannot begin yet. */
  mustWait(place: Place): boolean {
    for (const other of this.#underWay.values()) if (mayShareFeed(other.place, place)) return true;
    return this.isBusy || this.holdsBack(place);
  }

  /** The Snapshot stays in the database, and so do those behind it that are not to overtake it. */
  hold(place: Place): void {
    const { integrationId, shard } = place;
    if (this.#held.size < MOST_HELD) this.#held.set(`${integrationId} ${shard}`, { integrationId, shard });
  }

  /** What waits in these places is about to be read again from the oldest on. */
  release(isReadAgain: (place: Place) => boolean): void {
    for (const [key, place] of this.#held) if (isReadAgain(place)) this.#held.delete(key);
  }

  /**
   * Counts the attempt. What begins here is {@link handedOn} once it is read, and ends with {@link settled} or {@link givenBack}.
   * @returns why the Snapshot is not to be processed; null when it is
   * @throws what the driver throws; then nothing began
   */
  async begin({ seq, integrationId, shard }: Place & Pick<QueuedSnapshot, 'seq'>): Promise<string | null> {
    await this.#forgetting.get(seq);
    const attempts = await this.#deps.queue.beginAttempt(seq);
    const begun: UnderWay = { place: { integrationId, shard }, isRead: false, patience: null };
    begun.patience = this.#deps.clock.after(LONGEST_WAIT, () => {
      begun.patience = null;
      this.#free();
    });
    this.#underWay.set(seq, begun);
    this.#reading += 1;
    if (attempts <= MOST_ATTEMPTS) return null;
    return `processing: the service ended ${MOST_ATTEMPTS} times while it processed this Snapshot`;
  }

  /** It is on its way to its feed: what waits for that may follow. */
  handedOn(seq: number): void {
    const begun = this.#underWay.get(seq);
    if (begun === undefined || begun.isRead) return;
    begun.isRead = true;
    this.#reading -= 1;
    this.#free();
  }

  settled(seq: number): void {
    const ended = this.#underWay.get(seq);
    if (ended === undefined) return;
    this.#underWay.delete(seq);
    if (!ended.isRead) this.#reading -= 1;
    ended.patience?.cancel();
    this.#free();
  }

  /** It was not processed, and the process lives: the attempt does not count. */
  givenBack(seq: number): void {
    if (!this.#underWay.has(seq)) return;
    this.settled(seq);
    const forgotten = this.#deps.queue
      .forgetAttempt(seq)
      .catch((error: unknown) => {
        // It counts after all, which matters only if the next ones end the process.
        this.#deps.log('ingest_failed', { error: String(error) });
      })
      .finally(() => this.#forgetting.delete(seq));
    this.#forgetting.set(seq, forgotten);
  }

  #free(): void {
    if (this.#held.size > 0) this.#freed();
  }
}

export function isLarge(sizeBytes: number): boolean {
  return sizeBytes >= LARGE_BODY;
}

function mayShareFeed(one: Place, other: Place): boolean {
  if (one.integrationId !== other.integrationId) return false;
  return one.shard === null || other.shard === null || one.shard === other.shard;
}
