/** What an Alert Group's turns record and perform, besides the effects that cross slices (`actors/effects.ts`). */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { GroupStatus, Labels, Principal, ResolveReason, SeverityLevel } from '../model.ts';
import type { NoteEntry, TimelineEntry } from './reading/timeline.ts';
import type { GroupAlert } from './rows.ts';

export type GroupRecord =
  | GroupSaved
  | AlertsSaved
  | AlertsSeen
  | TailsAdopted
  | TimelineAdded
  | NoteAdded
  | SlotMoved;

/** The row that lists and pages show. */
export interface GroupSaved extends RecordedEffect {
  readonly type: 'group.saved';
  readonly row: GroupRow;
  /** It was created in this turn or opened again: its Route must not be deleted. */
  readonly opened: boolean;
}

export interface GroupRow {
  readonly id: PublicId;
  /** Null until the commit that assigns it has succeeded. */
  readonly number: number | null;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  readonly routeId: PublicId;
  readonly originalRouteId: PublicId;
  readonly keyHash: string;
  readonly groupLabels: Labels;
  readonly commonLabels: Labels;
  readonly commonAnnotations: Labels;
  /** In order of first appearance. */
  readonly integrationIds: readonly PublicId[];
  readonly severityLevel: SeverityLevel;
  readonly ownerId: PublicId | null;
  readonly snoozedBy: Principal | null;
  /** Null while snoozed: without end. */
  readonly snoozeUntil: Micros | null;
  readonly startedAt: Micros;
  readonly resolvedAt: Micros | null;
  readonly lastChangedAt: Micros;
  readonly resolvedBy: 'user' | 'system' | null;
  readonly resolver: Principal | null;
  readonly resolveReason: ResolveReason | null;
  readonly resolveReasonText: string | null;
  readonly reopenCount: number;
  readonly firingAlertCount: number;
  readonly resolvedAlertCount: number;
  readonly unclaimed: boolean;
  /** When the next ack notice, or Reminder of an acknowledged group, is due; null while none is. */
  readonly nextNoticeAt: Micros | null;
  /** The Owner has not answered the last Reminder. */
  readonly reminderPending: boolean;
  readonly deliveryProblem: boolean;
  /** A person resolved it and tails keep it within reach of Unresolve. */
  readonly inGrace: boolean;
  readonly firstAcknowledgedAt: Micros | null;
  /** Null, too, when it was not kept at the time. */
  readonly firstAcknowledgedBy: PublicId | null;
  readonly firstPublishedAt: Micros | null;
  /** #N of the group a person had resolved when this one fired again. */
  readonly firingAgainAfter: number | null;
  readonly replacedLabel: string | null;
  /** The earliest `startsAt` of its Alerts; null where it is not known. */
  readonly alertsStartedAt: Micros | null;
  /** First safe link of each kind among the Alerts. */
  readonly runbookUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly sourceUrl: string | null;
}

export interface AlertsSaved extends RecordedEffect {
  readonly type: 'alerts.saved';
  readonly groupId: PublicId;
  readonly alerts: readonly GroupAlert[];
}

/** Listed once more and otherwise unchanged. */
export interface AlertsSeen extends RecordedEffect {
  readonly type: 'alerts.seen';
  readonly groupId: PublicId;
  readonly integrationId: PublicId;
  readonly fingerprints: readonly string[];
  readonly at: Micros;
}

/** Recorded by the group that took over tails, about the group that gave them away: "moved to #N". */
export interface TailsAdopted extends RecordedEffect {
  readonly type: 'tails.adopted';
  readonly fromGroupId: PublicId;
  readonly toGroupId: PublicId;
  readonly tails: readonly { readonly integrationId: PublicId; readonly fingerprint: string }[];
}

export interface TimelineAdded extends RecordedEffect {
  readonly type: 'timeline.added';
  readonly groupId: PublicId;
  readonly entry: TimelineEntry;
}

/** A Note is stored separately from the Timeline and kept as long as the group. */
export interface NoteAdded extends RecordedEffect {
  readonly type: 'note.added';
  readonly groupId: PublicId;
  readonly entry: NoteEntry;
}

/** New firings of a Slot go to another Alert Group from now on. */
export interface SlotMoved extends RecordedEffect {
  readonly type: 'slot.moved';
  readonly routeId: PublicId;
  readonly keyHash: string;
  readonly groupId: PublicId;
  /** The group that the Slot must name at present; null when it names none yet. */
  readonly fromGroupId: PublicId | null;
}

/** Counted after the commit: Alerts that stopped firing, and resolves of unknown Alerts (row R1). */
export interface AlertsResolved extends PerformedEffect {
  readonly type: 'alerts.resolved';
  readonly integrationId: PublicId;
  readonly reason: ResolveReason;
  readonly count: number;
}

export interface ResolvesDropped extends PerformedEffect {
  readonly type: 'alerts.resolve_dropped';
  readonly integrationId: PublicId;
  readonly count: number;
}

/** Logged and measured after the commit. */
export interface StatusChanged extends PerformedEffect {
  readonly type: 'group.status_changed';
  readonly groupId: PublicId;
  readonly routeId: PublicId;
  readonly from: GroupStatus | null;
  readonly to: GroupStatus;
  readonly reason: string | null;
  readonly transport: string | null;
  readonly reopened: boolean;
  /** From the start, µs: of the first acknowledgement. Null for every other change. */
  readonly timeToAcknowledge: Micros | null;
  /** From the start, µs: of a resolution. Null for every other change. */
  readonly timeToResolve: Micros | null;
}

export type GroupPerformed = AlertsResolved | ResolvesDropped | StatusChanged;
