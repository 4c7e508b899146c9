/** The Timeline entry of one lifecycle event (Alert Group chapter §5.1). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { LifecycleEvent } from '../lifecycle.ts';
import type { LifecycleEventName } from '../model.ts';
import type { GroupContext } from './machine-types.ts';
import { contextOf, type StartedGroup, statusOf } from './state.ts';
import { completeDetails, type LifecycleEntry, type StepDetails } from './timeline.ts';
import { sentOf } from './timers.ts';
import type { TimelineKind } from './transitions.ts';

export interface EntryInput {
  readonly id: PublicId;
  readonly event: LifecycleEvent;
  readonly kind: TimelineKind;
  /** Null for `created`. */
  readonly before: StartedGroup | null;
  readonly after: StartedGroup;
  readonly details: StepDetails;
}

export function entryOf({ id, event, kind, before, after, details }: EntryInput): LifecycleEntry {
  const { name, loudness, mentions, sequence, at, actor } = event;
  const common = { id, at, actor, event: name, loudness, mentions, sequence };
  switch (kind) {
    case 'status': {
      const { replacedLabel: _, ...told } = completeDetails(details);
      const { owner, snooze } = contextOf(after);
      const ownerBefore = before && contextOf(before).owner;
      return {
        ...common,
        ...told,
        kind,
        fromStatus: before && statusOf(before),
        toStatus: statusOf(after),
        owner,
        previousOwner: ownerBefore && ownerBefore.id !== owner?.id ? ownerBefore : null,
        snoozeUntil: snooze?.until ?? null,
      };
    }
    case 'alerts':
      return { ...common, ...completeDetails(details), kind };
    case 'notes':
      return { ...common, kind, body: details.note?.body ?? '' };
    case 'timers':
      return { ...common, kind, ...noticesOf(name, contextOf(after), before && contextOf(before)) };
    case 'system':
      return { ...common, kind, systemEvent: 'moved_to_default_route' };
    default:
      throw new Error(`no transition records an entry of the kind ${kind}`);
  }
}

/** Which notice it was, or how many one event stands for. */
function noticesOf(event: LifecycleEventName, after: GroupContext, before: GroupContext | null) {
  const sent = sentOf(after);
  const isNotice = event === 'ack_timeout' || event === 'reminder';
  const missed = event === 'notices_missed' && before ? sent - sentOf(before) : null;
  return { noticeNumber: isNotice ? sent : null, missedCount: missed };
}
