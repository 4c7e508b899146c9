/** How transactions stay out of each other's way: advisory locks, fences of shards, and one order of row locks. */
/** Keys of the advisory locks that Tocsin takes in its database. */
export const LOCKS = {
  /** Held while the schema changes and while first rows are ensured (operations §2.2, §3). */
  migration: 7_463_001,
  /** Held by the one process of an installation without Redis (operations §5.1). */
  singleReplica: 7_463_002,
  /** Held while a partition is made or dropped. */
  partitions: 7_463_003,
  /** First half of the keys of {@link fencesOf}. */
  fence: 7_463_004,
  /** Held shared by a save of sealed values, alone by a change of the active master key, until they commit. */
  sealing: 7_463_005,
  /** Held by whoever takes the Role, or the account, of an Admin, until it is committed. */
  admins: 7_463_006,
  /** Held while the counts of actors in their states are replaced by their sums or counted again. */
  actorStates: 7_463_007,
  /** First half of the keys of messenger accounts: held while one is linked to a User. */
  messengerAccount: 7_463_010,
} as const;

/** How many fences guard the shards. Few, so that a commit that touches every shard takes few locks. */
const FENCES = 16;

/**
 * The fences in front of some shards, in the order in which everybody takes them. A commit holds them shared while it
 * relies on an epoch; whoever raises an epoch takes them alone. Unlike row locks they write nothing.
 */
export function fencesOf(shards: readonly number[]): number[] {
  return [...new Set(shards.map((shard) => shard % FENCES))].sort((a, b) => a - b);
}

/**
 * Rows that commits of two replicas may both lock are written in one order everywhere, so that one waits for the other
 * and never both. By code units: the order only has to be the same at every replica.
 */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
