/**
 * The transition table of an Alert Group as data: one row for each transition, with the names of the contract. The
 * machine names the row that it takes; the row gives the lifecycle event and its loudness. Read by the turn, the
 * model tests and the generated documentation.
 *
 * Rows of alert-groups §3.1 to §3.3.
 */
import type { LifecycleEventName, Loudness, SymbolicMention } from '../model.ts';

export type TimelineKind = 'status' | 'alerts' | 'notes' | 'timers' | 'delivery' | 'system';

/** A state of the machine as the table speaks of it. */
export type TableState = 'firing' | 'acknowledged' | 'snoozed' | 'resolved.system' | 'resolved.person';

export interface TransitionRow {
  /** Empty for the row that starts an Alert Group. */
  readonly from: readonly TableState[];
  /** Name of the machine's event. */
  readonly trigger: string;
  /** Name of the machine's guard. */
  readonly guard: string | null;
  readonly to: TableState | 'same';
  /** Null when nothing is recorded. */
  readonly records: RecordedEvent | null;
}

export interface RecordedEvent {
  readonly event: LifecycleEventName;
  readonly kind: TimelineKind;
  readonly loudness: Loudness;
  readonly mentions: readonly SymbolicMention[];
  /** Whom it names instead when the group had an Owner. */
  readonly ownedMentions?: readonly SymbolicMention[];
}

const OPEN = ['firing', 'acknowledged', 'snoozed'] as const;
const WITH_FIRING_ALERTS = [...OPEN, 'resolved.person'] as const;
const EVERYWHERE = [...OPEN, 'resolved.system', 'resolved.person'] as const;

export const TRANSITIONS = {
  // Caused by ingestion
  create: row([], 'create', null, 'firing', loud('created', 'status', 'new_alert_group')),
  'join-firing': row(['firing'], 'join', null, 'same', loud('alerts_added', 'alerts', 'new_alerts')),
  'join-acknowledged': row(['acknowledged'], 'join', null, 'same', quiet('alerts_added', 'alerts')),
  'join-snoozed': row(['snoozed'], 'join', null, 'same', quiet('alerts_added', 'alerts')),
  replace: row(OPEN, 'replace', null, 'same', quiet('alert_replaced', 'alerts')),
  continue: row(WITH_FIRING_ALERTS, 'continue', null, 'same', quiet('alert_continued', 'alerts')),
  annotate: row(WITH_FIRING_ALERTS, 'annotate', null, 'same', quiet('annotations_changed', 'alerts')),
  'resolve-part': row(OPEN, 'alerts_resolve', 'othersFire', 'same', quiet('alert_resolved', 'alerts')),
  'resolve-all': row(OPEN, 'alerts_resolve', null, 'resolved.system', quiet('resolved', 'status')),
  'resolve-tail': row(['resolved.person'], 'alerts_resolve', null, 'same', quiet('alert_resolved', 'alerts')),
  raise: row(OPEN, 'severity_rises', null, 'same', quiet('severity_raised', 'alerts')),
  'urgent-keep': row(OPEN, 'rises_to_urgent', 'riseKeepsStatus', 'same', quiet('urgency_raised', 'status')),
  'urgent-unack': row(
    ['acknowledged'],
    'rises_to_urgent',
    null,
    'firing',
    loud('urgency_raised', 'status', 'owner', 'rise_to_urgent'),
  ),
  'urgent-unsnooze': row(
    ['snoozed'],
    'rises_to_urgent',
    null,
    'firing',
    loud('urgency_raised', 'status', 'owner', 'rise_to_urgent'),
  ),
  'reopen-firing': row(
    ['resolved.system'],
    'reopen',
    'inReopenWindow',
    'firing',
    loud('reopened', 'status', 'reopen'),
  ),
  'reopen-acknowledged': row(
    ['resolved.system'],
    'reopen',
    'returnsToOwner',
    'acknowledged',
    loud('reopened', 'status', 'owner'),
  ),
  'reopen-snoozed': row(
    ['resolved.system'],
    'reopen',
    'returnsToSnooze',
    'snoozed',
    quiet('reopened', 'status'),
  ),

  // Commands
  acknowledge: row(
    ['firing', 'snoozed'],
    'acknowledge',
    null,
    'acknowledged',
    quiet('acknowledged', 'status'),
  ),
  'acknowledge-own': row(['acknowledged'], 'acknowledge', 'callerIsOwner', 'same', null),
  takeover: row(
    ['acknowledged'],
    'acknowledge',
    null,
    'acknowledged',
    loud('takeover', 'status', 'previous_owner'),
  ),
  unacknowledge: row(['acknowledged'], 'unacknowledge', null, 'firing', quiet('unacknowledged', 'status')),
  resolve: row(OPEN, 'resolve', null, 'resolved.person', quiet('resolved', 'status')),
  unresolve: row(['resolved.person'], 'unresolve', null, 'firing', quiet('unresolved', 'status')),
  snooze: row(OPEN, 'snooze', null, 'snoozed', quiet('snoozed', 'status')),
  'snooze-same': row(['snoozed'], 'snooze', 'sameSnoozeEnd', 'same', null),
  unsnooze: row(['snoozed'], 'unsnooze', null, 'firing', quiet('unsnoozed', 'status')),
  note: row(EVERYWHERE, 'note', null, 'same', quiet('note_added', 'notes')),
  'still-on-it': row(
    ['acknowledged'],
    'still_on_it',
    'reminderPending',
    'same',
    quiet('reminder_answered', 'timers'),
  ),

  // Timers, configuration, system
  'snooze-end': row(
    ['snoozed'],
    'snooze_end',
    null,
    'firing',
    loud('snooze_ended', 'status', 'snooze_ended'),
  ),
  'grace-end': row(['resolved.person'], 'grace_end', null, 'same', null),
  'window-end': row(['resolved.system'], 'window_end', null, 'same', null),
  'ack-notice': row(['firing'], 'notice_due', null, 'same', loud('ack_timeout', 'timers', 'ack_timeout')),
  unclaim: row(['firing'], 'unclaim', 'allNoticesSent', 'same', quiet('unclaimed', 'timers')),
  remind: row(['acknowledged'], 'notice_due', null, 'same', loud('reminder', 'timers', 'owner')),
  'reminder-delivered': row(
    ['acknowledged', 'resolved.system'],
    'reminder_delivered',
    'isLastReminder',
    'same',
    null,
  ),
  'auto-unack': row(
    ['acknowledged'],
    'notice_due',
    'remindersUnanswered',
    'firing',
    loud('auto_unacknowledged', 'status', 'owner'),
  ),
  missed: row(['firing', 'acknowledged'], 'notice_due', 'severalOverdue', 'same', {
    ...loud('notices_missed', 'timers', 'ack_timeout'),
    ownedMentions: ['owner'],
  }),
  'drop-notice': row(['firing', 'acknowledged'], 'notice_due', 'isSwitchedOff', 'same', null),
  'owner-release': row(
    ['acknowledged'],
    'owner_released',
    'userIsOwner',
    'firing',
    loud('unacknowledged', 'status'),
  ),
  'prior-release': row(['resolved.system'], 'owner_released', 'userIsPriorOwner', 'same', null),
  move: row(OPEN, 'move', null, 'same', quiet('moved_to_default_route', 'system')),
  downtime: row(OPEN, 'downtime', null, 'same', null),
  publish: row(EVERYWHERE, 'publish', null, 'same', null),
  hold: row(EVERYWHERE, 'hold', null, 'same', null),
  release: row(EVERYWHERE, 'release', null, 'same', null),
} as const satisfies Record<string, TransitionRow>;

export type RowName = keyof typeof TRANSITIONS;

export const ROW_NAMES = Object.keys(TRANSITIONS) as readonly RowName[];

/** The row under a name, in the general type. */
export function transitionRow(name: RowName): TransitionRow {
  return TRANSITIONS[name];
}

function row(
  from: readonly TableState[],
  trigger: string,
  guard: string | null,
  to: TableState | 'same',
  records: RecordedEvent | null,
): TransitionRow {
  return { from, trigger, guard, to, records };
}

function loud(
  event: LifecycleEventName,
  kind: TimelineKind,
  ...mentions: readonly SymbolicMention[]
): RecordedEvent {
  return { event, kind, loudness: 'loud', mentions };
}

function quiet(event: LifecycleEventName, kind: TimelineKind): RecordedEvent {
  return { event, kind, loudness: 'quiet', mentions: [] };
}

/** The transition table as a page of the documentation. */
export function transitionPage(): string {
  return [
    '# Transitions of an Alert Group',
    '',
    'Generated from `actors/alert-group/transitions.ts` by `npm run machines`. The drawing: `alert_group.svg`.',
    'L is Loud, Q is Quiet; Mentions are in brackets. "same" keeps the status.',
    '',
    '| Name | From | Trigger | To | Event |',
    '|---|---|---|---|---|',
    ...ROW_NAMES.map(line),
    '',
  ].join('\n');
}

function line(name: RowName): string {
  const { from, trigger, guard, to, records } = transitionRow(name);
  const condition = guard === null ? trigger : `${trigger} [${guard}]`;
  return `| ${name} | ${from.join(', ') || '—'} | ${condition} | ${to} | ${eventText(records)} |`;
}

function eventText(records: ReturnType<typeof transitionRow>['records']): string {
  if (!records) return 'none';
  const { event, loudness, mentions, ownedMentions } = records;
  const named = [mentions, ownedMentions ?? []]
    .filter(({ length }) => length > 0)
    .map((whom) => `[${whom.join(', ')}]`)
    .join(' or ');
  return `${event} ${loudness === 'loud' ? 'L' : 'Q'} ${named}`.trim();
}
