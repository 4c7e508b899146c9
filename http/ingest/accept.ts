/** Takes one webhook in: token, size, room, write (ingestion §2.3, §3). Knows nothing of the HTTP server. */
import { hash } from 'node:crypto';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import type { FoundToken, IntegrationTokens } from '../../actors/integration/ports.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import { INTEGRATION_TOKEN } from '../../runtime/config-values.ts';
import type { Log } from '../../runtime/log.ts';
import { createRandomPool, newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { addPiece } from '../server/body-budget.ts';
import { type AcceptQueue, LateError, LOOKUP_TIMEOUT, type WriteOutcome, within } from './accept-queue.ts';
import type { IngestMetrics, RequestOutcome } from './metrics.ts';
import type { SnapshotShard } from './parse-cache.ts';

/** ingest.body_limit: 16 MiB. */
export const BODY_LIMIT = 16 * 1024 * 1024;

const CONTENT_TYPE_LIMIT = 255;
/** Metric label and log field of a request whose Integration is not known. */
const UNKNOWN = 'unknown';

export interface IncomingRequest {
  readonly token: string | null;
  /** Declared length of the body, or null. */
  readonly contentLength: number | null;
  readonly contentType: string;
  /** Path pattern, for logs. */
  readonly pattern: string;
  /** Address of the client; asked for only when the request is refused. */
  address(): string;
}

/** One body on its way in. */
export interface Reception {
  /** The next piece, which is copied. Pieces after the answer are ignored. */
  push(piece: ArrayBuffer, isLast: boolean): void;
  /** The client went away. What it had sent completely stays; anything else never was. */
  abort(): void;
}

export interface AcceptDeps {
  readonly tokens: IntegrationTokens;
  readonly queue: AcceptQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
  readonly isUnavailable: (error: unknown) => boolean;
  readonly shardOf: SnapshotShard;
  /** Whether the process has not begun yet, or stops: new requests are refused, those on their way are finished. */
  readonly isClosed: () => boolean;
  /** Whether `snapshot_accepted` is written at all: a line for every Snapshot. */
  readonly logsInfo: boolean;
}

export type Accept = (request: IncomingRequest, answer: (outcome: RequestOutcome) => void) => Reception;

/** Answers each request once: when its token was looked up at the earliest, unless it is refused without that. */
export function createAccept(given: AcceptDeps): Accept {
  const deps = {
    ...given,
    copy: createBodyCopies(),
    random: createRandomPool(),
    hashOf: createTokenHashes(),
  };
  return (request, answer) => new OneReception(deps, request, answer);
}

interface ReceptionDeps extends AcceptDeps {
  copy(piece: ArrayBuffer): Buffer;
  random(size: number): Uint8Array;
  hashOf(token: string): Uint8Array;
}

class OneReception implements Reception {
  readonly #deps: ReceptionDeps;
  readonly #request: IncomingRequest;
  readonly #answer: (outcome: RequestOutcome) => void;
  readonly #startedAt: Micros;
  #token: FoundToken | null = null;
  #pieces: Buffer[] = [];
  #size = 0;
  #isComplete = false;
  /** Takes a place in the accept queue. */
  #isCounted = false;
  #isLookingUp = false;
  /** Why the body is not kept any more, though its token may not be known yet. */
  #refusal: 'too_large' | 'unavailable' | null = null;
  /** Queued for its commit, or answered, or gone. */
  #isOver = false;

  constructor(deps: ReceptionDeps, request: IncomingRequest, answer: (outcome: RequestOutcome) => void) {
    this.#deps = deps;
    this.#request = request;
    this.#answer = answer;
    this.#startedAt = deps.clock.now();
    const { token } = request;
    if (deps.isClosed()) this.#refuse('unavailable');
    else if (token === null || !isIntegrationToken(token)) this.#refuse('unauthorized');
    else if (!deps.queue.admits()) this.#refuse('unavailable');
    else this.#lookUp(deps.hashOf(token));
  }

  push(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return;
    this.#isComplete = isLast;
    if (this.#refusal === null) this.#keep(piece);
    if (this.#token !== null) this.#proceed(this.#token);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#forget();
    // A look-up under way keeps its place: clients that come and go must not start any number of them.
    if (!this.#isLookingUp) this.#leave();
  }

  #lookUp(hashed: Uint8Array): void {
    const { clock, queue, tokens } = this.#deps;
    queue.enter();
    this.#isCounted = true;
    this.#isLookingUp = true;
    within(clock, LOOKUP_TIMEOUT, tokens.find(hashed)).then(
      (found) => this.#lookedUp(() => this.#admit(found)),
      (error) => this.#lookedUp(() => this.#lookupFailed(error)),
    );
  }

  #lookedUp(proceed: () => void): void {
    this.#isLookingUp = false;
    if (this.#isOver) this.#leave();
    else proceed();
  }

  #leave(): void {
    if (!this.#isCounted) return;
    this.#isCounted = false;
    this.#deps.queue.leave();
  }

  #keep(piece: ArrayBuffer): void {
    const { queue } = this.#deps;
    const { byteLength } = piece;
    if (this.#size + byteLength > BODY_LIMIT) this.#stopKeeping('too_large');
    else if (!queue.fits(byteLength)) this.#stopKeeping('unavailable');
    else {
      this.#size += byteLength;
      queue.hold(byteLength);
      addPiece(this.#pieces, this.#deps.copy(piece));
    }
  }

  #stopKeeping(refusal: 'too_large' | 'unavailable'): void {
    this.#refusal = refusal;
    this.#forget();
  }

  #forget(): void {
    this.#deps.queue.hold(-this.#size);
    this.#size = 0;
    this.#pieces = [];
  }

  #admit(found: FoundToken | null): void {
    if (found === null) {
      this.#refuse('unauthorized');
      return;
    }
    const { queue, tokens } = this.#deps;
    const declared = this.#request.contentLength ?? 0;
    tokens.used(found.tokenId, this.#startedAt);
    this.#token = found;
    const toCome = Math.max(0, declared - this.#size);
    if (declared > BODY_LIMIT) this.#refuse('too_large');
    else if (!queue.fits(toCome)) this.#refuse('unavailable');
    else this.#proceed(found);
  }

  #proceed(token: FoundToken): void {
    if (this.#refusal !== null) this.#refuse(this.#refusal);
    else if (this.#isComplete) this.#store(token);
  }

  #store({ integrationId }: FoundToken): void {
    const { clock, queue, shardOf } = this.#deps;
    const [only, ...more] = this.#pieces;
    const body = only !== undefined && more.length === 0 ? only : Buffer.concat(this.#pieces);
    const id = newPublicId('SS', this.#deps.random);
    this.#isOver = true;
    this.#pieces = [];
    const receivedAt = clock.now();
    const bodyHash = hash('sha256', body);
    const snapshot: NewSnapshot = {
      id,
      integrationId,
      receivedAt,
      body,
      bodyHash,
      contentType: storableContentType(this.#request.contentType),
      shard: shardOf({ integrationId, bodyHash, body }),
    };
    queue.put(snapshot, (outcome) => this.#stored(outcome, id, body.length));
  }

  #stored(outcome: WriteOutcome, id: PublicId, sizeBytes: number): void {
    const { log, logsInfo } = this.#deps;
    if (outcome === 'accepted' && logsInfo) {
      log('snapshot_accepted', {
        integration: this.#token?.integrationId,
        stored_snapshot: id,
        size_bytes: sizeBytes,
        route_pattern: this.#request.pattern,
      });
    }
    this.#finish(outcome);
  }

  #lookupFailed(error: unknown): void {
    this.#deps.log('ingest_failed', { error: String(error) });
    const isUnavailable = error instanceof LateError || this.#deps.isUnavailable(error);
    this.#refuse(isUnavailable ? 'unavailable' : 'failed');
  }

  #refuse(outcome: Exclude<RequestOutcome, 'accepted'>): void {
    this.#isOver = true;
    this.#forget();
    this.#deps.log('ingest_rejected', {
      integration: this.#token?.integrationId ?? UNKNOWN,
      outcome,
      route_pattern: this.#request.pattern,
      client_address: this.#request.address(),
    });
    this.#finish(outcome);
  }

  #finish(outcome: RequestOutcome): void {
    const { clock, metrics } = this.#deps;
    this.#leave();
    const seconds = (clock.now() - this.#startedAt) / SECOND;
    metrics.request(this.#token?.integrationId ?? UNKNOWN, outcome, seconds);
    this.#answer(outcome);
  }
}

/** Null for what is too long or was not UTF-8 (ingestion §3 rule 7). */
function storableContentType(received: string): string | null {
  if (received === '' || received.includes('\uFFFD')) return null;
  return Buffer.byteLength(received) <= CONTENT_TYPE_LIMIT ? received : null;
}

/** Copies pieces of bodies out of memory that the server uses again. */

const SLAB_BYTES = 512 * 1024;
/** Larger pieces get memory of their own, so that little of a slab is left over. */
const SLAB_PIECE = 32 * 1024;

/**
 * Gives copies that share slabs of memory: a buffer of its own for every body of a few kilobytes would cost more than
 * the copy. Bodies live as long as their commit, so a slab is free soon after it is full.
 */
function createBodyCopies(): (piece: ArrayBuffer) => Buffer {
  let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  let used = 0;
  return (piece) => {
    const bytes = new Uint8Array(piece);
    if (bytes.length > SLAB_PIECE) return Buffer.from(bytes);
    if (used + bytes.length > SLAB_BYTES) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      used = 0;
    }
    slab.set(bytes, used);
    const copy = slab.subarray(used, used + bytes.length);
    used += bytes.length;
    return copy;
  };
}

/** Whether a text has the form of an Integration token; anything else needs no look-up to be refused. */
export function isIntegrationToken(text: string): boolean {
  return INTEGRATION_TOKEN.test(text);
}

const BEARER = /^bearer +([^ ]+) *$/i;

/** The credential of an `Authorization` header with the scheme Bearer, in any case; null for anything else. */
export function bearerToken(header: string): string | null {
  return BEARER.exec(header)?.[1] ?? null;
}

const HASHES = 1_000;

/** SHA-256 of tokens; the ones a sender keeps sending are hashed once. */
function createTokenHashes(): (token: string) => Uint8Array {
  const hashes = new Map<string, Uint8Array>();
  return (token) => {
    const known = hashes.get(token);
    if (known !== undefined) return known;
    if (hashes.size >= HASHES) hashes.clear();
    const hashed = hash('sha256', token, 'buffer');
    hashes.set(token, hashed);
    return hashed;
  };
}
