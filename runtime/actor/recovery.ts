import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Batch } from './batch.ts';
import type { BatchBuilder } from './batch-builder.ts';
import type { EngineLimits } from './limits.ts';
import type { ActorMetrics } from './metrics.ts';
import type { Queue } from './queue.ts';
import { RECENT } from './recent.ts';
import type { Envelope, Resident } from './resident.ts';
import { ConflictError, OutdatedError, ReceiptGoneError } from './store.ts';
import { elsewhere, UnavailableError } from './system.ts';

/** After this many refused commits with nothing but one turn, its message is set aside. Write conflicts never count. */
const MOST_REFUSALS = 3;

/** Retry group of messages that are to be set aside: they share batches until one of those is refused. */
const CONDEMNED = 0;

export interface RecoveryDeps {
  readonly queue: Queue;
  readonly batchBuilder: BatchBuilder;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly log: Log;
  readonly metrics: ActorMetrics;
  /** The message's effects are durable already. */
  finish(envelope: Envelope): void;
  /** Setting the message aside failed, too: it stays stored, and this process does not read it again. */
  giveUp(envelope: Envelope, error: Error): void;
  /** The actor has rested and goes on with its mailbox. */
  rested(resident: Resident): void;
  /** This process will not apply the message. */
  refuse(envelope: Envelope, error: Error): void;
}

/**
 * Undoes batches. The actors they touched are discarded and loaded again. Messages from outside return to the front of
 * their mailboxes, in order; messages between actors are sent again by the repeated turns.
 */
export class Recovery {
  readonly #deps: RecoveryDeps;
  #lastRetryGroup = CONDEMNED;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /** Undoes the batch being built and starts another. */
  abandonOpenBatch(): void {
    const { batchBuilder } = this.#deps;
    this.revert(batchBuilder.batch);
    batchBuilder.restart();
  }

  /** Undoes a batch of which nothing is stored. Of two batches the later one is undone first. */
  revert(batch: Batch): void {
    const { queue } = this.#deps;
    batch.timer?.cancel();
    for (const receiver of batch.receivers) {
      for (const envelope of queue.takeSends(receiver)) envelope.settled = true;
    }
    for (const resident of batch.touched) {
      resident.pins--;
      resident.discard();
    }
    for (const envelope of batch.externals.toReversed()) this.#putBack(envelope);
    for (const resident of batch.touched) queue.offer(resident);
    for (const envelope of batch.externals) queue.offer(envelope.resident);
  }

  /**
   * Refuses the asks and tells of a batch that may be stored: nothing would stop them from taking effect twice.
   * Messages with a receipt and wake-ups are deduplicated, so they are tried again.
   */
  giveUpUnsure(batch: Batch): void {
    for (const envelope of batch.externals) {
      if (envelope.origin !== 'ask' && envelope.origin !== 'tell') continue;
      this.#deps.refuse(envelope, new UnavailableError('the database did not say whether it is stored'));
    }
  }

  /** `receive` threw: the message is tried once more, alone, and then set aside. */
  broken(envelope: Envelope, error: Error): void {
    this.#blame(envelope, error);
    this.abandonOpenBatch();
  }

  /** `prepare` failed. The message had no turn, so the batch is undone only when the message was sent within it. */
  unprepared(envelope: Envelope, error: Error): void {
    if (envelope.settled) return;
    this.#blame(envelope, error);
    if (envelope.isExternal) this.#deps.queue.offer(envelope.resident);
    else this.abandonOpenBatch();
  }

  /**
   * The store refused the batch. Its halves are retried as separate batches, down to single messages, so that one bad
   * message does not block the others. A single message is retried after a pause for a write conflict, and set aside
   * after a few refusals for any other reason. A batch that was decided with outdated configuration is repeated whole.
   */
  refused(batch: Batch, error: Error): void {
    if (error instanceof OutdatedError) {
      this.revert(batch);
      return;
    }
    const { externals } = batch;
    const [first] = externals;
    if (first !== undefined && externals.length === 1 && batch.retryGroup !== null) {
      if (isPassing(error)) this.#rest(first);
      else this.#count(first, error);
    } else this.#split(externals);
    this.revert(batch);
  }

  /** A batch of one message becomes one group: the next refusal then counts against that message. */
  #split(externals: readonly Envelope[]): void {
    const middle = Math.ceil(externals.length / 2);
    for (const half of [externals.slice(0, middle), externals.slice(middle)]) {
      const retryGroup = ++this.#lastRetryGroup;
      for (const envelope of half) envelope.retryGroup = retryGroup;
    }
  }

  /** Receipts of the batch were used up by an earlier commit: those messages are done, the others are retried. */
  gone(batch: Batch, error: ReceiptGoneError): void {
    const gone = new Set(error.receipts.map((receipt) => `${receipt.kind} ${receipt.seq}`));
    const done = batch.externals.filter(
      ({ receipt }) => receipt !== null && gone.has(`${receipt.kind} ${receipt.seq}`),
    );
    if (done.length === 0) {
      this.refused(batch, error);
      return;
    }
    for (const envelope of done) this.#deps.finish(envelope);
    this.revert(batch);
  }

  /** A write conflict is no failure (ingestion §4.2): the message waits at the head of its mailbox, other actors go on. */
  #rest(envelope: Envelope): void {
    const { clock, limits, rested } = this.#deps;
    const { resident } = envelope;
    const pause = Math.min(limits.retryFirst * 2 ** envelope.conflicts, limits.conflictMost);
    envelope.conflicts++;
    resident.rest = clock.after(pause, () => {
      resident.rest = null;
      rested(resident);
    });
  }

  #count(envelope: Envelope, error: Error): void {
    if (++envelope.refusals < MOST_REFUSALS) return;
    if (envelope.condemned === null) this.#condemn(envelope, error);
    else this.#deps.giveUp(envelope, error);
  }

  #putBack(envelope: Envelope): void {
    if (envelope.settled) return;
    if (envelope.message.type !== RECENT.type) {
      envelope.prepared = undefined;
      envelope.isPrepared = false;
    }
    if (envelope.resident.detached) {
      this.#deps.refuse(envelope, elsewhere(envelope.resident.self));
    } else this.#deps.queue.putBack(envelope);
  }

  #blame(envelope: Envelope, error: Error): void {
    const { root } = envelope;
    if (envelope.isExternal && root.hasThrown) {
      this.#condemn(envelope, error);
      return;
    }
    root.hasThrown = true;
    root.retryGroup = ++this.#lastRetryGroup;
  }

  #condemn(envelope: Envelope, error: Error): void {
    const { self } = envelope.resident;
    envelope.condemned = error;
    envelope.retryGroup = CONDEMNED;
    envelope.refusals = 0;
    this.#deps.metrics.setAside.inc();
    this.#deps.log('message_set_aside', {
      kind: self.kind,
      actor: self.key,
      message: envelope.message.type,
      error: String(error),
    });
  }

  /** Discards actors whose state in memory may be wrong although all their turns are stored. */
  reload(residents: readonly Resident[]): void {
    for (const resident of residents) {
      if (resident.detached) continue;
      resident.discard();
      this.#deps.queue.offer(resident);
    }
  }
}

/** Whether the same turn may succeed later. A receipt that is gone never comes back. */
function isPassing(error: Error): boolean {
  return error instanceof ConflictError && !(error instanceof ReceiptGoneError);
}
