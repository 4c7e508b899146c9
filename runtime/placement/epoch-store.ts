import type { ShardEpoch } from '../actor/index.ts';

/** The epochs of shards, kept where commits check them. */
export interface EpochStore {
  /**
   * Raises the epochs of the shards by one and answers with them; from then on older ones cannot commit.
   * @param owner who owns the shards from now on, as `memberText` writes it
   */
  raise(shards: readonly number[], owner: string): Promise<readonly ShardEpoch[]>;
  /** The newest epoch of every shard. */
  newest(): Promise<readonly ShardEpoch[]>;
  /** Shards whose epoch that owner raised last, ascending. */
  ownedBy(owner: string): Promise<readonly number[]>;
}
