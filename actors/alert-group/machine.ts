/**
 * The life of an Alert Group as a statechart (alert-groups §1, §3 and §8). It decides status, Owner,
 * Snooze, resolution, notices and deadlines, and emits the name of the table row that each step takes
 * ({@link TRANSITIONS}). What the group shows of its Alerts is computed in `reading/alert-summary.ts`.
 *
 * The first state is the one after `create`: an Alert Group begins firing, and waits for its first Publication.
 */
import { parts } from './machine-parts.ts';
import type { RowName } from './transitions.ts';

/** The action that names a row. */
const row = (name: RowName) => ({ type: 'record', params: { row: name } }) as const;

const about = {
  note: { actions: row('note') },
  publish: { actions: ['notePublication', row('publish')] },
  hold: { actions: ['hold', row('hold')] },
  release: { actions: ['release', row('release')] },
} as const;

const alertsOf = {
  continue: { actions: row('continue') },
  annotate: { actions: row('annotate') },
} as const;

const open = {
  ...about,
  ...alertsOf,
  severity_rises: { actions: row('raise') },
  alerts_resolve: [
    { guard: 'othersFire', actions: row('resolve-part') },
    { target: 'resolved.system', actions: ['resolveBySystem', row('resolve-all')] },
  ],
  resolve: { target: 'resolved.person', actions: ['resolveByPerson', row('resolve')] },
  move: { actions: ['moveToRoute', row('move')] },
  downtime: { actions: row('downtime') },
} as const;

/** Before the first Publication, or held by a Storm: the timer of the status has not begun. */
const waiting = {
  always: [
    { guard: 'timerRuns', target: 'counting' },
    { guard: 'isPublished', target: 'silent' },
  ],
  on: {
    publish: { actions: ['notePublication', 'startTimer', row('publish')] },
    release: { actions: ['release', 'startTimer', row('release')] },
  },
} as const;

const hold = { target: '.waiting', actions: ['hold', 'stopTimer', row('hold')] } as const;
const dropNotice = {
  guard: 'isSwitchedOff',
  target: 'silent',
  actions: ['dropNotice', row('drop-notice')],
} as const;
const reminderDelivered = {
  guard: 'isLastReminder',
  actions: ['noteReminderDelivered', row('reminder-delivered')],
} as const;

export const alertGroupMachine = parts.createMachine({
  id: 'alert_group',
  context: ({ input }) => ({
    routeId: input.routeId,
    originalRouteId: input.routeId,
    startedAt: input.at,
    owner: null,
    snooze: null,
    prior: null,
    resolvedAt: null,
    resolution: null,
    reopenDeadline: null,
    graceDeadline: null,
    reopenCount: 0,
    firstAcknowledgedAt: null,
    firstAcknowledgedBy: null,
    firstPublishedAt: null,
    held: false,
    acceptedWhileHeld: false,
    noticeAt: null,
    noticesSent: 0,
    reminders: null,
  }),
  initial: 'firing',
  states: {
    firing: {
      entry: ['releaseOwner', 'endSnooze', 'forgetPrior', 'startTimer'],
      exit: 'stopTimer',
      initial: 'waiting',
      on: {
        ...open,
        hold,
        join: { actions: row('join-firing') },
        replace: { actions: row('replace') },
        rises_to_urgent: { guard: 'riseKeepsStatus', actions: row('urgent-keep') },
        acknowledge: { target: 'acknowledged', actions: ['takeOwnership', row('acknowledge')] },
        snooze: { target: 'snoozed', actions: ['startSnooze', row('snooze')] },
      },
      states: {
        waiting,
        /** The ack timeout runs. */
        counting: {
          on: {
            notice_due: [
              dropNotice,
              { guard: 'severalOverdue', actions: ['collapseNotices', row('missed')] },
              { actions: ['countNotice', row('ack-notice')] },
            ],
            unclaim: { guard: 'allNoticesSent', target: 'unclaimed', actions: row('unclaim') },
          },
        },
        /** The Route asks for no ack timeout. */
        silent: {},
        /** Nobody took it after the third notice. */
        unclaimed: {},
      },
    },
    acknowledged: {
      entry: ['endSnooze', 'forgetPrior', 'noteFirstAcknowledgement', 'startTimer'],
      exit: 'stopTimer',
      initial: 'waiting',
      on: {
        ...open,
        hold,
        note: { actions: ['answerByNote', row('note')] },
        still_on_it: { guard: 'reminderPending', actions: ['answerReminder', row('still-on-it')] },
        reminder_delivered: reminderDelivered,
        join: { actions: row('join-acknowledged') },
        replace: { actions: row('replace') },
        rises_to_urgent: [
          { guard: 'riseKeepsStatus', actions: row('urgent-keep') },
          { target: 'firing', actions: row('urgent-unack') },
        ],
        acknowledge: [
          { guard: 'callerIsOwner', actions: ['answerReminder', row('acknowledge-own')] },
          { target: 'acknowledged', reenter: true, actions: ['takeOwnership', row('takeover')] },
        ],
        unacknowledge: { target: 'firing', actions: row('unacknowledge') },
        snooze: { target: 'snoozed', actions: ['startSnooze', row('snooze')] },
        owner_released: { guard: 'userIsOwner', target: 'firing', actions: row('owner-release') },
      },
      states: {
        waiting,
        /** Reminders run. */
        counting: {
          on: {
            notice_due: [
              dropNotice,
              { guard: 'remindersUnanswered', target: '#alert_group.firing', actions: row('auto-unack') },
              { guard: 'severalOverdue', actions: ['collapseReminders', row('missed')] },
              { actions: ['countReminder', row('remind')] },
            ],
          },
        },
        /** The Route asks for no Reminders. */
        silent: {},
      },
    },
    snoozed: {
      entry: ['releaseOwner', 'forgetPrior'],
      on: {
        ...open,
        join: { actions: ['addToSnooze', row('join-snoozed')] },
        replace: { actions: ['addToSnooze', row('replace')] },
        rises_to_urgent: [
          { guard: 'riseKeepsStatus', actions: row('urgent-keep') },
          { target: 'firing', actions: row('urgent-unsnooze') },
        ],
        acknowledge: { target: 'acknowledged', actions: ['takeOwnership', row('acknowledge')] },
        snooze: [
          { guard: 'sameSnoozeEnd', actions: row('snooze-same') },
          { target: 'snoozed', reenter: true, actions: ['startSnooze', row('snooze')] },
        ],
        unsnooze: { target: 'firing', actions: row('unsnooze') },
        snooze_end: { target: 'firing', actions: row('snooze-end') },
      },
    },
    resolved: {
      entry: ['releaseOwner', 'endSnooze'],
      exit: 'clearResolution',
      initial: 'system',
      states: {
        /** The last firing Alert resolved. */
        system: {
          initial: 'reopenable',
          on: {
            ...about,
            reopen: [
              {
                guard: 'returnsToOwner',
                target: '#alert_group.acknowledged',
                actions: ['countReopen', 'restoreOwner', row('reopen-acknowledged')],
              },
              {
                guard: 'returnsToSnooze',
                target: '#alert_group.snoozed',
                actions: ['countReopen', 'restoreSnooze', row('reopen-snoozed')],
              },
              {
                guard: 'inReopenWindow',
                target: '#alert_group.firing',
                actions: ['countReopen', row('reopen-firing')],
              },
            ],
            owner_released: {
              guard: 'userIsPriorOwner',
              actions: ['forgetPriorOwner', row('prior-release')],
            },
            reminder_delivered: reminderDelivered,
          },
          states: {
            reopenable: {
              always: { guard: 'neverReopens', target: 'settled' },
              on: { window_end: { target: 'settled', actions: row('window-end') } },
            },
            /** Still reopens for a Snapshot that was received before the deadline and is processed late. */
            settled: {},
          },
        },
        /** A person resolved it; Alerts that still fire are its tails until the Grace period ends. */
        person: {
          initial: 'grace',
          on: about,
          states: {
            grace: {
              on: {
                ...alertsOf,
                alerts_resolve: [
                  { guard: 'othersFire', actions: row('resolve-tail') },
                  { target: 'settled', actions: ['endGrace', row('resolve-tail')] },
                ],
                unresolve: { target: '#alert_group.firing', actions: row('unresolve') },
                grace_end: { target: 'settled', actions: ['endGrace', row('grace-end')] },
              },
            },
            settled: {},
          },
        },
      },
    },
  },
});
