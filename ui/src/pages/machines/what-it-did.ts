/** What came of the messages that an Alert Group was given. Pure. */
import type { TimelineEntry } from '../../api/shapes.ts';

interface Dated {
  readonly at: string;
}

/**
 * The Timeline entries that a message led to: both bear the moment of its turn. Empty when it led to none; null when that
 * is not known, because the message is older than the entries at hand.
 * @param entries the newest first
 * @param complete whether there are no older ones
 */
export function entriesOf<Entry extends Dated = TimelineEntry>(
  message: Dated,
  entries: readonly Entry[],
  complete: boolean,
): readonly Entry[] | null {
  const told = entries.filter(({ at }) => at === message.at);
  if (told.length > 0 || complete) return told;
  const oldest = entries.at(-1);
  return oldest !== undefined && Date.parse(message.at) > Date.parse(oldest.at) ? [] : null;
}
