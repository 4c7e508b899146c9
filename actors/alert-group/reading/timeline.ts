/** Timeline entries as they are stored (alert-groups §5.1). Instants are µs; texts and refs are of the moment. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type {
  AlertResolver,
  EventActor,
  GroupStatus,
  LifecycleEventName,
  Loudness,
  ResolveReason,
  SeverityLevel,
  SymbolicMention,
  UserRef,
} from '../../model.ts';
import type { DeliveryEventName, TemplateEventName } from '../messages.ts';
import type { TimelineKind } from '../transitions.ts';

export const TIMELINE_KINDS = [
  'status',
  'alerts',
  'notes',
  'timers',
  'delivery',
  'system',
] as const satisfies readonly TimelineKind[];

export type LifecycleEntry = StatusEntry | AlertsEntry | NoteEntry | TimerEntry | MoveEntry;

/** Everything else on a Timeline has no lifecycle event. */
export type TimelineEntry = LifecycleEntry | OutageEntry | TemplateEntry | DeliveryEntry;

export function isLifecycle(entry: TimelineEntry): entry is LifecycleEntry {
  return 'sequence' in entry;
}

interface Common {
  readonly id: PublicId;
  readonly at: Micros;
  readonly actor: EventActor;
}

interface Lifecycle extends Common {
  readonly event: LifecycleEventName;
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  /** 1, 2, 3 … within the Alert Group. */
  readonly sequence: number;
}

export interface StatusEntry extends Lifecycle, StatusDetails {
  readonly kind: 'status';
  readonly fromStatus: GroupStatus | null;
  readonly toStatus: GroupStatus;
  /** After the step. */
  readonly owner: UserRef | null;
  readonly previousOwner: UserRef | null;
  readonly snoozeUntil: Micros | null;
}

export interface AlertsEntry extends Lifecycle, AlertsDetails {
  readonly kind: 'alerts';
}

export interface NoteEntry extends Lifecycle {
  readonly kind: 'notes';
  readonly body: string;
}

export interface TimerEntry extends Lifecycle {
  readonly kind: 'timers';
  /** 1, 2, 3 … since the timer started; null for an event that is not a notice. */
  readonly noticeNumber: number | null;
  /** How many notices came due while the service was away; null for every other event. */
  readonly missedCount: number | null;
}

export interface MoveEntry extends Lifecycle {
  readonly kind: 'system';
  readonly systemEvent: 'moved_to_default_route';
}

/** The service was away. */
export interface OutageEntry extends Common {
  readonly kind: 'system';
  readonly systemEvent: 'service_unavailable';
  readonly periodFrom: Micros;
  readonly periodTo: Micros;
}

/** What became of a template. */
export interface TemplateEntry extends Common {
  readonly kind: 'system';
  readonly systemEvent: TemplateEventName;
  readonly detail: string;
}

/** What delivery did; no lifecycle event. */
export interface DeliveryEntry extends Common {
  readonly kind: 'delivery';
  readonly deliveryEvent: DeliveryEventName;
  readonly destination: { readonly id: PublicId; readonly name: string };
  /**
   * Of the message that it is about; Quiet without Mentions where there is none. Absent in entries of an older version.
   */
  readonly loudness?: Loudness;
  readonly mentions?: readonly SymbolicMention[];
  /** Masked. */
  readonly error: string | null;
}

/** Fields of an entry of the kind `status` besides those of the step. */
export interface StatusDetails extends ReasonDetails {
  readonly fingerprints: readonly string[];
  readonly labelConflicts: readonly string[];
}

export interface AlertsDetails extends ReasonDetails {
  readonly fingerprints: readonly string[];
  readonly labelConflicts: readonly string[];
  readonly replacedLabel: string | null;
}

export interface ReasonDetails {
  readonly reason: string | null;
  readonly reasonText: string | null;
  readonly fromSeverityLevel: SeverityLevel | null;
  readonly toSeverityLevel: SeverityLevel | null;
}

/** Every field that a step may set; the others are empty. */
export type StepDetails = Partial<AlertsDetails> & {
  readonly note?: { readonly id: PublicId; readonly body: string };
};

/** Details with every key present. */
export function completeDetails(details: StepDetails): AlertsDetails {
  return {
    fingerprints: details.fingerprints ?? [],
    labelConflicts: details.labelConflicts ?? [],
    replacedLabel: details.replacedLabel ?? null,
    reason: details.reason ?? null,
    reasonText: details.reasonText ?? null,
    fromSeverityLevel: details.fromSeverityLevel ?? null,
    toSeverityLevel: details.toSeverityLevel ?? null,
  };
}

/** The sentences behind reason codes (ingestion §6.7, alert-groups §5.1). */
const NOT_LISTED =
  'Alertmanager stopped listing it (ended without a resolve, silenced, inhibited or re-routed there)';

/** Why an Alert resolved, as text; null where the sender reported it. */
export function resolveReasonText(reason: ResolveReason, integrationName: string): string | null {
  switch (reason) {
    case 'resolved':
      return null;
    case 'gone':
    case 'stale':
      return NOT_LISTED;
    case 'integration_deleted':
      return `Integration ${integrationName} was deleted`;
  }
}

/** The reason code of a way to resolve; null for an Alert that moved to another Alert Group. */
export function reasonOf(resolver: Exclude<AlertResolver, 'moved'>): ResolveReason;
export function reasonOf(resolver: AlertResolver): ResolveReason | null;
export function reasonOf(resolver: AlertResolver): ResolveReason | null {
  switch (resolver) {
    case 'own_entry':
    case 'group_wide':
      return 'resolved';
    case 'moved':
      return null;
    default:
      return resolver;
  }
}

export function riseToUrgentText(level: SeverityLevel): string {
  return `Severity rose to ${level}`;
}

export const REMINDERS_UNANSWERED_TEXT = 'The Owner did not answer two Reminders in a row';

export const OWNER_RELEASE_TEXT = {
  owner_disabled: 'The Owner was disabled',
  owner_deleted: 'The Owner was deleted',
} as const;
