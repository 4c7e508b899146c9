import type { Clock, Monotonic, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Batch } from './batch.ts';
import { Backoff, type EngineLimits } from './limits.ts';
import type { ActorMetrics } from './metrics.ts';
import type { PendingWrite } from './resident.ts';
import {
  type ActorStore,
  type CommitBatch,
  FencedError,
  OutdatedError,
  ReceiptGoneError,
  StoreUnavailableError,
} from './store.ts';

/** What became of a batch. In every case but the first two nothing of it is stored. */
export type Outcome =
  | { readonly kind: 'committed' }
  /** Stored, though the store's answer was lost: the numbers it drew are unknown here. */
  | { readonly kind: 'landed' }
  | (Failure & { readonly kind: 'refused'; readonly error: Error })
  | (Failure & { readonly kind: 'gone'; readonly error: ReceiptGoneError })
  | (Failure & { readonly kind: 'fenced'; readonly shards: readonly number[] })
  /** Given up while the store did not answer; it may or may not be stored. */
  | { readonly kind: 'unanswered' };

interface Failure {
  /** An earlier try had no answer and may yet reach the store. */
  readonly isDoubtful: boolean;
}

export interface CommitterDeps {
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  readonly metrics: ActorMetrics;
  readonly monotonic: Monotonic;
}

/**
 * Commits one batch after the other. While the store does not answer, the same batch is offered again and again:
 * its versions let it be stored once only, whereas turns run anew could not tell a lost commit from a lost answer.
 */
export class Committer {
  readonly #deps: CommitterDeps;
  /** Numbers of the last commit: the next batch was built while it drew them. */
  #drawn: ReadonlyMap<string, number> = new Map();
  /** Version of the configuration of the last batch that was refused as outdated. */
  #outdated: number | null = null;
  #isStopping = false;
  #endWait: (() => void) | null = null;

  constructor(deps: CommitterDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  async commit(batch: Batch): Promise<Outcome> {
    const request = batch.close(this.#drawn);
    if (!batch.hasEffects) return { kind: 'committed' };
    const { clock, metrics } = this.#deps;
    const start = clock.now();
    const outcome = await this.#untilAnswered(batch, request);
    this.#drawn = outcome.kind === 'committed' ? batch.drawn() : new Map();
    metrics.commitSeconds.observe(Math.max(0, clock.now() - start) / 1e6);
    metrics.commitTurns.observe(batch.turns);
    return outcome;
  }

  /** Gives up on a store that does not answer. */
  stop(): void {
    this.#isStopping = true;
    this.#endWait?.();
  }

  async #untilAnswered(batch: Batch, request: CommitBatch): Promise<Outcome> {
    const backoff = new Backoff(this.#deps.limits);
    let isDoubtful = false;
    for (;;) {
      try {
        batch.begunAt = this.#deps.monotonic();
        await this.#deps.store.commit(request, (numbers) => batch.bind(numbers));
        return { kind: 'committed' };
      } catch (error) {
        this.#deps.log('commit_failed', { error: String(error), turns: batch.turns });
        if (error instanceof FencedError) return fenced(batch, error, isDoubtful);
        if (!(error instanceof StoreUnavailableError)) {
          if (isDoubtful && (await this.#hasLanded(batch.writes[0]))) return { kind: 'landed' };
          if (error instanceof OutdatedError) await this.#pauseUnlessNewer(batch);
          return refused(error, isDoubtful);
        }
      }
      isDoubtful = true;
      if (this.#isStopping) return { kind: 'unanswered' };
      await this.#wait(backoff.failed());
    }
  }

  /**
   * Whether a commit without an answer was stored after all. Nobody else writes the row under our epoch. A batch
   * without a row to tell by only uses up a receipt, whose absence tells the same when it is tried again.
   */
  async #hasLanded(marker: PendingWrite | undefined): Promise<boolean> {
    if (marker === undefined) return false;
    const backoff = new Backoff(this.#deps.limits);
    while (!this.#isStopping) {
      try {
        const rows = await this.#deps.store.load([marker.address]);
        return (rows.get(marker.resident.text)?.version ?? 0) > marker.expectedVersion;
      } catch (error) {
        this.#deps.log('store_read_failed', { what: 'actors', error: String(error) });
        await this.#wait(backoff.failed());
      }
    }
    return false;
  }

  /** Without the newer configuration, which could not be read, the repeated batch would be refused again at once. */
  async #pauseUnlessNewer({ decidedWith }: Batch): Promise<void> {
    if (decidedWith === this.#outdated) await this.#wait(this.#deps.limits.retryFirst);
    this.#outdated = decidedWith;
  }

  #wait(delay: number): Promise<void> {
    if (this.#isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const timer: Timer = this.#deps.clock.after(delay, resolve);
      this.#endWait = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}

function refused(error: unknown, isDoubtful: boolean): Outcome {
  if (error instanceof ReceiptGoneError) return { kind: 'gone', error, isDoubtful };
  return { kind: 'refused', error: error instanceof Error ? error : new Error(String(error)), isDoubtful };
}

function fenced(batch: Batch, error: FencedError, isDoubtful: boolean): Outcome {
  return { kind: 'fenced', shards: error.shards.length > 0 ? error.shards : batch.shards, isDoubtful };
}
