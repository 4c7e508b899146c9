/**
 * What placement needs of Redis (operations §5.2); the simulations use a model of it. It holds who should own which shard;
 * the epochs in the database decide who may. Everything in it may vanish at any moment and is written again by the next
 * beats.
 */

/** One run of a replica: a restart under the same id is another member. */
export interface Member {
  readonly id: string;
  /** Random, new with every start. */
  readonly boot: string;
}

/** What a replica sends with every beat. */
export interface Beat extends Member {
  readonly version: string;
  /** It is about to stop: it gets no more shards, does not lead, and hands its shards over. */
  readonly isDraining: boolean;
  /** Shards that it owns as far as it knows. A grant of one that vanished is written again. */
  readonly holds: readonly number[];
}

export interface LiveReplica extends Member {
  readonly version: string;
  readonly isDraining: boolean;
}

/** The assigned owner of each shard: the id of a replica, or null before there was one. */
export type Targets = readonly (string | null)[];

/** The result of a beat. */
export interface Picture {
  /** Members whose lease has not lapsed, this one included, by id. */
  readonly replicas: readonly LiveReplica[];
  readonly leader: Member | null;
  /** Counts assignments; 0 while there is none. */
  readonly generation: number;
  /** By shard; null while there is no assignment. */
  readonly targets: Targets | null;
  /** Shards that this member may act for once it has raised their epochs. */
  readonly granted: readonly number[];
}

export interface Coordination {
  /**
   * One round, atomically:
   * 1. renews this member's lease for {@link LEASE_TTL};
   * 2. takes the Leader lease when nobody has it, renews it when it is this member's; a draining member gives it up;
   * 3. grants shards to this member: those it holds whose grant is missing or names a member without a lease, and, when
   *    it does not drain, those whose target it is and whose grant is missing or names a member without a lease.
   * @throws {DuplicateReplicaError} another boot of the same id has a lease
   * @throws {CoordinationUnavailableError} no answer; the round may or may not have happened
   */
  beat(beat: Beat): Promise<Picture>;
  /**
   * Replaces the assignment, when this member leads and nobody replaced it since `generation`.
   * @returns whether it was replaced
   * @throws {CoordinationUnavailableError}
   */
  assign(me: Member, generation: number, targets: Targets): Promise<boolean>;
  /** Takes back grants of this member. @throws {CoordinationUnavailableError} */
  release(me: Member, shards: readonly number[]): Promise<void>;
  /** Takes back everything of this member: its lease, its grants, its lead. @throws {CoordinationUnavailableError} */
  leave(me: Member): Promise<void>;
  /**
   * Calls back when a member came, drains or left, when the assignment was replaced and when grants were taken back, and
   * whenever such calls may have been missed (a new connection). It is a hint to beat now.
   */
  onChange(listener: () => void): () => void;
}

/** No answer from Redis. */
export class CoordinationUnavailableError extends Error {
  override readonly name = 'CoordinationUnavailableError';
}

/** A process with this SVC_REPLICA_ID is running. */
export class DuplicateReplicaError extends Error {
  override readonly name = 'DuplicateReplicaError';
}

/** How a member is written where a text is needed (grants, the owner of a shard). */
export function memberText({ id, boot }: Member): string {
  return `${id}/${boot}`;
}
