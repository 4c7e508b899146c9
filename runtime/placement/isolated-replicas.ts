/** Finds replicas that are alive by their record but have no lease: their signals do not arrive, so what they write is polled (operations §5.5 rule 2). */
import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Member, memberText } from './coordination.ts';
import { RECORD_EVERY } from './lease-times.ts';
import type { LeasedPlacement } from './leased.ts';
import type { ReplicaRecords } from './replica-record.ts';

export interface IsolatedReplicasDeps {
  readonly placement: Pick<LeasedPlacement, 'picture' | 'onMembers'>;
  readonly records: Pick<ReplicaRecords, 'live'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface IsolatedReplicas {
  /**
   * Whether a replica is alive by its record but has no lease: it is cut off from Redis and neither sends nor receives
   * signals. What it writes has to be polled in the database until its record lapses (operations §5.5 rule 2).
   */
  any(): boolean;
  stop(): void;
}

/** Compares the records of replicas with the leases, periodically and whenever the members change. */
export function createIsolatedReplicas({
  placement,
  records,
  clock,
  log,
}: IsolatedReplicasDeps): IsolatedReplicas {
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
    // Another read may have set it meanwhile.
    timer?.cancel();
    if (!isStopped) timer = clock.after(RECORD_EVERY, () => void look());
  };
  const stopListening = placement.onMembers(() => void look());
  return {
    any() {
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

/** Calls back when a replica is gone, whether it stopped, died or was cut off. Returns the way to stop. */
export function whenGone(
  placement: Pick<LeasedPlacement, 'picture' | 'onMembers'>,
  listener: () => void,
): () => void {
  const present = () => new Set(placement.picture()?.replicas.map(memberText));
  let known = present();
  return placement.onMembers(() => {
    const before = known;
    known = present();
    if ([...before].some((member) => !known.has(member))) listener();
  });
}
