import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';

/**
 * The engine's interface to a kind of actor: how its state is made, stored and changed. State is opaque to the engine.
 *
 * @typeParam State   the machine's snapshot: small (kilobytes), replaced and never mutated
 * @typeParam Rows    what the actor owns besides: lists that grow, loaded once per activation, mutated in place by
 *                    `receive` and described to storage through the turn's records
 * @typeParam Message everything the actor accepts
 */
export interface ActorDefinition<State, Rows, Message> {
  readonly kind: string;
  /** Number of the snapshot's shape; raise it with every change and teach {@link migrate} the way from the old one. */
  readonly schema: number;
  /** Turns a persisted snapshot of an older schema into the present one. */
  migrate(persisted: unknown, from: number): unknown;
  /** The state of an actor that was never stored. */
  start(key: string): State;
  /** From what {@link persist} gave. */
  restore(persisted: unknown): State;
  /** JSON for the row in `actors`. */
  persist(state: State): unknown;
  /** Rows of an actor that was never stored, or that owns none. */
  emptyRows(key: string): Rows;
  /** How much memory the actor holds, in rows; the host passivates by this. At least 1. */
  weight(state: State, rows: Rows): number;
  /**
   * Looks up a turn's inputs from outside the actor, before the turn. Null when nothing is needed (the
   * usual case, and the fast one). Reads committed data only; `receive` must cope with an answer that is a moment old.
   * @param following the messages queued behind this one, in order: one look-up may serve all of them
   */
  prepare?(
    actor: Actor<State, Rows>,
    message: Message,
    following?: Iterable<ActorMessage>,
  ): Promise<unknown> | null;
  /**
   * Applies one message. Pure except for `rows`: all its effects are in the returned {@link Turn}.
   * A thrown error is a defect: the message is set aside and the actor reloaded.
   */
  receive(actor: Actor<State, Rows>, message: Message, env: TurnEnv): Turn<State>;
  /**
   * Whether the turn of a message takes long to store: it is then committed apart from the others, which go on meanwhile.
   * Must be cheap: it is called for every message. Absent: none is large.
   */
  isLarge?(message: Message): boolean;
  /** Writes the number that the commit drew for a turn with `claim` into the state. */
  numbered?(state: State, number: number): State;
}

export interface Actor<State, Rows> {
  readonly self: Address;
  readonly state: State;
  readonly rows: Rows;
}

/** A turn's inputs from outside. */
export interface TurnEnv {
  readonly now: Micros;
  /** Who sent the message; null when it came from outside (HTTP, a wake-up, ingestion). */
  readonly from: Address | null;
  /** The result of {@link ActorDefinition.prepare}; undefined when there is none. */
  readonly prepared: unknown;
  /** Random bytes; seeded in the simulation. */
  random(size: number): Uint8Array;
}

/** The result of one message. Everything except `performs` and `reply` is committed in one transaction. */
export interface Turn<State> {
  /** The same object as before when nothing changed; the actor's row is then left alone. */
  readonly state: State;
  /** When the actor wants {@link WAKE} next; null for never. Committed with the state. */
  readonly wakeAt: Micros | null;
  readonly sends: readonly Send[];
  /** Rows to write with the commit. Meaning and SQL belong to storage; the engine only carries them. */
  readonly records: readonly RecordedEffect[];
  /** Side effects after the commit: outbound calls, hints. Performed at most once. */
  readonly performs: readonly PerformedEffect[];
  /** Answer to an `ask`, given after the commit. */
  readonly reply?: unknown;
  /** Asks the commit for the next number of the gapless counter; {@link ActorDefinition.numbered} receives it. */
  readonly claim?: true;
}

export interface Send {
  readonly to: Address;
  readonly message: ActorMessage;
  /**
   * The sender knows that the receiver was never stored: it is not looked for. Should it be stored after all, the
   * commit is refused with a conflict and the next try loads it.
   */
  readonly isNew?: true;
}

/** Every message is plain JSON with a type. */
export interface ActorMessage {
  readonly type: string;
}

export interface RecordedEffect {
  readonly type: string;
}

export interface PerformedEffect {
  readonly type: string;
}

/** The message an actor gets when its `wakeAt` has come. */
export const WAKE = { type: 'wake' } as const;

// biome-ignore lint/suspicious/noExplicitAny: a registry holds definitions of unrelated type parameters
export type AnyActorDefinition = ActorDefinition<any, any, any>;
