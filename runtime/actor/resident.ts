import { channel } from 'node:diagnostics_channel';
import type { Micros, Timer } from '../clock.ts';
import { type Address, addressText } from './address.ts';
import type { Actor, ActorMessage, AnyActorDefinition, Turn, TurnEnv } from './definition.ts';
import { followTransitions, machineValue, takenTransitions } from './machine.ts';
import { RECENT, RecentMessages } from './recent.ts';
import type { ActorWrite, Asker, Receipt } from './store.ts';

const EMPTY: Envelope[] = [];

/** First in, first out; made for being short. Holds no array while it is empty. */
class Mailbox {
  #items: Envelope[] = EMPTY;
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  peek(): Envelope | undefined {
    return this.#items[this.#head];
  }

  /** The messages behind the first one, in order. */
  *following(): Generator<ActorMessage> {
    for (let index = this.#head + 1; index < this.#items.length; index++) yield this.#items[index]!.message;
  }

  push(envelope: Envelope): void {
    if (this.#items === EMPTY) this.#items = [];
    this.#items.push(envelope);
  }

  shift(): Envelope | undefined {
    const envelope = this.#items[this.#head];
    if (envelope === undefined) return undefined;
    this.#head++;
    if (this.#head === this.#items.length) this.#clear();
    else if (this.#head >= 64 && this.#head * 2 >= this.#items.length) this.#compact();
    return envelope;
  }

  /** Puts a message back in front of all others. */
  unshift(envelope: Envelope): void {
    if (this.#items === EMPTY) this.#items = [];
    if (this.#head > 0) this.#items[--this.#head] = envelope;
    else this.#items.unshift(envelope);
  }

  /** Takes out the messages that came from actors of the batch under way, in order, and keeps the others. */
  takeSends(): Envelope[] {
    const taken: Envelope[] = [];
    const kept: Envelope[] = [];
    for (const envelope of this.takeAll()) (envelope.isExternal ? kept : taken).push(envelope);
    if (kept.length > 0) this.#items = kept;
    return taken;
  }

  all(): readonly Envelope[] {
    return this.#items.slice(this.#head);
  }

  takeAll(): Envelope[] {
    const all = this.#items.slice(this.#head);
    this.#clear();
    return all;
  }

  #clear(): void {
    this.#items = EMPTY;
    this.#head = 0;
  }

  #compact(): void {
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }
}

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

/** A turn as it is made, before its commit: without what the message said, and without what the actor keeps. */
export interface TurnMade {
  readonly self: Address;
  /** Type of the message. */
  readonly message: string;
  readonly from: Address | null;
  /** State of the machine afterwards, as XState writes it. */
  readonly value: unknown;
  /** Events that the machine took. */
  readonly events: readonly string[];
}

/** Where a developer's tool in this process listens to {@link TurnMade}. */
export const TURNS = channel('tocsin:turn');

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
  /** How many messages in the mailbox came from actors of the batch being built. */
  sends = 0;
  /** Unfinished batches with a turn of this actor. */
  pins = 0;
  /** The latest batch with a turn of this actor. */
  touchedBy = 0;
  /** What the latest of those batches will write. */
  write: PendingWrite | null = null;
  /** Waits in the queue of actors with something to do. */
  queued = false;
  /**
   * Until it ends the actor takes no turn, and what others send it goes through the inbox: the message at the head waits
   * for a write conflict to pass, or a large turn is committed apart.
   */
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
    if (this.phase === 'loading' || this.phase === 'preparing') return false;
    return this.pins === 0 && this.mailbox.size === 0 && this.rest === null;
  }

  /** How many messages wait here and nowhere else: those from the inbox stay in it until they are committed. */
  get waiting(): number {
    return this.mailbox.all().filter(({ origin, settled }) => origin !== 'inbox' && !settled).length;
  }

  /** Runs a turn of a batch that it was touched by, and remembers what it did for whoever looks into the actor. */
  turn({ message, from }: Envelope, env: TurnEnv): Turn<unknown> {
    followTransitions(this.self.kind);
    const turn = this.kind.definition.receive(this, message, env);
    const value = machineValue(turn.state);
    const taken = takenTransitions();
    this.recent.note({ at: env.now, batch: this.touchedBy, type: message.type, from, value, taken, turn });
    if (TURNS.hasSubscribers) {
      const events = taken.map(({ eventType }) => eventType).filter((event) => event !== '');
      TURNS.publish({ self: this.self, message: message.type, from, value, events } satisfies TurnMade);
    }
    return turn;
  }

  /** What was looked up for the next message held for the state before the latest turn. */
  forgetPrepared(): void {
    const next = this.mailbox.peek();
    if (next === undefined || next.message.type === RECENT.type) return;
    next.prepared = undefined;
    next.isPrepared = false;
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

/** The row that a batch writes for one actor: its state after the batch's last turn. */
export class PendingWrite implements ActorWrite {
  readonly resident: Resident;
  readonly expectedVersion: number;
  state: unknown;
  wakeAt: Micros | null;
  readonly #from: unknown;

  /** @param before its state before the first turn of the batch */
  constructor(resident: Resident, before: unknown) {
    this.resident = resident;
    this.expectedVersion = resident.version;
    this.#from = resident.version === 0 ? undefined : machineValue(before);
    this.state = resident.state;
    this.wakeAt = resident.wakeAt;
  }

  get address(): Address {
    return this.resident.self;
  }

  get shard(): number {
    return this.resident.shard;
  }

  get schema(): number {
    return this.resident.kind.definition.schema;
  }

  states(): { readonly from: unknown; readonly to: unknown } {
    return { from: this.#from, to: machineValue(this.state) };
  }

  persist(): unknown {
    return this.resident.kind.definition.persist(this.state);
  }
}

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
  /**
   * Its batch failed before: it shares one with messages of this retry group alone, and what it sends goes through the inbox.
   * Null for a message that never failed.
   */
  retryGroup: number | null = null;
  /** It or what it sent threw before. */
  hasThrown = false;
  /** How many commits with nothing but this turn were refused, write conflicts aside. */
  refusals = 0;
  /** How many of them met a write conflict. */
  conflicts = 0;
  /** It is large, and was not stored apart from others. */
  isReturned = false;
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

/** Whether a message is committed apart from others. */
export function isLarge(definition: AnyActorDefinition, envelope: Envelope): boolean {
  const { asker, retryGroup, condemned, origin } = envelope;
  if (!envelope.isExternal || asker !== null || retryGroup !== null || condemned !== null) return false;
  return origin !== 'wake' && !envelope.isReturned && definition.isLarge?.(envelope.message) === true;
}
