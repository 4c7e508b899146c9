/** Context and events of the machine of an Alert Group. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Principal, ResolveReason, UserActor, UserRef } from '../model.ts';
import type { RowName } from './transitions.ts';

export interface Snooze {
  /** Null: without end. */
  readonly until: Micros | null;
  readonly by: Principal;
  /** The group was Urgent when the Snooze was set, so a rise does not end it. */
  readonly whileUrgent: boolean;
  /** Keys of the Alerts that joined since. */
  readonly joined: readonly string[];
}

/** Progress of the Reminders of one ownership (alert-groups §8.2). */
export interface Reminders {
  readonly sent: number;
  /** The Owner has not answered since the last one. */
  readonly pending: boolean;
  /** Some Destination delivered the last one. */
  readonly delivered: boolean;
  /** Delivered and unanswered ones in a row, the last one not counted yet. */
  readonly unanswered: number;
  /** Sequence of the last one's event; 0 before the first. */
  readonly sequence: number;
}

/** The status that a system resolution ended and that a Reopen restores. */
export type Prior =
  | { readonly status: 'firing' }
  | { readonly status: 'acknowledged'; readonly owner: UserRef; readonly reminders: Reminders }
  | { readonly status: 'snoozed'; readonly snooze: Snooze };

export type Resolution =
  | { readonly by: 'user'; readonly actor: Principal }
  | { readonly by: 'system'; readonly reason: ResolveReason; readonly reasonText: string | null };

export interface GroupContext {
  /** The present Route. */
  readonly routeId: PublicId;
  /** The Route whose key made the group; differs from {@link routeId} once the group was moved. */
  readonly originalRouteId: PublicId;
  readonly startedAt: Micros;
  readonly owner: UserRef | null;
  readonly snooze: Snooze | null;
  readonly prior: Prior | null;
  readonly resolvedAt: Micros | null;
  readonly resolution: Resolution | null;
  readonly reopenDeadline: Micros | null;
  readonly graceDeadline: Micros | null;
  readonly reopenCount: number;
  readonly firstAcknowledgedAt: Micros | null;
  /** Absent in groups that an older version made. */
  readonly firstAcknowledgedBy?: PublicId | null;
  readonly firstPublishedAt: Micros | null;
  /** A Storm of the Route holds back the Publication: neither ack timeout nor Reminders run. */
  readonly held: boolean;
  /** Some Destination accepted the group while it was held, or before. */
  readonly acceptedWhileHeld: boolean;
  /** When the next ack notice or Reminder is due; null while neither runs. */
  readonly noticeAt: Micros | null;
  /** Ack notices since the group began to fire. */
  readonly noticesSent: number;
  /** Of the present ownership; null without an Owner. */
  readonly reminders: Reminders | null;
}

export interface GroupInput {
  readonly at: Micros;
  readonly routeId: PublicId;
}

/** Timer settings of the present Route's policy at the time of a step, in µs. */
export interface TimerPolicy {
  /** The first interval; null when switched off. */
  readonly ackTimeout: Micros | null;
  /** Null when switched off. */
  readonly reminders: { readonly first: Micros; readonly cap: Micros } | null;
  readonly autoUnacknowledge: boolean;
}

interface At {
  readonly at: Micros;
}

/** Everything that moves the machine. `at` is the time of the step, µs. */
export type GroupEvent = Happening & { readonly timers: TimerPolicy };

/** An event before the step adds the policy of the present Route. */
export type Happening =
  | (At & { readonly type: 'annotate' | 'continue' | 'replace' | 'join'; readonly alerts: readonly string[] })
  | (At & { readonly type: 'severity_rises' })
  | (At & { readonly type: 'rises_to_urgent'; readonly removesAcknowledgement: boolean })
  | (At & {
      readonly type: 'alerts_resolve';
      /** How many Alerts fire afterwards. */
      readonly remaining: number;
      readonly reason: ResolveReason;
      readonly reasonText: string | null;
      /** Of the present Route, µs. */
      readonly reopenWindow: Micros;
    })
  | (At & {
      readonly type: 'reopen';
      /** Receipt of the Snapshot, or the end of the Grace period that brought the Alerts. */
      readonly receivedAt: Micros;
      readonly alerts: readonly string[];
      /** Whether the Owner it may return to is an active User. */
      readonly ownerActive: boolean;
    })
  | (At & { readonly type: 'acknowledge'; readonly by: UserActor })
  | (At & { readonly type: 'note'; readonly by: Principal })
  | (At & { readonly type: 'unacknowledge' | 'unresolve' | 'unsnooze' | 'still_on_it' })
  | (At & { readonly type: 'resolve'; readonly by: Principal; readonly gracePeriod: Micros })
  | (At & {
      readonly type: 'snooze';
      readonly by: Principal;
      readonly until: Micros | null;
      readonly urgent: boolean;
    })
  | (At & { readonly type: 'snooze_end' | 'grace_end' | 'window_end' | 'unclaim' })
  /** `sequence`: of the event that a Reminder would be. */
  | (At & { readonly type: 'notice_due'; readonly sequence: number })
  | (At & { readonly type: 'reminder_delivered'; readonly sequence: number })
  | (At & { readonly type: 'publish' | 'hold' | 'release' | 'downtime' })
  | (At & { readonly type: 'owner_released'; readonly userId: PublicId })
  | (At & { readonly type: 'move'; readonly toRouteId: PublicId });

/** Which row of the table a step took. */
export interface RowTaken {
  readonly type: 'row';
  readonly row: RowName;
}
