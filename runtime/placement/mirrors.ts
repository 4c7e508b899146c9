import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Member, memberText } from './coordination.ts';
import { RECORD_EVERY } from './lease-times.ts';
import type { LeasedPlacement } from './leased.ts';
import type { ReplicaRecords } from './replica-records.ts';

export interface MirrorsDeps {
  readonly placement: Pick<LeasedPlacement, 'picture' | 'onMembers'>;
  readonly records: Pick<ReplicaRecords, 'live'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Mirrors {
  /**
   * Whether some replica that lives by its record has no lease: it is cut off, so that nobody hears its signals and it
   * hears none. What it writes has to be looked for in the database until its record lapses (operations §5.5 rule 2).
   */
  areNeeded(): boolean;
  stop(): void;
}

/** Compares the records of replicas with the leases, now and then and whenever members come and go. */
export function createMirrors({ placement, records, clock, log }: MirrorsDeps): Mirrors {
  let live: readonly Member[] = [];
  let timer: Timer | null = null;
  let isStopped = false;
  const look = async (): Promise<void> => {
    timer?.cancel();
    try {
      live = await records.live(clock.now());
    } catch (error) {
      log('store_read_failed', { what: 'replicas', error: String(error) });
    }
    // Another look may have been under way.
    timer?.cancel();
    if (!isStopped) timer = clock.after(RECORD_EVERY, () => void look());
  };
  const stopListening = placement.onMembers(() => void look());
  return {
    areNeeded() {
      const leased = new Set(placement.picture()?.replicas.map(memberText));
      return live.some((member) => !leased.has(memberText(member)));
    },
    stop() {
      isStopped = true;
      stopListening();
      timer?.cancel();
    },
  };
}
