/** A change of status as it is logged and measured after the commit. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { EventActor } from '../model.ts';
import type { StatusChanged } from './effects.ts';
import { contextOf, type StartedGroup, statusOf } from './state.ts';
import type { StepDetails } from './timeline.ts';

export interface RecordedStep {
  readonly groupId: PublicId;
  /** Null for `created`. */
  readonly before: StartedGroup | null;
  readonly after: StartedGroup;
  readonly actor: EventActor;
  readonly details: StepDetails;
  /** Of the step, µs. */
  readonly at: Micros;
}

/** Null for a step that left the status as it was. */
export function statusChange({
  groupId,
  before,
  after,
  actor,
  details,
  at,
}: RecordedStep): StatusChanged | null {
  const from = before && statusOf(before);
  const to = statusOf(after);
  if (from === to) return null;
  const { routeId, startedAt, reopenCount, firstAcknowledgedAt } = contextOf(after);
  const earlier = before && contextOf(before);
  const isFirst = firstAcknowledgedAt !== null && earlier?.firstAcknowledgedAt === null;
  return {
    type: 'group.status_changed',
    groupId,
    routeId,
    from,
    to,
    reason: details.reason ?? null,
    transport: actor.kind === 'system' ? null : actor.transport,
    reopened: earlier !== null && reopenCount > earlier.reopenCount,
    timeToAcknowledge: isFirst ? at - startedAt : null,
    timeToResolve: to === 'resolved' ? at - startedAt : null,
  };
}
