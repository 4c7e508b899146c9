import type { Micros, Timer } from '../clock.ts';
import { type Address, addressText } from './address.ts';
import type { PendingWrite } from './batch.ts';
import type { Actor, AnyActorDefinition } from './definition.ts';
import type { Envelope } from './envelope.ts';
import { Mailbox } from './mailbox.ts';
import { RecentMessages } from './recent.ts';

/** A kind of actor and those of it that are in memory, by key. */
export interface Kind {
  readonly definition: AnyActorDefinition;
  readonly residents: Map<string, Resident>;
}

/**
 * `cold`: nothing loaded. `loading`: asked from the store. `ready`: can take a turn. `preparing`: its next message
 * waits for outside knowledge.
 */
export type Phase = 'cold' | 'loading' | 'ready' | 'preparing';

/** One actor in memory: its newest state, committed or not, and its mailbox. */
export class Resident implements Actor<unknown, unknown> {
  readonly self: Address;
  readonly kind: Kind;
  readonly shard: number;
  /** The epoch under which this process owns the actor. */
  epoch: number;
  state: unknown = undefined;
  rows: unknown = undefined;
  wakeAt: Micros | null = null;
  /** Version of the row once everything under way is committed. */
  version = 0;
  weight = 1;
  phase: Phase = 'cold';
  /** Counts activations; an answer that belongs to an earlier one is thrown away. */
  activation = 0;
  readonly mailbox = new Mailbox();
  /** What it was given since it was loaded. */
  readonly recent = new RecentMessages();
  /** How many messages in the mailbox came from actors of the gathering batch. */
  sends = 0;
  /** Unfinished batches with a turn of this actor. */
  pins = 0;
  /** The latest batch with a turn of this actor. */
  touchedBy = 0;
  /** What the latest of those batches will write. */
  write: PendingWrite | null = null;
  /** Waits in the queue of actors with something to do. */
  queued = false;
  /** Runs while the message at the head waits for a write conflict to pass: until then the actor takes no turn. */
  rest: Timer | null = null;
  /** A wake-up is in the mailbox or in a batch under way. */
  wake: Envelope | null = null;
  /** Out of the table for good: the shard was lost. */
  detached = false;
  /** Neighbours in the order of use; kept by {@link Residents}. */
  newer: Resident | null = null;
  older: Resident | null = null;

  constructor(self: Address, kind: Kind, shard: number, epoch: number) {
    this.self = self;
    this.kind = kind;
    this.shard = shard;
    this.epoch = epoch;
  }

  get text(): string {
    return addressText(this.self);
  }

  /** Whether the actor can leave memory with nothing lost. */
  get isIdle(): boolean {
    return (
      this.phase !== 'loading' && this.phase !== 'preparing' && this.pins === 0 && this.mailbox.size === 0
    );
  }

  /** Throws away what is in memory and uncommitted; the mailbox stays. */
  discard(): void {
    this.activation++;
    this.phase = 'cold';
    this.state = undefined;
    this.rows = undefined;
    this.write = null;
    this.touchedBy = 0;
    this.recent.clear();
  }
}
