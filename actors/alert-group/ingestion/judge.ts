/**
 * What one entry of a Snapshot means for one Alert: rows F1 to F8 and R1 to R5 (ingestion §6.2). Pure decisions with a
 * named answer; `firings.ts` acts on them.
 */
import type { Micros } from '../../../runtime/clock.ts';
import type { AlertHistory } from '../../model.ts';

/** An Alert as far as entries are judged by it. */
export interface Judged extends AlertHistory {
  readonly lastSeenAt: Micros;
}

export interface Hearing {
  /** Receipt of the Snapshot, µs. */
  readonly receivedAt: Micros;
  readonly duplicateWindow: Micros;
  readonly late: boolean;
}

export type FiringVerdict =
  /** F1, F6, F8: a new firing; `endedStart` is what it remembers of the one before. */
  | { readonly row: 'F1' | 'F6' | 'F8'; readonly is: 'new'; readonly endedStart: Micros | null }
  /** F2, F4: the known firing; it keeps its start, which may be newer than the entry's. */
  | { readonly row: 'F2' | 'F4'; readonly is: 'same' }
  | { readonly row: 'F3'; readonly is: 'continued' }
  /** F5, and F2 or F4 after a newer Snapshot: the listing is recorded, nothing else changes. */
  | { readonly row: 'F2' | 'F4' | 'F5'; readonly is: 'listed' }
  /** F7, and F8 received before the resolution: an old copy. */
  | { readonly row: 'F7' | 'F8'; readonly is: 'ignored' };

export type ResolvedVerdict =
  | { readonly row: 'R1'; readonly is: 'dropped' }
  | { readonly row: 'R2' | 'R3' | 'R4' | 'R5'; readonly is: 'nothing' }
  | { readonly row: 'R5'; readonly is: 'resolved'; readonly endedStart: Micros };

/** Judges a firing entry that starts at `startsAt`. */
export function judgeFiring(alert: Judged | null, startsAt: Micros, hearing: Hearing): FiringVerdict {
  if (alert === null) return { row: 'F1', is: 'new', endedStart: null };
  return alert.state === 'firing'
    ? judgeWhileFiring(alert, startsAt, hearing)
    : judgeAfterResolution(alert, startsAt, hearing);
}

function judgeWhileFiring(alert: Judged, startsAt: Micros, { receivedAt }: Hearing): FiringVerdict {
  const row = rowWhileFiring(alert, startsAt);
  // Starts order firings independently of the order in which Snapshots arrive.
  if (row === 'F3') return { row, is: 'continued' };
  if (row === 'F5' || receivedAt < alert.lastSeenAt) return { row, is: 'listed' };
  return { row, is: 'same' };
}

function rowWhileFiring(alert: Judged, startsAt: Micros): 'F2' | 'F3' | 'F4' | 'F5' {
  if (startsAt === alert.startsAt) return 'F2';
  if (startsAt > alert.startsAt) return 'F3';
  return alert.endedStart === null || alert.endedStart < startsAt ? 'F4' : 'F5';
}

function judgeAfterResolution(alert: Judged, startsAt: Micros, hearing: Hearing): FiringVerdict {
  const { endedStart, resolvedAt } = alert;
  if (endedStart === null || resolvedAt === null || startsAt > endedStart) {
    return { row: 'F6', is: 'new', endedStart };
  }
  const { receivedAt, duplicateWindow } = hearing;
  if (alert.resolvedBy === 'own_entry' && receivedAt < resolvedAt + duplicateWindow) {
    return { row: 'F7', is: 'ignored' };
  }
  return receivedAt > resolvedAt ? { row: 'F8', is: 'new', endedStart: null } : { row: 'F8', is: 'ignored' };
}

/** Judges a resolved entry of the firing that started at `startsAt`. */
export function judgeResolved(alert: Judged | null, startsAt: Micros, hearing: Hearing): ResolvedVerdict {
  if (alert === null) return { row: 'R1', is: 'dropped' };
  if (alert.state === 'resolved') return { row: 'R2', is: 'nothing' };
  if (alert.endedStart !== null && startsAt <= alert.endedStart) return { row: 'R3', is: 'nothing' };
  if (startsAt < alert.startsAt) return { row: 'R4', is: 'nothing' };
  const { receivedAt, duplicateWindow, late } = hearing;
  const newEnough = receivedAt > alert.lastSeenAt - (late ? 0 : duplicateWindow);
  if (!newEnough) return { row: 'R5', is: 'nothing' };
  return { row: 'R5', is: 'resolved', endedStart: startsAt };
}
