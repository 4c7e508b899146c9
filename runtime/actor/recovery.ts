import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Batch } from './batch.ts';
import type { Envelope } from './envelope.ts';
import type { Gatherer } from './gatherer.ts';
import type { EngineLimits } from './limits.ts';
import type { ActorMetrics } from './metrics.ts';
import { elsewhere } from './moved.ts';
import type { Queue } from './queue.ts';
import type { Resident } from './resident.ts';
import { ConflictError, OutdatedError, ReceiptGoneError } from './store.ts';
import { UnavailableError } from './system.ts';

/** After this many refused commits with nothing but one turn, its message is set aside. Write conflicts never count. */
const MOST_REFUSALS = 3;

export interface RecoveryDeps {
  readonly queue: Queue;
  readonly gatherer: Gatherer;
  readonly clock: Clock;
  readonly limits: EngineLimits;
  readonly log: Log;
  readonly metrics: ActorMetrics;
  /** The message's effects are durable already. */
  finish(envelope: Envelope): void;
  /** Not even setting the message aside was possible: it stays stored, and this process leaves it alone. */
  giveUp(envelope: Envelope, error: Error): void;
  /** The actor has rested and goes on with its mailbox. */
  rested(resident: Resident): void;
  /** Nobody here will apply the message. */
  refuse(envelope: Envelope, error: Error): void;
}

/**
 * Undoes batches. The actors they touched are thrown away and loaded again; the messages from outside go back to
 * the front of their mailboxes, in order; the messages between actors come into being anew.
 */
export class Recovery {
  readonly #deps: RecoveryDeps;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /** Undoes the gathering batch and starts another. */
  abandonGathering(): void {
    const { gatherer } = this.#deps;
    this.revert(gatherer.batch);
    gatherer.restart();
  }

  /** Undoes a batch of which nothing is stored. When two have to be undone, the later one first. */
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
   * Gives up the messages of a batch that may yet turn out to be stored, as far as nothing would stop them from
   * having effect twice: those with a receipt and wake-ups can be tried again, others cannot.
   */
  giveUpUnsure(batch: Batch): void {
    for (const envelope of batch.externals) {
      if (envelope.origin !== 'ask' && envelope.origin !== 'tell') continue;
      this.#deps.refuse(envelope, new UnavailableError('the database did not say whether it is stored'));
    }
  }

  /** A message broke its actor: it gets one more try, alone; then it is set aside. */
  broken(envelope: Envelope, error: Error): void {
    this.#blame(envelope, error);
    this.abandonGathering();
  }

  /** A message could not be prepared. It has had no turn, so a batch is undone only when the message came from it. */
  unprepared(envelope: Envelope, error: Error): void {
    if (envelope.settled) return;
    this.#blame(envelope, error);
    if (envelope.isExternal) this.#deps.queue.offer(envelope.resident);
    else this.abandonGathering();
  }

  /**
   * The store refused the batch: its messages are tried again one by one, so that none holds up the others. One that
   * was alone waits when a write conflict is the reason, and is set aside for any other after a few tries. What was
   * only decided too early is decided again at once, and together.
   */
  refused(batch: Batch, error: Error): void {
    if (error instanceof OutdatedError) {
      this.revert(batch);
      return;
    }
    const wasAlone = batch.exclusive;
    for (const envelope of batch.externals) {
      envelope.isolated = true;
      if (!wasAlone) continue;
      if (isPassing(error)) this.#rest(envelope);
      else this.#count(envelope, error);
    }
    this.revert(batch);
  }

  /** Messages of the batch had been used up before: they are done, the others are tried again. */
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

  /** A write conflict is no failure (ingestion §4.2): the message waits at the head of its mailbox, others go on. */
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
    envelope.prepared = undefined;
    envelope.isPrepared = false;
    if (envelope.resident.detached) {
      this.#deps.refuse(envelope, elsewhere(envelope.resident.self));
    } else this.#deps.queue.putBack(envelope);
  }

  #blame(envelope: Envelope, error: Error): void {
    if (envelope.isExternal && envelope.isolated) this.#condemn(envelope, error);
    else envelope.root.isolated = true;
  }

  #condemn(envelope: Envelope, error: Error): void {
    const { self } = envelope.resident;
    envelope.condemned = error;
    envelope.refusals = 0;
    this.#deps.metrics.setAside.inc();
    this.#deps.log('message_set_aside', {
      kind: self.kind,
      actor: self.key,
      message: envelope.message.type,
      error: String(error),
    });
  }

  /** Throws away actors whose newest state cannot be trusted though everything of theirs is stored. */
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
