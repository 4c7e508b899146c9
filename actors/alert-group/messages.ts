/** Everything an Alert Group accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { ButtonCommand } from '../../runtime/secrets/signed-tokens.ts';
import type { Language, Way } from '../messages/index.ts';
import type {
  AlertHistory,
  AlertReport,
  Loudness,
  Principal,
  ResolveReason,
  Slot,
  SymbolicMention,
  UserRef,
} from '../model.ts';

export const ALERT_GROUP = 'alert_group';

export function alertGroupAddress(id: PublicId): Address {
  return { kind: ALERT_GROUP, key: id };
}

export type AlertGroupMessage =
  | SnapshotPart
  | TailsHandover
  | GroupCommand
  | IntegrationDeleted
  | OwnerReleased
  | RouteMoved
  | Published
  | NoticeDelivered
  | DeliveryNoted
  | TemplateNoted
  | Downtime
  | HeldByStorm
  | HoldReleased
  | UrgencyQuestion
  | { readonly type: 'wake' };

/**
 * The part of one Snapshot that concerns the Alerts of one Alert Group (ingestion, "who holds what"). Sent by a feed,
 * and forwarded from a former home to the present one. The feed decides what the Snapshot lists; the group decides
 * the effect on each Alert (rows F1 to R5).
 */
export interface SnapshotPart {
  readonly type: 'part';
  /** Null when no Snapshot led to it, but the silence of the feed. */
  readonly snapshotId: PublicId | null;
  /** Receipt of the Snapshot, or the time of the check that found silence, µs. */
  readonly receivedAt: Micros;
  /** Only `resolved` entries of a late Snapshot count. */
  readonly late: boolean;
  readonly integrationId: PublicId;
  /** Key of the feed that speaks. */
  readonly feed: string;
  /** The sender's own name of its group (`groupKey`), shown with the Alerts it lists. */
  readonly groupKey: string;
  /** The Integration's duplicate window, µs. */
  readonly duplicateWindow: Micros;
  readonly firing: readonly FiringEntry[];
  readonly resolved: readonly ResolvedEntry[];
  /** Alerts this feed listed before, ended by a group-wide resolve that does not list them. */
  readonly groupWideResolved: readonly string[];
  /** Alerts that the feed listed and reports as over, in any case. Absent in messages of an older version. */
  readonly withdrawn?: readonly Withdrawal[];
  /** Presences that changed without an entry: missed since, gone or stale here. */
  readonly presences: readonly PresenceChange[];
  /** How often this part was passed on; a guard against a circle. */
  readonly hops: number;
  /** From the built-in Integration: a change of labels is a change of content, like a change of annotations. */
  readonly isInternal?: true;
  /** It takes long to store. */
  readonly isLarge?: true;
}

export interface FiringEntry {
  readonly report: AlertReport;
  /** The Slot for the Alert when it is a new firing without a home. */
  readonly slot: Slot;
  /** Its last firing in another Alert Group, if any. */
  readonly history: AlertHistory | null;
  /**
   * As the feed counts this listing of the Alert: later than all before it, µs. Absent in messages of an older version.
   */
  readonly since?: Micros;
}

export interface ResolvedEntry {
  readonly fingerprint: string;
  readonly startsAt: Micros;
  /** Of a `status: resolved` Snapshot, neither early nor late, that names an older start than its feed listed. */
  readonly isOlderEnd?: true;
}

/** A feed ended its presence of a firing: by a resolved entry, or by a group-wide resolve. */
export interface Withdrawal {
  readonly fingerprint: string;
  /** The listing or miss that is taken back, and all before it, as the feed counts them; a later one stays, µs. */
  readonly since: Micros;
}

export interface PresenceChange {
  readonly fingerprint: string;
  readonly state: 'missed' | 'gone' | 'stale';
  /** Since when, µs. */
  readonly since: Micros;
  /**
   * Of `gone` before a newer start is listed: the older start that the sender's last `status: resolved` named, and the
   * newer one, µs (ingestion §6.2).
   */
  readonly before?: { readonly olderEnd: Micros; readonly nextStart: Micros };
}

/** Alerts that still fire when the Grace period of a person's resolve ends, handed to their new home. */
export interface TailsHandover {
  readonly type: 'tails';
  readonly at: Micros;
  readonly fromGroupId: PublicId;
  /** #N of the group that a person had resolved. */
  readonly fromNumber: number;
  readonly tails: readonly Tail[];
  readonly slot: Slot;
  readonly hops: number;
}

export interface Tail {
  readonly integrationId: PublicId;
  readonly report: AlertReport;
  readonly endedStart: Micros | null;
  readonly lastSeenAt: Micros;
  /** By feed key: whether it lists the Alert, and since when not. */
  readonly feeds: Readonly<Record<string, FeedPresence>>;
}

/** Presence of an Alert in one feed: listed, last reported at `since`, or missed since then, µs. */
export interface FeedPresence {
  readonly state: 'listed' | 'missed' | 'gone' | 'stale';
  readonly since: Micros;
  readonly groupKey: string;
  /** The older start that the feed's `status: resolved` Snapshot of `at` named, until it lists the Alert again, µs. */
  readonly olderEnd?: { readonly startsAt: Micros; readonly at: Micros };
}

/**
 * A person's action. Always asked, never stored in the inbox. The reply is a {@link CommandOutcome}, or for one that an
 * event of a messenger carries a {@link CarriedReply}.
 */
export interface GroupCommand {
  readonly type: 'command';
  readonly command: Command;
  readonly by: Principal;
  /** Client address for the Audit log, where there is one. */
  readonly address?: string;
  readonly carrier?: CommandCarrier;
}

/** The event of a messenger that a Command came with: it counts as handled with the Command, once. */
export interface CommandCarrier {
  readonly connection: { readonly id: PublicId; readonly name: string };
  readonly eventId: string;
  /** The account that acted. */
  readonly externalId: string;
  /** How the outcome is sent to the person; null: not sent. */
  readonly answer: {
    readonly way: Way;
    readonly language: Language;
    readonly button: ButtonCommand;
    readonly seconds: number;
  } | null;
}

export interface CarriedReply {
  /** Null: the event was handled before, and nothing happened now. */
  readonly outcome: CommandOutcome | null;
  /** Text for the person; null when there is none or it was sent before. */
  readonly say: string | null;
}

export type Command =
  /** `sparesOwner`: another User's acknowledgement is left alone instead of taken over. */
  | { readonly name: 'acknowledge'; readonly sparesOwner?: true }
  | { readonly name: 'unacknowledge' }
  | { readonly name: 'resolve'; readonly note: string | null }
  | { readonly name: 'unresolve' }
  /** `until` null: without end. */
  | { readonly name: 'snooze'; readonly until: Micros | null }
  | { readonly name: 'unsnooze' }
  | { readonly name: 'still_on_it' }
  | { readonly name: 'add_note'; readonly body: string };

export type CommandName = Command['name'];

export type CommandRefusal =
  | 'already_resolved'
  | 'not_acknowledged'
  | 'not_snoozed'
  | 'not_resolved'
  | 'resolved_automatically'
  | 'route_deleted'
  | 'newer_alert_group_exists'
  | 'all_alerts_resolved'
  | 'not_owner'
  | 'no_reminder_pending'
  | 'owner_must_be_user';

export type CommandOutcome =
  | { readonly outcome: 'done'; readonly noteId?: PublicId }
  | { readonly outcome: 'unchanged' }
  | {
      readonly outcome: 'refused';
      readonly code: CommandRefusal;
      readonly related: { readonly id: PublicId; readonly number: number } | null;
    }
  /** An Acknowledge that spares the Owner met one. */
  | { readonly outcome: 'skipped'; readonly owner: UserRef }
  /** No such Alert Group. */
  | { readonly outcome: 'unknown' };

export interface IntegrationDeleted {
  readonly type: 'integration_deleted';
  readonly integrationId: PublicId;
  readonly name: string;
  readonly at: Micros;
}

export interface OwnerReleased {
  readonly type: 'owner_released';
  readonly userId: PublicId;
  readonly reason: 'owner_disabled' | 'owner_deleted';
}

/** Always asked, never stored in the inbox by a sender. The reply is a {@link MoveReply}. */
export interface RouteMoved {
  readonly type: 'route_moved';
  /** A group on another Route is not moved. */
  readonly fromRouteId: PublicId;
  readonly toRouteId: PublicId;
}

export interface MoveReply {
  readonly moved: boolean;
}

/** Some Destination accepted this Alert Group for the first time. */
export interface Published {
  readonly type: 'published';
  readonly at: Micros;
}

/** A Destination delivered a Reminder, or the event that replaces missed notices, for the first time. */
export interface NoticeDelivered {
  readonly type: 'notice_delivered';
  /** Of the event within the Alert Group. */
  readonly sequence: number;
  readonly at: Micros;
}

/**
 * A downtime of the service, recorded in the Timeline of every open Alert Group (internal-alerts §7). Instants in µs.
 */
export interface Downtime {
  readonly type: 'downtime';
  readonly from: Micros;
  readonly to: Micros;
}

/** A Storm of the Route holds back the Publication of this new Alert Group (alert-groups §9). */
export interface HeldByStorm {
  readonly type: 'held';
  readonly at: Micros;
}

/** The Storm is over. */
export interface HoldReleased {
  readonly type: 'released';
  readonly at: Micros;
}

/** A setting that makes Alert Groups Urgent was edited: the hold of a group that is Urgent now ends. */
export interface UrgencyQuestion {
  readonly type: 'urgency_edited';
}

/** Something about delivery that belongs on the Timeline and in `delivery_problem`. */
export interface DeliveryNoted {
  readonly type: 'delivery_noted';
  readonly destinationId: PublicId;
  readonly destinationName: string;
  /** Null when only the problem flag changes. */
  readonly event: DeliveryEventName | null;
  /** Masked. */
  readonly error: string | null;
  /** Whether this Destination has a problem with this group now; null: as it was. */
  readonly problem: boolean | null;
  /** Of the message that it is about. Absent in messages of an older version. */
  readonly loudness?: Loudness;
  readonly mentions?: readonly SymbolicMention[];
  readonly at: Micros;
}

/** A template failed or found no value; the message was sent nevertheless. */
export interface TemplateNoted {
  readonly type: 'template_noted';
  readonly event: TemplateEventName;
  readonly detail: string;
  readonly at: Micros;
}

/**
 * `template_value_missing`: the answer of a webhook lacked the value of the extraction rule `detail`.
 * `fallback_template_used`: the Route's template failed with the error `detail`, and the message shows the Fallback.
 */
export type TemplateEventName = 'template_value_missing' | 'fallback_template_used';

export type DeliveryEventName =
  | 'publication'
  | 'possible_duplicate'
  | 'not_delivered'
  | 'delivered_late'
  | 'deleted_in_messenger'
  | 'republished'
  | 'thread_not_attached'
  | 'markup_rejected'
  | 'destination_broken'
  | 'destination_recovered'
  | 'storm_summary'
  | 'final_edit';

export type { ResolveReason };
