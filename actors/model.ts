/** The words of the domain as types. Everything here is plain data that survives JSON. */
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';

export type Labels = Readonly<Record<string, string>>;

export const GROUP_STATUSES = ['firing', 'acknowledged', 'snoozed', 'resolved'] as const;
export type GroupStatus = (typeof GROUP_STATUSES)[number];

/** Highest first. */
export const SEVERITY_LEVELS = ['critical', 'warning', 'info'] as const;
export type SeverityLevel = (typeof SEVERITY_LEVELS)[number];

export const RESOLVE_REASONS = ['resolved', 'gone', 'stale', 'integration_deleted'] as const;
export type ResolveReason = (typeof RESOLVE_REASONS)[number];

export type AlertState = 'firing' | 'resolved';
export type Loudness = 'loud' | 'quiet';
export type Transport = 'ui' | 'api' | 'cli' | 'chat_server' | 'channel_bot' | 'bridge' | 'system';

export type LifecycleEventName =
  | 'created'
  | 'alerts_added'
  | 'alert_replaced'
  | 'alert_resolved'
  | 'alert_continued'
  | 'annotations_changed'
  | 'severity_raised'
  | 'urgency_raised'
  | 'reopened'
  | 'snooze_ended'
  | 'resolved'
  | 'moved_to_default_route'
  | 'acknowledged'
  | 'takeover'
  | 'unacknowledged'
  | 'unresolved'
  | 'snoozed'
  | 'unsnoozed'
  | 'note_added'
  | 'ack_timeout'
  | 'unclaimed'
  | 'reminder'
  | 'reminder_answered'
  | 'auto_unacknowledged'
  | 'notices_missed';

/** Whom a Loud event names: a Mention setting of each Destination, or a person of the Alert Group. */
export type SymbolicMention =
  | 'new_alert_group'
  | 'new_alerts'
  | 'reopen'
  | 'ack_timeout'
  | 'snooze_ended'
  | 'rise_to_urgent'
  | 'owner'
  | 'previous_owner';

/** Why the system did something. */
export type SystemReason =
  | 'alert'
  | ResolveReason
  | 'grace_period_ended'
  | 'timer'
  | 'reminders_unanswered'
  | 'owner_disabled'
  | 'owner_deleted'
  | 'route_moved'
  | 'downtime'
  | 'delivery';

/** A person, as recorded at the moment of an action. */
export interface UserActor {
  readonly kind: 'user';
  readonly id: PublicId;
  readonly name: string;
  readonly login: string;
  /** The Personal access token that acted; absent for a web session. */
  readonly tokenId?: PublicId;
  /** Its name, or null for a web session. */
  readonly tokenName: string | null;
  readonly transport: Transport;
}

export interface ServiceAccountActor {
  readonly kind: 'service_account';
  readonly id: PublicId;
  readonly name: string;
  /** The token that acted. */
  readonly tokenId?: PublicId;
  readonly tokenName: string;
  readonly transport: Transport;
}

export interface SystemActor {
  readonly kind: 'system';
  readonly reason: SystemReason;
}

export type Principal = UserActor | ServiceAccountActor;
export type EventActor = Principal | SystemActor;

export interface UserRef {
  readonly id: PublicId;
  readonly name: string;
  readonly login: string;
}

/** One Alert as a firing entry of a Snapshot told it, after Static labels, severity and identity were worked out. */
export interface AlertReport {
  readonly fingerprint: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Micros;
  readonly generatorUrl: string | null;
  readonly severityLevel: SeverityLevel;
  /** The severity label's value when it is not mapped to a level, else null. */
  readonly severityRaw: string | null;
  /** Static labels that the Alert already carried with a value of its own. */
  readonly labelConflicts: readonly string[];
}

/** What is remembered of an Alert's last firing, wherever that was (ingestion: "the record of its last firing"). */
export interface AlertHistory {
  readonly state: AlertState;
  readonly startsAt: Micros;
  readonly endedStart: Micros | null;
  readonly resolvedAt: Micros | null;
  readonly resolvedBy: AlertResolver | null;
}

/** How an Alert was resolved. */
export type AlertResolver = 'own_entry' | 'group_wide' | 'gone' | 'stale' | 'integration_deleted' | 'moved';

/** Where Alerts without a home are grouped: a Route and the values of its Group key. */
export interface Slot {
  readonly routeId: PublicId;
  /** Identity of the key: a hash over the sorted (name, value) pairs. */
  readonly keyHash: string;
  /** The key as stored with the Alert Group. */
  readonly groupLabels: Labels;
}

/** Alert identity inside one installation: Integration and fingerprint. */
export function alertKey(integrationId: string, fingerprint: string): string {
  return `${integrationId}/${fingerprint}`;
}

/** A lifecycle event as the Alert Group records it: the one source of Timeline entries, webhook bodies and messages. */
export interface LifecycleEvent {
  readonly name: LifecycleEventName;
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  /** 1, 2, 3 … within the Alert Group. */
  readonly sequence: number;
  readonly at: Micros;
  readonly actor: EventActor;
  /** The Owner before the step, for the Mentions `owner` and `previous_owner`. */
  readonly ownerBefore: UserRef | null;
}

/**
 * The Alert Group right after a step, as far as the outside is told (webhook body). `number` is absent: the body is
 * made inside the commit that may only just have drawn it.
 */
export interface GroupView {
  readonly id: PublicId;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  readonly owner: UserRef | null;
  readonly routeId: PublicId;
  readonly routeName: string;
  readonly urgent: boolean;
  readonly severityLevel: SeverityLevel;
  readonly startedAt: Micros;
  readonly resolvedAt: Micros | null;
  readonly snoozeUntil: Micros | null;
  readonly reopenCount: number;
  /** Every Alert, firing first, then by start and fingerprint. */
  readonly alerts: readonly AlertView[];
}

export interface AlertView {
  readonly fingerprint: string;
  readonly state: AlertState;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAt: Micros;
  readonly resolvedAt: Micros | null;
  readonly resolveReason: ResolveReason | null;
  readonly generatorUrl: string | null;
}
