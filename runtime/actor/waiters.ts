import type { Clock, Micros } from '../clock.ts';
import type { Envelope } from './envelope.ts';
import type { Receipt } from './store.ts';
import { UnavailableError } from './system.ts';

/** Those outside who wait for what becomes of a message; asks are bounded in time. */
export class Waiters {
  readonly #clock: Clock;
  /** By number of the receipt. */
  readonly #deliveries = new Map<number, Promise<void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the reply to an ask, until `deadline`. */
  ask(envelope: Envelope, deadline: Micros): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timeout = this.#clock.after(deadline - this.#clock.now(), () =>
        this.refuse(envelope, new UnavailableError(`no answer from ${envelope.resident.text} in time`)),
      );
      envelope.waiter = { resolve, reject, timeout };
    });
  }

  /** The wait for a durable message that is in memory already. */
  delivery(receipt: Receipt): Promise<void> | undefined {
    return this.#deliveries.get(receipt.seq);
  }

  /** Waits until a durable message is used up. */
  delivered(envelope: Envelope, receipt: Receipt): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      envelope.waiter = { resolve: () => resolve(), reject, timeout: null };
    });
    // Nothing is lost when nobody looks: the durable row stays.
    promise.catch(() => undefined);
    this.#deliveries.set(receipt.seq, promise);
    return promise;
  }

  /** The message's effects are durable. */
  finish(envelope: Envelope): void {
    this.#end(envelope)?.resolve(envelope.reply);
  }

  refuse(envelope: Envelope, error: Error): void {
    this.#end(envelope)?.reject(error);
  }

  #end(envelope: Envelope): Envelope['waiter'] {
    const { waiter } = envelope;
    envelope.settled = true;
    if (waiter === null) return null;
    envelope.waiter = null;
    if (envelope.origin === 'deliver' && envelope.receipt !== null) {
      this.#deliveries.delete(envelope.receipt.seq);
    }
    waiter.timeout?.cancel();
    return waiter;
  }
}
