/** The public face of the actor engine. Nobody outside this folder imports past it. */
export { type Address, addressText, parseAddress, SHARDS, shardAmong, shardOf } from './address.ts';
export {
  type Actor,
  type ActorDefinition,
  type ActorMessage,
  type AnyActorDefinition,
  type PerformedEffect,
  type RecordedEffect,
  type Send,
  type Turn,
  type TurnEnv,
  WAKE,
} from './definition.ts';
export { createActorSystem } from './host.ts';
export { type EngineLimits, memoryWithin } from './limits.ts';
export {
  begin,
  machineValue,
  type NamedTransition,
  persistSnapshot,
  restoreSnapshot,
  step,
} from './machine.ts';
export type { DeadLetterRecorded } from './message-completion.ts';
export { createActorMetrics } from './metrics.ts';
export type { Placement } from './ownership.ts';
export type { CountedEffect, RecentMessage, Told } from './recent.ts';
export { TURNS, type TurnMade } from './resident.ts';
export {
  type ActorStore,
  type ActorWrite,
  type Asker,
  type CommitBatch,
  ConflictError,
  type DueActor,
  FencedError,
  type InboxMessage,
  type LoadedActor,
  OutdatedError,
  type OutgoingMessage,
  type PostedMessage,
  type Receipt,
  ReceiptGoneError,
  type ReplyOutcome,
  type ShardEpoch,
  type StoredReply,
  StoreUnavailableError,
} from './store.ts';
export {
  type ActorSystem,
  BusyError,
  type Peers,
  type Performer,
  UnavailableError,
} from './system.ts';
