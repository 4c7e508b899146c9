/** What everybody, or every Admin, should know right now (internal-alerts §6). */
import type { Micros } from '../../runtime/clock.ts';
import { type Downtime, TOLERATED } from './downtime.ts';

export interface SystemNotice {
  readonly kind: 'recovering_after_downtime' | 'no_replica_leading';
  readonly audience: 'all' | 'admins';
  readonly since: Micros;
  /** Null while nobody knows. */
  readonly until: Micros | null;
}

/** What notices are made of. */
export interface Pulse {
  /** The Leader's last sign of life; null before there was one. */
  readonly markedAt: Micros | null;
  /** The last one; null when there never was any. */
  readonly downtime: Downtime | null;
}

/** The notices of a moment, in the order in which the API lists them. */
export function activeNotices({ markedAt, downtime }: Pulse, now: Micros): readonly SystemNotice[] {
  const notices: SystemNotice[] = [];
  if (isRecovering(downtime, now)) {
    const { endedAt, recoversUntil } = downtime;
    notices.push({
      kind: 'recovering_after_downtime',
      audience: 'all',
      since: endedAt,
      until: recoversUntil,
    });
  }
  if (markedAt !== null && now - markedAt > TOLERATED) {
    notices.push({ kind: 'no_replica_leading', audience: 'admins', since: markedAt, until: null });
  }
  return notices;
}

export function isRecovering(downtime: Downtime | null, now: Micros): downtime is Downtime {
  return downtime !== null && now < downtime.recoversUntil;
}
