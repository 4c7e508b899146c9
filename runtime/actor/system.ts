import type { Address } from './address.ts';
import type { ActorMessage, PerformedEffect } from './definition.ts';
import type { Told } from './recent.ts';
import type { Receipt } from './store.ts';

/**
 * What the rest of the service sees of the engine.
 *
 * Turns run one at a time per actor, many actors together. A *batch* collects the turns that are ready, follows the
 * messages they send to actors of this process, and commits all of it in one transaction; the next batch is
 * built while the last one commits. Replies, hints and outbound calls of a batch happen after its commit. When a commit
 * fails, every actor that it or a later batch touched is thrown away and loaded again.
 */
export interface ActorSystem {
  start(): Promise<void>;
  /** Takes no new work, finishes the batches under way, and drops every actor. */
  stop(): Promise<void>;
  /**
   * Hands over a message that is already durable (`receipt`); resolves when its effects are committed or the message
   * was set aside as poison. Until then the durable row stays, so nothing is lost by not waiting. A second delivery
   * under the same receipt joins the first.
   * @throws {UnavailableError} this process does not own the actor, or stops
   */
  deliver(to: Address, message: ActorMessage, receipt: Receipt): Promise<void>;
  /**
   * Sends a message and waits for the reply, given after the commit. It exists only in memory, unless the actor lives
   * in another process: then it goes through the inbox, for as long as somebody waits.
   * @throws {BusyError} too many requests wait, here or at this actor
   * @throws {UnavailableError} the database or the owner did not answer; the message may or may not have had effect
   */
  ask(to: Address, message: ActorMessage): Promise<unknown>;
  /** Sends a message nobody waits for (a result of an outbound call). Lost with the process; callers recover by state. */
  tell(to: Address, message: ActorMessage): void;
  /**
   * The last 50 messages that an actor was given since it was loaded into memory, the newest first, and how many wait
   * there, from whichever process owns it. One that is not in memory has none.
   * @throws {BusyError} too many requests wait
   * @throws {UnavailableError} nobody owns it, or the owner did not answer
   */
  recent(actor: Address): Promise<Told>;
  /**
   * Whether this process still owns the actor, proven by the database within the last two seconds: to be asked before
   * an outbound call, which a process that was paused must not begin (operations §5.2 rule 2).
   * @throws what the store throws
   */
  stillOwns(actor: Address): Promise<boolean>;
  /** Looks for inbox rows and due wake-ups now instead of at the next chance. */
  poke(): void;
  /** Messages of other processes may wait in the inbox. */
  called(): void;
  /** Answers of other processes may wait. */
  answered(): void;
  /** How many messages wait in memory for a turn; ingestion holds back by this. */
  backlog(): number;
}

/** Runs the effects of committed turns. Must not throw; failures come back as messages. */
export type Performer = (effect: PerformedEffect, from: Address) => void;

/** A bounded queue is full; the caller may try again. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

/** No answer in time. */
export class UnavailableError extends Error {
  override readonly name: string = 'UnavailableError';
}

/** Another process owns the actor. The message had no effect. */
export class MovedError extends UnavailableError {
  override readonly name = 'MovedError';
}

/** How processes reach each other. All of it may get lost: who is called also looks by itself now and then. */
export interface Peers {
  /** The name under which other processes answer this one. */
  readonly me: string;
  /** Messages wait in the inbox of these shards. */
  call(shards: Iterable<number>): void;
  /** Answers wait for these members. */
  answered(members: Iterable<string>): void;
}

/** What a message is refused with whose actor another process owns. */
export function elsewhere({ kind, key }: Address): MovedError {
  return new MovedError(`${kind}/${key} is not in the care of this process`);
}
