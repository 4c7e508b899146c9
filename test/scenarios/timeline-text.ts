/** How Timeline entries are written in expectations. */
import type { Json } from '../harness/api.ts';

export interface Timed {
  readonly at: string;
  readonly [field: string]: Json;
}

/** `alerts_added L [new_alerts]`, `ack_timeout 2 L [ack_timeout]`, `notices_missed ×3 L [ack_timeout]`. */
export function eventText(entry: Timed): string {
  const words = [entry.event];
  if (typeof entry.notice_number === 'number') words.push(String(entry.notice_number));
  if (typeof entry.missed_count === 'number') words.push(`×${entry.missed_count}`);
  words.push(entry.loudness === 'loud' ? 'L' : 'Q');
  if (entry.mentions?.length > 0) words.push(`[${entry.mentions.join(', ')}]`);
  return words.join(' ');
}
