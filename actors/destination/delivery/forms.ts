/** How each lifecycle event becomes messages (delivery §2), as data. */
import type { GroupStatus, LifecycleEventName, Loudness } from '../../model.ts';

/**
 * `publication`: a Root message. `reply`: a Thread reply; the Root message is edited too when it shows something else.
 * `edit`: no reply. `membership`: the group changed its Route.
 */
export type Form = 'publication' | 'reply' | 'edit' | 'nothing' | 'membership';

export interface FormRow {
  readonly event: LifecycleEventName;
  /** Only with this Loudness, after it this status, or caused so. Absent: whatever it is. */
  readonly loudness?: Loudness;
  readonly status?: GroupStatus;
  readonly by?: 'system' | 'person';
  readonly form: Form;
  /** The Root message can show nothing new. */
  readonly keepsRoot?: true;
}

export const FORMS = [
  { event: 'created', form: 'publication' },
  { event: 'alerts_added', status: 'firing', form: 'reply' },
  { event: 'alerts_added', status: 'acknowledged', form: 'reply' },
  { event: 'alerts_added', form: 'edit' },
  { event: 'alert_replaced', form: 'reply' },
  { event: 'alert_resolved', form: 'edit' },
  { event: 'alert_continued', form: 'edit' },
  { event: 'annotations_changed', form: 'edit' },
  { event: 'severity_raised', form: 'edit' },
  { event: 'urgency_raised', loudness: 'loud', form: 'reply' },
  { event: 'urgency_raised', form: 'edit' },
  { event: 'reopened', status: 'firing', form: 'reply' },
  { event: 'reopened', status: 'acknowledged', form: 'reply' },
  { event: 'reopened', form: 'edit' },
  { event: 'snooze_ended', form: 'reply' },
  { event: 'resolved', by: 'system', form: 'reply' },
  { event: 'resolved', form: 'edit' },
  { event: 'moved_to_default_route', form: 'membership' },
  { event: 'acknowledged', form: 'edit' },
  { event: 'takeover', form: 'reply' },
  { event: 'unacknowledged', by: 'system', form: 'reply' },
  { event: 'unacknowledged', form: 'edit' },
  { event: 'unresolved', form: 'edit' },
  { event: 'snoozed', form: 'edit' },
  { event: 'unsnoozed', form: 'edit' },
  { event: 'note_added', form: 'nothing', keepsRoot: true },
  { event: 'ack_timeout', form: 'reply', keepsRoot: true },
  { event: 'unclaimed', form: 'edit' },
  { event: 'reminder', form: 'reply', keepsRoot: true },
  { event: 'reminder_answered', form: 'nothing', keepsRoot: true },
  { event: 'auto_unacknowledged', form: 'reply' },
  { event: 'notices_missed', form: 'reply', keepsRoot: true },
] as const satisfies readonly FormRow[];

export interface FormQuestion {
  readonly event: LifecycleEventName;
  readonly loudness: Loudness;
  /** After the event. */
  readonly status: GroupStatus;
  readonly by: 'system' | 'person';
}

/** The first row that fits; every event has one. */
export function formOf({ event, loudness, status, by }: FormQuestion): FormRow {
  const rows: readonly FormRow[] = FORMS;
  const row = rows.find(
    (one) =>
      one.event === event &&
      (one.loudness ?? loudness) === loudness &&
      (one.status ?? status) === status &&
      (one.by ?? by) === by,
  );
  if (!row) throw new Error(`no form for ${event}`);
  return row;
}

/** Events of which Destinations of messages are told. */
export function concernsMessages(question: FormQuestion): boolean {
  return formOf(question).form !== 'nothing';
}
