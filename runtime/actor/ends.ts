import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Address } from './address.ts';
import { type RecordedEffect, WAKE } from './definition.ts';
import type { Envelope } from './envelope.ts';
import type { InboxReader } from './inbox.ts';
import type { Resident } from './resident.ts';
import type { DeadLetterRecorded, SetAside } from './set-aside.ts';
import { UnavailableError } from './system.ts';
import type { Waiters } from './waiters.ts';
import type { Wakeups } from './wakeups.ts';

export interface EndsDeps {
  readonly waiters: Waiters;
  readonly clock: Clock;
  readonly log: Log;
  readonly setAside: SetAside;
  inbox(): InboxReader;
  wakeups(): Wakeups;
}

/** How messages end: done, refused, or set aside. */
export class Ends {
  readonly #deps: EndsDeps;

  constructor(deps: EndsDeps) {
    this.#deps = deps;
  }

  /** What there was to do about the message is stored. */
  finish(envelope: Envelope): void {
    const { condemned, origin, receipt } = envelope;
    const { waiters } = this.#deps;
    if (condemned !== null && origin === 'wake') this.#deps.wakeups().leaveAlone(envelope.resident.self);
    if (condemned !== null && origin === 'ask') waiters.refuse(envelope, condemned);
    else waiters.finish(envelope);
    if (origin === 'inbox' && receipt !== null) this.#deps.inbox().consumed(receipt.seq);
    this.#endWake(envelope);
  }

  /** Nothing will be done about the message in this process. */
  refuse(envelope: Envelope, error: Error): void {
    const { origin, receipt } = envelope;
    this.#deps.waiters.refuse(envelope, error);
    if (origin === 'inbox' && receipt !== null) this.#deps.inbox().released(receipt.seq);
    this.#endWake(envelope);
  }

  /** Not even setting it aside was possible: it stays stored, and this process does not look at it again. */
  giveUp(envelope: Envelope, error: Error): void {
    this.#deps.waiters.refuse(envelope, error);
  }

  /** The actor will not act on its wake-up; for a while it gets no other. */
  wakeIgnored(actor: Address, why: string): void {
    this.logSetAside(actor, WAKE.type, why);
    this.#deps.wakeups().leaveAlone(actor);
  }

  /** What is stored of the actor cannot be read, so its wake-up has to wait with it. Who asks need not. */
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
    // Who asked is told.
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
