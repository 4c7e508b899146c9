import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Batch } from './batch.ts';
import type { BatchBuilder } from './batch-builder.ts';
import type { Committer, Outcome } from './committer.ts';
import type { EngineLimits } from './limits.ts';
import type { Envelope, Resident } from './resident.ts';
import { ConflictError, StoreUnavailableError } from './store.ts';

export interface PipelineDeps {
  readonly batchBuilder: BatchBuilder;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  /** Does what follows a commit, or undoes the batch. */
  finished(batch: Batch, outcome: Outcome): void;
}

/**
 * One commit at a time, and one batch being built on top of it. A batch commits as soon as the one before is stored when
 * little happens. When much does, commits keep a distance: a small one costs almost as much as a large one, and takes
 * its share of what those who store Snapshots wait for.
 */
export class Pipeline {
  readonly #deps: PipelineDeps;
  #committing: Batch | null = null;
  #isScheduled = false;
  /** While it runs, a batch that may still grow does not commit. */
  #distance: Timer | null = null;
  #onIdle: (() => void) | null = null;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
  }

  get isCommitting(): boolean {
    return this.#committing !== null;
  }

  /** Looks for work as soon as the caller is done, so that what comes in one go is built into one batch. */
  schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.schedule();
    });
  }

  #pump(): void {
    const { batchBuilder } = this.#deps;
    batchBuilder.run();
    while (this.#committing === null && this.#mayClose()) {
      void this.#commit(batchBuilder.batch);
      batchBuilder.restart();
      batchBuilder.run();
    }
    if (this.#committing === null && batchBuilder.batch.turns === 0) this.#onIdle?.();
  }

  #mayClose(): boolean {
    const { batchBuilder, clock, limits } = this.#deps;
    const { batch } = batchBuilder;
    if (batch.turns === 0 || this.#keepsDistance(batch)) return false;
    if (batchBuilder.isWaitingForReceivers() && !batch.overdue) {
      batch.closing = true;
      batch.timer ??= clock.after(limits.closeWait, () => {
        batch.overdue = true;
        this.schedule();
      });
      return false;
    }
    batchBuilder.spillRest();
    batch.timer?.cancel();
    return true;
  }

  #keepsDistance(batch: Batch): boolean {
    return this.#distance !== null && batch.turns < this.#deps.limits.turns;
  }

  #keepDistanceTo(batch: Batch): void {
    const { clock, limits } = this.#deps;
    if (batch.turns < limits.busyTurns) return;
    this.#distance?.cancel();
    this.#distance = clock.after(limits.commitDistance, () => {
      this.#distance = null;
      this.schedule();
    });
  }

  async #commit(batch: Batch): Promise<void> {
    this.#committing = batch;
    this.#keepDistanceTo(batch);
    const outcome = await this.#deps.committer.commit(batch);
    this.#committing = null;
    this.#deps.finished(batch, outcome);
    this.schedule();
  }
}

export interface PreparationDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: EngineLimits;
  /** The actor goes on with its mailbox. */
  ready(resident: Resident): void;
  /** The definition could not prepare the message: a defect. */
  failed(envelope: Envelope, error: Error): void;
}

/** Looks up what messages need to know before their turn, while other actors go on. */
export class Preparation {
  readonly #deps: PreparationDeps;

  constructor(deps: PreparationDeps) {
    this.#deps = deps;
  }

  /** Starts the look-up for the message at the head of the mailbox. True when there is nothing to wait for. */
  start(resident: Resident, envelope: Envelope): boolean {
    const { definition } = resident.kind;
    let pending: Promise<unknown> | null;
    try {
      pending = definition.prepare?.(resident, envelope.message, resident.mailbox.following()) ?? null;
    } catch (error) {
      this.#deps.failed(envelope, error as Error);
      return false;
    }
    if (pending === null) {
      envelope.isPrepared = true;
      return true;
    }
    resident.phase = 'preparing';
    const { activation } = resident;
    pending.then(
      (prepared) => {
        if (resident.activation !== activation) return;
        envelope.prepared = prepared;
        envelope.isPrepared = true;
        this.#resume(resident, activation);
      },
      (error) => this.#refused(envelope, activation, error),
    );
    return false;
  }

  #refused(envelope: Envelope, activation: number, error: unknown): void {
    const { resident } = envelope;
    if (resident.activation !== activation) return;
    if (error instanceof StoreUnavailableError || error instanceof ConflictError) {
      this.#deps.log('store_read_failed', { what: 'preparation', error: String(error) });
      this.#deps.clock.after(this.#deps.limits.retryFirst, () => this.#resume(resident, activation));
      return;
    }
    resident.phase = 'ready';
    this.#deps.failed(envelope, error instanceof Error ? error : new Error(String(error)));
  }

  #resume(resident: Resident, activation: number): void {
    if (resident.activation !== activation) return;
    resident.phase = 'ready';
    this.#deps.ready(resident);
  }
}
