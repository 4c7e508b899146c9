import type { Timer } from '../clock.ts';
import type { Address } from './address.ts';
import type { ActorMessage } from './definition.ts';
import type { Resident } from './resident.ts';
import type { Asker, Receipt } from './store.ts';

/** Which way a message came. `send` came from another actor in the batch under way; all others from outside it. */
export type Origin = 'deliver' | 'ask' | 'tell' | 'inbox' | 'wake' | 'send';

/** How the sender of a message learns what became of it. */
export interface Waiter {
  resolve(reply: unknown): void;
  reject(error: Error): void;
  /** Ends the wait of an ask; null for a deliver. */
  readonly timeout: Timer | null;
}

/** A message on its way to one actor, with everything needed to try it again. */
export class Envelope {
  readonly resident: Resident;
  readonly message: ActorMessage;
  readonly from: Address | null;
  readonly origin: Origin;
  readonly receipt: Receipt | null;
  /** The message from outside that led to this one; itself when it came from outside. */
  readonly root: Envelope;
  waiter: Waiter | null = null;
  /** Committed, handed to the inbox, or given up: passed over when it is met in a mailbox. */
  settled = false;
  prepared: unknown = undefined;
  isPrepared = false;
  reply: unknown = undefined;
  /** Run alone, one turn a commit, with what it sends going through the inbox: its batch failed before. */
  isolated = false;
  /** How many commits with nothing but this turn were refused, write conflicts aside. */
  refusals = 0;
  /** How many of them met a write conflict. */
  conflicts = 0;
  /** Who elsewhere waits for the answer. */
  asker: Asker | null = null;
  /** Its asker waits no longer. */
  hasExpired = false;
  /** Why it will never be applied; its durable form is then used up by a commit of its own. */
  condemned: Error | null = null;

  constructor(
    resident: Resident,
    message: ActorMessage,
    from: Address | null,
    origin: Origin,
    receipt: Receipt | null,
    root: Envelope | null,
  ) {
    this.resident = resident;
    this.message = message;
    this.from = from;
    this.origin = origin;
    this.receipt = receipt;
    this.root = root ?? this;
  }

  get isExternal(): boolean {
    return this.root === this;
  }
}
