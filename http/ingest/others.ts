import type { Signals } from '../../runtime/signals.ts';

/** The other replicas of the installation, as ingestion sees them. */
export interface OtherReplicas {
  /**
   * Tells the owners of shards that Snapshots of theirs are stored, by whatever may get lost: they call `poke` of their
   * ingestion. Never throws. Called once for each commit.
   */
  call(shards: readonly number[]): void;
  /** Whether such calls arrive here now. While they do not, the queue is looked at every second (operations §5.5). */
  readonly signals: Pick<Signals, 'isUp' | 'onState'>;
  /** Whether some replica that lives calls and is not heard: the queue is looked at every second then, too. */
  mirrors(): boolean;
}
