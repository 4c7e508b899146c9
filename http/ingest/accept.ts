/** Takes one webhook in: token, size, room, write (ingestion §3). Knows nothing of the HTTP server. */
import { hash } from 'node:crypto';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import type { FoundToken, IntegrationTokens } from '../../actors/integration/ports.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { createRandomPool } from '../../runtime/random-pool.ts';
import { type AcceptQueue, LOOKUP_TIMEOUT, type WriteOutcome } from './accept-queue.ts';
import { createBodyCopies } from './body-copies.ts';
import { LateError, within } from './deadline.ts';
import type { IngestMetrics, RequestOutcome } from './metrics.ts';
import type { SnapshotShard } from './snapshot-shard.ts';
import { createTokenHashes, isIntegrationToken } from './token.ts';

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
  /** Null in an installation of one process: then nothing is read before the answer. */
  readonly shardOf: SnapshotShard | null;
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
      this.#pieces.push(this.#deps.copy(piece));
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
      shard: shardOf?.({ integrationId, bodyHash, body }) ?? null,
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
