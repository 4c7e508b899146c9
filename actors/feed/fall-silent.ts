/** The turn of a feed that its Integration found silent. */
import { begin, step } from '../../runtime/actor/index.ts';
import { feedMachine } from './machine.ts';
import type { FeedSilent } from './messages.ts';
import { silenceOf, wasHeardSince } from './silence.ts';
import { tellTruncation } from './tell-integration.ts';
import {
  type FeedActor,
  type FeedTurn,
  integrationIdOf,
  NOTHING,
  partsOf,
  presencesChanged,
  turn,
  unchanged,
} from './turn.ts';

/**
 * Its Integration heard nothing of it for too long: presences are stale, which their homes are told as of the check, and
 * a cut list counts no longer. When a newer Snapshot was faster, the Integration may have forgotten that it is cut.
 */
export function fallSilent(actor: FeedActor, message: FeedSilent): FeedTurn {
  const { state, rows, self } = actor;
  if (wasHeardSince(state, message)) {
    const again = tellTruncation(self.key, begin(feedMachine), state, message.groupKey, message.at);
    return { ...turn(state), sends: again };
  }
  const { parts, stale } = silenceOf(state, rows, message);
  const isCutTooLong = state.value === 'truncated' && message.heardAt < message.cutoff;
  if (stale.length === 0 && !isCutTooLong) return unchanged(state);
  for (const fingerprint of stale) rows.delete(fingerprint);
  return {
    ...turn(step(feedMachine, state, { type: 'silent' }).snapshot),
    sends: partsOf(parts, {
      snapshotId: null,
      receivedAt: message.at,
      late: false,
      integrationId: integrationIdOf(actor),
      feed: self.key,
      groupKey: message.groupKey,
      duplicateWindow: 0,
    }),
    records: stale.length > 0 ? [presencesChanged(actor, [], stale)] : NOTHING,
  };
}
