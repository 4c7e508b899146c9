import type { Micros } from '../clock.ts';
import type { Member } from './coordination.ts';

/** Somebody who says that it leads. */
export interface LeaderRecord extends Member {
  readonly refreshedAt: Micros;
}

/**
 * What the records of replicas in the database say about who lives. Placement asks them when there is no other place to
 * meet (operations §5.5 rule 3), so both answers err on the side of a replica that may still act: it counts as alive
 * until its record was not refreshed for `RECORD_LAPSES`.
 */
export interface ReplicaRecords {
  /** Members whose record is fresh, by id. @throws {StoreUnavailableError} */
  live(now: number): Promise<readonly Member[]>;
  /** Members whose record is fresh and says that they lead. @throws {StoreUnavailableError} */
  leaders(now: number): Promise<readonly LeaderRecord[]>;
  /** Shards whose owner has no fresh record, or that never had one; ascending. @throws {StoreUnavailableError} */
  orphans(now: number): Promise<readonly number[]>;
}
