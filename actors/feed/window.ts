import { MINUTE, type Micros } from '../../runtime/clock.ts';

/** processing.gone_min_absence: how long an Alert must be missed before it counts as gone (ingestion §1). */
export const GONE_MIN_ABSENCE: Micros = 5 * MINUTE;

/** How long a feed relies on what it told before it looks whether the Alerts it lists still fire somewhere. */
export const VERIFICATION_INTERVAL: Micros = 15 * MINUTE;

export type WindowVerdict = 'opens' | 'same' | 'early' | 'late';

/**
 * What a Snapshot is to the duplicate window of its feed (ingestion §6.1).
 * @param start of the current window, null before the first
 */
export function judgeWindow(
  start: Micros | null,
  {
    receivedAt,
    duplicateWindow,
    replayed,
  }: { readonly receivedAt: Micros; readonly duplicateWindow: Micros; readonly replayed: boolean },
): WindowVerdict {
  if (replayed) return 'late';
  if (start === null || receivedAt >= start + duplicateWindow) return 'opens';
  if (receivedAt >= start) return 'same';
  return receivedAt > start - duplicateWindow ? 'early' : 'late';
}
