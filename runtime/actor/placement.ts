import type { ShardEpoch } from './store.ts';

/** Says which shards this process acts for, and under which epoch. */
export interface Placement {
  /** The epoch held for a shard, or null when another process owns it. */
  epochOf(shard: number): number | null;
  /** All shards held now. */
  owned(): readonly ShardEpoch[];
  /** Calls back when shards were won or lost. Returns the way to stop listening. */
  onChange(listener: () => void): () => void;
  /** The engine tells: it has followed every change so far, and nothing of lost shards is under way any more. */
  followed(): void;
  /**
   * The engine tells: a commit under these epochs was refused, somebody else has raised them. Listeners are called only
   * after this returns.
   */
  fenced(lost: readonly ShardEpoch[]): void;
}
