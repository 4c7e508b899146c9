/** Timeline entries as they are stored (Alert Group chapter §5.1). Instants are µs; texts and refs are of the moment. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type {
  EventActor,
  GroupStatus,
  LifecycleEventName,
  Loudness,
  SeverityLevel,
  SymbolicMention,
  UserRef,
} from '../model.ts';
import type { DeliveryEventName, TemplateEventName } from './messages.ts';
import type { TimelineKind } from './transitions.ts';

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
  /** 1, 2, 3 … since the timer started; null for an event that is no notice of its own. */
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
  /** Of the message that it is about; Quiet and nobody for what is none. Absent where an older version noted it. */
  readonly loudness?: Loudness;
  readonly mentions?: readonly SymbolicMention[];
  /** Masked. */
  readonly error: string | null;
}

/** What an entry of the kind `status` tells besides what the step itself shows. */
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

/** Everything a step may tell about itself; what it does not say is empty. */
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
