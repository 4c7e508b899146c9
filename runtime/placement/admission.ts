import type { Clock, Monotonic } from '../clock.ts';
import { CoordinationUnavailableError, DuplicateReplicaError, type Member } from './coordination.ts';
import { LEASE_TTL, LOOK_EVERY } from './lease-times.ts';

export interface AdmissionDeps {
  readonly me: Member;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  beat(): Promise<void>;
  isStopped(): boolean;
}

/**
 * Resolves with the first beat that is confirmed, when the member is stopped, or when there is nowhere to meet: then it
 * begins as the others go on, and may be left shards that nobody acts for.
 * @throws {Error} another process runs under this id
 */
export async function admission({ me, clock, monotonic, beat, isStopped }: AdmissionDeps): Promise<void> {
  // The lease of a process that was killed under this id may not have lapsed yet.
  const patience = monotonic() + 2 * LEASE_TTL;
  const loneliness = monotonic() + LEASE_TTL;
  while (!isStopped()) {
    try {
      return await beat();
    } catch (error) {
      const isTaken = error instanceof DuplicateReplicaError;
      if (!isTaken && !(error instanceof CoordinationUnavailableError)) throw error;
      if (isTaken && monotonic() > patience) {
        throw new Error(`another process runs as ${me.id}: give every replica an SVC_REPLICA_ID of its own`);
      }
      if (!isTaken && monotonic() > loneliness) return;
      await new Promise<void>((resolve) => clock.after(LOOK_EVERY, resolve));
    }
  }
}
