import type { Micros } from '../clock.ts';
import type { Address } from './address.ts';
import type { ActorMessage, RecordedEffect } from './definition.ts';

/**
 * What the engine needs from durable storage. Implemented by Postgres (storage/) and, for the simulation, in memory with
 * injected faults. Small on purpose: every method works on whole batches.
 */
export interface ActorStore {
  /** Loads states and owned rows of many actors at once. Actors never stored are absent from the answer. */
  load(addresses: readonly Address[]): Promise<Map<string, LoadedActor>>;
  /**
   * Writes a batch atomically and durably, or throws and writes nothing.
   * `bind` is called inside the transaction, after the counter was raised and before any write is read, with one
   * number for each of `batch.claims`. After {@link StoreUnavailableError} the same batch is offered again: its
   * versions ensure that it is stored once, and `bind` may then be called a second time.
   * @throws {FencedError} an epoch in the batch is no longer the newest of its shard
   * @throws {ReceiptGoneError} a receipt in the batch was used up before
   * @throws {OutdatedError} the configuration that the turns used has changed; it was read again if possible
   * @throws {ConflictError} a row is not as the batch expected; a retry after a reload may succeed
   * @throws {StoreUnavailableError} the database cannot be reached; the batch may or may not be stored
   */
  commit(batch: CommitBatch, bind: (numbers: readonly number[]) => void): Promise<void>;
  /**
   * Undelivered inbox messages for the shards, oldest first, all as of one moment.
   * @param known numbers of messages to leave out
   * @param passedOver actors, as `addressText` writes them, of which no message is wanted
   */
  inbox(
    shards: readonly number[],
    known: readonly number[],
    limit: number,
    passedOver: readonly string[],
  ): Promise<InboxMessage[]>;
  /** Actors of the shards whose wake-up is due, earliest first. */
  due(shards: readonly number[], now: Micros, limit: number): Promise<DueActor[]>;
  /** The earliest wake-up of the shards, or null. */
  nextWake(shards: readonly number[]): Promise<Micros | null>;
  /** Puts messages that no actor sent into the inbox, in order. @throws {StoreUnavailableError} they may be stored or not */
  post(messages: readonly PostedMessage[]): Promise<void>;
  /** Deletes and returns the replies for a member. If the result does not arrive, the replies are lost. */
  takeReplies(askedBy: string): Promise<StoredReply[]>;
  /** The newest epochs of some shards. */
  epochs(shards: readonly number[]): Promise<ShardEpoch[]>;
}

export interface LoadedActor {
  readonly version: number;
  readonly schema: number;
  /** What {@link ActorDefinition.persist} wrote. */
  readonly persisted: unknown;
  readonly wakeAt: Micros | null;
  /** The actor's own rows, in the shape its definition works with; undefined when the kind owns none. */
  readonly rows: unknown;
}

/** One transaction's worth of turns. */
export interface CommitBatch {
  /** Epochs under which the committer believes to own the shards it touches. */
  readonly epochs: readonly ShardEpoch[];
  /** Actors that claim a number, in the order in which numbers are assigned. */
  readonly claims: readonly Address[];
  /**
   * By key of the actor: the numbers that the previous commit assigned. Turns of this batch may have run before that, so
   * that their records lack them.
   */
  readonly drawnBefore: ReadonlyMap<string, number>;
  /** Version of the configuration when the first turn of the batch ran; null without turns. */
  readonly decidedWith: number | null;
  readonly writes: readonly ActorWrite[];
  /** Durable messages used up by this batch. */
  readonly consumed: readonly Receipt[];
  /** Messages to actors elsewhere, in order. */
  readonly sends: readonly OutgoingMessage[];
  readonly records: readonly RecordedEffect[];
  /** Replies to asks of other members that this batch applied. */
  readonly replies: readonly StoredReply[];
  /** A large turn, committed beside other batches: it takes long and must block them as little as possible. */
  readonly isLarge: boolean;
}

/** A caller in another process that waits for the reply to a message. */
export interface Asker {
  /** The member that asked. */
  readonly askedBy: string;
  readonly askId: string;
  /** The caller waits until then. */
  readonly expiresAt: Micros;
}

export interface StoredReply extends Pick<Asker, 'askedBy' | 'askId'> {
  readonly outcome: ReplyOutcome;
}

/** The reply of a turn, or why there is none: the message failed, or it expired before its turn. */
export type ReplyOutcome =
  | { readonly reply: unknown }
  | { readonly error: string }
  | { readonly expired: true };

export interface PostedMessage {
  readonly to: Address;
  readonly shard: number;
  readonly message: ActorMessage;
  /** Null when no caller waits for a reply. */
  readonly asker: Asker | null;
}

export interface ShardEpoch {
  readonly shard: number;
  readonly epoch: number;
}

export interface ActorWrite {
  readonly address: Address;
  readonly shard: number;
  /** 0 for an actor that has no row yet. The row is written with `expectedVersion + 1`. */
  readonly expectedVersion: number;
  readonly schema: number;
  readonly wakeAt: Micros | null;
  /**
   * States of its machine as `machineValue` gives them: before the batch, undefined when it was not stored, and after.
   */
  states(): { readonly from: unknown; readonly to: unknown };
  /** Serialises the state; called after numbers are bound. */
  persist(): unknown;
}

export interface OutgoingMessage {
  readonly to: Address;
  readonly shard: number;
  readonly from: Address | null;
  readonly message: ActorMessage;
}

export interface InboxMessage {
  readonly seq: number;
  readonly to: Address;
  readonly from: Address | null;
  readonly message: ActorMessage;
  readonly asker: Asker | null;
}

export interface DueActor {
  readonly address: Address;
  readonly wakeAt: Micros;
}

/**
 * Proof that a message exists durably outside the actor. Deleting it is part of the receiver's commit, which is
 * what makes processing exactly-once. `inbox` rows are the engine's own; other kinds belong to storage.
 */
export type Receipt =
  | { readonly kind: 'inbox'; readonly seq: number }
  | { readonly kind: 'snapshot'; readonly seq: number; readonly receivedAt: Micros };

/** A newer owner exists for a shard in the batch. The batch changed nothing; its actors must be discarded. */
export class FencedError extends Error {
  override readonly name = 'FencedError';
  /** The shards that were lost; empty when the store cannot tell, which counts as all shards of the batch. */
  readonly shards: readonly number[];

  constructor(message?: string, shards: readonly number[] = []) {
    super(message);
    this.shards = shards;
  }
}

/** Some row changed under the batch, or a uniqueness rule refused it. */
export class ConflictError extends Error {
  override readonly name: string = 'ConflictError';
}

/** The turns used configuration that has changed since. Run again, they use the stored one. */
export class OutdatedError extends ConflictError {
  override readonly name: string = 'OutdatedError';
}

/** Durable messages of the batch no longer exist: an earlier commit used them up. The engine forgets them. */
export class ReceiptGoneError extends ConflictError {
  override readonly name = 'ReceiptGoneError';
  readonly receipts: readonly Receipt[];

  constructor(receipts: readonly Receipt[]) {
    super('receipts were used up before');
    this.receipts = receipts;
  }
}

/** No answer from the database. The operation in flight may or may not be stored. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}
