/** What is committed of one actor of any kind, for people who look at it. Implemented in storage. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';

export interface ActorStateReader {
  /** Null when nothing was ever stored of it. */
  read(actor: Address): Promise<StoredActor | null>;
}

export interface StoredActor {
  /** Id of the replica that took the actor's shard last; null while none has it. */
  readonly replica: string | null;
  /** As XState writes it: a name, or names within names; never the context. Null before its machine has begun. */
  readonly state: unknown;
  /** Of the shape of what is stored. */
  readonly schema: number;
  /** Counts commits of the actor. */
  readonly version: number;
  readonly wakeAt: Micros | null;
}
