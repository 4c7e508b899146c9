import type { Clock, Micros } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Address } from './address.ts';
import { type ActorMessage, type RecordedEffect, WAKE } from './definition.ts';
import type { InboxReader } from './inbox.ts';
import type { Envelope, Resident } from './resident.ts';
import type { Receipt } from './store.ts';
import { UnavailableError } from './system.ts';
import type { Wakeups } from './wakeups.ts';

export interface MessageCompletionDeps {
  readonly waiters: Waiters;
  readonly clock: Clock;
  readonly log: Log;
  readonly setAside: SetAside;
  inbox(): InboxReader;
  wakeups(): Wakeups;
}

/** Completes messages: finished, refused, or set aside. */
export class MessageCompletion {
  readonly #deps: MessageCompletionDeps;

  constructor(deps: MessageCompletionDeps) {
    this.#deps = deps;
  }

  /** The effects of the message are stored. */
  finish(envelope: Envelope): void {
    const { condemned, origin, receipt } = envelope;
    const { waiters } = this.#deps;
    if (condemned !== null && origin === 'wake') this.#deps.wakeups().leaveAlone(envelope.resident.self);
    if (condemned !== null && origin === 'ask') waiters.refuse(envelope, condemned);
    else waiters.finish(envelope);
    if (origin === 'inbox' && receipt !== null) this.#deps.inbox().released(receipt.seq);
    this.#endWake(envelope);
  }

  /** This process will not apply the message. */
  refuse(envelope: Envelope, error: Error): void {
    const { origin, receipt } = envelope;
    this.#deps.waiters.refuse(envelope, error);
    if (origin === 'inbox' && receipt !== null) this.#deps.inbox().released(receipt.seq);
    this.#endWake(envelope);
  }

  /** Setting the message aside failed, too: it stays stored, and this process does not read it again. */
  giveUp(envelope: Envelope, error: Error): void {
    this.#deps.waiters.refuse(envelope, error);
  }

  /** The actor ignored its wake-up; it gets no other one for 60 s. */
  wakeIgnored(actor: Address, why: string): void {
    this.logSetAside(actor, WAKE.type, why);
    this.#deps.wakeups().leaveAlone(actor);
  }

  /** The stored actor cannot be read: its wake-up waits, while asks are refused at once. */
  unreadable(resident: Resident, error: Error): void {
    for (const envelope of resident.mailbox.all()) {
      if (envelope.origin === 'ask') this.refuse(envelope, new UnavailableError(error.message));
    }
    if (resident.wake === null) return;
    this.#deps.wakeups().leaveAlone(resident.self);
    this.refuse(resident.wake, error);
  }

  /** What is recorded with the receipt of a message that is set aside. */
  recordsOf(envelope: Envelope, error: Error): readonly RecordedEffect[] {
    const { receipt, message, from, resident, asker } = envelope;
    // The caller gets the error instead.
    if (receipt === null || asker !== null) return [];
    if (receipt.kind !== 'inbox') return this.#deps.setAside(resident.self, message, receipt, error);
    const record: DeadLetterRecorded = {
      type: 'dead_letter.recorded',
      at: this.#deps.clock.now(),
      to: resident.self,
      from,
      message,
      error: String(error),
    };
    return [record];
  }

  logSetAside({ kind, key }: Address, message: string, error: string): void {
    this.#deps.log('message_set_aside', { kind, actor: key, message, error });
  }

  #endWake(envelope: Envelope): void {
    if (envelope.resident.wake !== envelope) return;
    envelope.resident.wake = null;
    this.#deps.wakeups().settled();
  }
}

/** Callers outside the engine that wait for the outcome of a message. Asks have a deadline. */
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
    // A caller may drop the promise: the durable row stays, so nothing is lost.
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

/**
 * Says what is recorded, in the commit that uses up the receipt, about a message that no actor could apply: its
 * `receive` threw twice, or its commit was refused three times on its own for another reason than a write conflict.
 */
export type SetAside = (
  to: Address,
  message: ActorMessage,
  receipt: Receipt,
  error: Error,
) => readonly RecordedEffect[];

/** What is recorded of an inbox message that was set aside. */
export interface DeadLetterRecorded extends RecordedEffect {
  readonly type: 'dead_letter.recorded';
  readonly at: Micros;
  readonly to: Address;
  readonly from: Address | null;
  readonly message: ActorMessage;
  readonly error: string;
}
