/** A lifecycle event as the Alert Group records it: the one source of Timeline entries, webhook bodies and messages. */
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type {
  AlertState,
  EventActor,
  GroupStatus,
  Labels,
  LifecycleEventName,
  Loudness,
  ResolveReason,
  SeverityLevel,
  SymbolicMention,
  UserRef,
} from './model.ts';

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
