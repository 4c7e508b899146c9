/** When the service counts as having been away, and for how long it recovers (operations §6, internal-alerts §7). */
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Gap } from '../integration/machine.ts';

/** So long nobody may have led without anybody being told. */
export const TOLERATED: Micros = 2 * MINUTE;

/**
 * A longer time between two signs of life of a Leader is an outage, in which a sender's signals may have been refused.
 * A takeover fits in, and so does a Leader of the release before, which gives a sign every 30 s.
 */
export const OUTAGE_FROM: Micros = 35 * SECOND;

/** Senders repeat what fires within this time after a downtime, as far as nothing else is known of them. */
const RECOVERY: Micros = 15 * MINUTE;
const LONGEST_RECOVERY: Micros = HOUR;

/** A time in which the service was away. */
export interface Downtime {
  readonly startedAt: Micros;
  /** When somebody led again. */
  readonly endedAt: Micros;
  /** Until then data may be incomplete. */
  readonly recoversUntil: Micros;
}

/** What a new Leader knows of the time before. Instants are µs. */
export interface LastSigns {
  /** The last sign of life of whoever led before; null on a new database. */
  readonly markedAt: Micros | null;
  /** The last sign of life of another replica that was running at that moment; null when there is none. */
  readonly othersAliveAt: Micros | null;
  /** The longest learned repeat interval of any Integration; null when none is learned. */
  readonly longestRepeat: Micros | null;
}

/** The downtime that ends now, or null when there was none. */
export function downtimeEnding(now: Micros, signs: LastSigns): Downtime | null {
  const { markedAt, othersAliveAt, longestRepeat } = signs;
  if (markedAt === null) return null;
  const startedAt = Math.max(markedAt, othersAliveAt ?? markedAt);
  if (now - startedAt <= TOLERATED) return null;
  const recovery = longestRepeat === null ? RECOVERY : Math.min(longestRepeat, LONGEST_RECOVERY);
  return { startedAt, endedAt: now, recoversUntil: now + recovery };
}

/** The outages up to now, oldest first, with the one that may be ending. */
export function outagesUntil(
  now: Micros,
  { markedAt, outages }: { readonly markedAt: Micros | null; readonly outages: readonly Gap[] },
): readonly Gap[] {
  const isEnding = markedAt !== null && now - markedAt > OUTAGE_FROM;
  return isEnding ? [...outages, { from: markedAt, to: now }] : outages;
}

/** What everybody, or every Admin, should know right now (internal-alerts §6). */
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
