import type { Clock, Timer } from '../clock.ts';
import type { Batch } from './batch.ts';
import type { Committer, Outcome } from './committer.ts';
import type { Gatherer } from './gatherer.ts';
import type { EngineLimits } from './limits.ts';

export interface PipelineDeps {
  readonly gatherer: Gatherer;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  /** Does what follows a commit, or undoes the batch. */
  finished(batch: Batch, outcome: Outcome): void;
}

/**
 * One commit at a time, and one batch gathering on top of it. A batch commits as soon as the one before is stored when
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

  /** Looks for work as soon as the caller is done, so that what comes in one go is gathered in one go. */
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
    const { gatherer } = this.#deps;
    gatherer.run();
    while (this.#committing === null && this.#mayClose()) {
      void this.#commit(gatherer.batch);
      gatherer.restart();
      gatherer.run();
    }
    if (this.#committing === null && gatherer.batch.turns === 0) this.#onIdle?.();
  }

  #mayClose(): boolean {
    const { gatherer, clock, limits } = this.#deps;
    const { batch } = gatherer;
    if (batch.turns === 0 || this.#keepsDistance(batch)) return false;
    if (gatherer.isWaitingForReceivers() && !batch.overdue) {
      batch.closing = true;
      batch.timer ??= clock.after(limits.closeWait, () => {
        batch.overdue = true;
        this.schedule();
      });
      return false;
    }
    gatherer.spillRest();
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
