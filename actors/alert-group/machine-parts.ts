/**
 * Guards and actions of the Alert Group's statechart, by the names that the diagram shows. Their inputs from outside
 * are fields of the event.
 */
import { assign, emit, setup } from 'xstate';
import type { Micros } from '../../runtime/clock.ts';
import type {
  GroupContext,
  GroupEvent,
  GroupInput,
  Prior,
  Reminders,
  RowTaken,
  Snooze,
} from './machine-types.ts';
import {
  ACK_NOTICES,
  collapse,
  type DueNotice,
  dueNotice,
  firstNoticeAt,
  NEVER_REMINDED,
  nextNoticeAt,
  reminded,
} from './timers/timers.ts';
import type { RowName } from './transitions.ts';

function isMoved(context: GroupContext): boolean {
  return context.routeId !== context.originalRouteId;
}

function expected<Type extends GroupEvent['type']>(
  event: GroupEvent,
  type: Type,
): Extract<GroupEvent, { type: Type }> {
  if (event.type !== type) throw new Error(`expected the event ${type}, got ${event.type}`);
  return event as Extract<GroupEvent, { type: Type }>;
}

export const parts = setup({
  types: {
    context: {} as GroupContext,
    events: {} as GroupEvent,
    input: {} as GroupInput,
    emitted: {} as RowTaken,
  },
  guards: {
    othersFire: ({ event }) => expected(event, 'alerts_resolve').remaining > 0,
    riseKeepsStatus: ({ context, event }) => {
      if (context.owner) return !expected(event, 'rises_to_urgent').removesAcknowledgement;
      return context.snooze === null || context.snooze.whileUrgent;
    },
    inReopenWindow: ({ context, event }) => isInReopenWindow(context, event),
    returnsToOwner: ({ context, event }) =>
      isInReopenWindow(context, event) &&
      context.prior?.status === 'acknowledged' &&
      expected(event, 'reopen').ownerActive,
    returnsToSnooze: ({ context, event }) => {
      if (!isInReopenWindow(context, event) || context.prior?.status !== 'snoozed') return false;
      const { until } = context.prior.snooze;
      return until === null || until > event.at;
    },
    callerIsOwner: ({ context, event }) => expected(event, 'acknowledge').by.id === context.owner?.id,
    userIsOwner: ({ context, event }) => expected(event, 'owner_released').userId === context.owner?.id,
    userIsPriorOwner: ({ context, event }) =>
      context.prior?.status === 'acknowledged' &&
      context.prior.owner.id === expected(event, 'owner_released').userId,
    sameSnoozeEnd: ({ context, event }) => expected(event, 'snooze').until === context.snooze?.until,
    neverReopens: ({ context }) => context.reopenDeadline === null,
    isPublished: ({ context }) => context.firstPublishedAt !== null,
    timerRuns: ({ context }) => context.noticeAt !== null,
    isSwitchedOff: ({ context, event }) => becomesOf(context, event) === 'switched_off',
    remindersUnanswered: ({ context, event }) => becomesOf(context, event) === 'reminders_unanswered',
    severalOverdue: ({ context, event }) => becomesOf(context, event) === 'several_overdue',
    allNoticesSent: ({ context }) => context.noticesSent >= ACK_NOTICES,
    reminderPending: ({ context }) => context.reminders?.pending ?? false,
    isLastReminder: ({ context, event }) =>
      remindersOf(context)?.sequence === expected(event, 'reminder_delivered').sequence,
  },
  actions: {
    /** Names the row of the table. */
    record: emit((_, { row }: { row: RowName }): RowTaken => ({ type: 'row', row })),

    takeOwnership: assign(({ event }) => {
      const { by } = expected(event, 'acknowledge');
      return { owner: { id: by.id, name: by.name, login: by.login }, reminders: NEVER_REMINDED };
    }),
    noteFirstAcknowledgement: assign(({ context, event }) =>
      context.firstAcknowledgedAt === null
        ? { firstAcknowledgedAt: event.at, firstAcknowledgedBy: context.owner?.id ?? null }
        : {},
    ),
    releaseOwner: assign({ owner: null, reminders: null }),

    startSnooze: assign(({ context, event }) => {
      const { by, until, urgent } = expected(event, 'snooze');
      return { snooze: { by, until, whileUrgent: urgent, joined: context.snooze?.joined ?? [] } };
    }),
    addToSnooze: assign(({ context, event }) => {
      if (event.type !== 'join' && event.type !== 'replace') return {};
      return { snooze: joinedBy(context.snooze, event.alerts) };
    }),
    endSnooze: assign({ snooze: null }),

    resolveBySystem: assign(({ context, event }) => {
      const { at, reason, reasonText, reopenWindow } = expected(event, 'alerts_resolve');
      return {
        prior: priorOf(context),
        resolvedAt: at,
        resolution: { by: 'system' as const, reason, reasonText },
        reopenDeadline: isMoved(context) || reopenWindow === 0 ? null : at + reopenWindow,
      };
    }),
    resolveByPerson: assign(({ event }) => {
      const { at, by, gracePeriod } = expected(event, 'resolve');
      return {
        resolvedAt: at,
        resolution: { by: 'user' as const, actor: by },
        graceDeadline: at + gracePeriod,
      };
    }),
    clearResolution: assign({
      resolvedAt: null,
      resolution: null,
      reopenDeadline: null,
      graceDeadline: null,
    }),
    endGrace: assign({ graceDeadline: null }),

    countReopen: assign({ reopenCount: ({ context }) => context.reopenCount + 1 }),
    restoreOwner: assign(({ context }) =>
      context.prior?.status === 'acknowledged'
        ? { owner: context.prior.owner, reminders: context.prior.reminders }
        : {},
    ),
    restoreSnooze: assign(({ context, event }) =>
      context.prior?.status === 'snoozed'
        ? { snooze: joinedBy(context.prior.snooze, expected(event, 'reopen').alerts) }
        : {},
    ),
    forgetPriorOwner: assign({ prior: { status: 'firing' as const } }),
    forgetPrior: assign({ prior: null }),

    moveToRoute: assign(({ event }) => ({ routeId: expected(event, 'move').toRouteId })),
    notePublication: assign(({ context, event }) => publication(context, event.at)),
    hold: assign(({ context }) => ({
      held: true,
      acceptedWhileHeld: context.acceptedWhileHeld || context.firstPublishedAt !== null,
      firstPublishedAt: null,
    })),
    /** Starts at the time of the step; no timer runs before the first Publication. */
    startTimer: assign(({ context, event }) => ({
      noticeAt: firstNoticeAt(context, event.timers, event.at),
    })),
    stopTimer: assign({ noticeAt: null, noticesSent: 0 }),
    dropNotice: assign({ noticeAt: null }),
    countNotice: assign(({ context, event }) => ({
      noticesSent: context.noticesSent + 1,
      noticeAt: nextNoticeAt(context, event.timers),
    })),
    collapseNotices: assign(({ context, event }) => {
      const { missed, noticeAt } = collapse(context, event.timers, event.at);
      return { noticesSent: context.noticesSent + missed, noticeAt };
    }),
    countReminder: assign(({ context, event }) => ({
      reminders: afterReminder(context, 1, expected(event, 'notice_due').sequence),
      noticeAt: nextNoticeAt(context, event.timers),
    })),
    collapseReminders: assign(({ context, event }) => {
      const { missed, noticeAt } = collapse(context, event.timers, event.at);
      return { reminders: afterReminder(context, missed, expected(event, 'notice_due').sequence), noticeAt };
    }),
    answerReminder: assign(({ context }) => ({
      reminders: context.reminders && { ...context.reminders, pending: false },
    })),
    /** Any action of the Owner counts as an answer to the Reminder. */
    answerByNote: assign(({ context, event }) => {
      const { owner, reminders } = context;
      if (!reminders || expected(event, 'note').by.id !== owner?.id) return {};
      return { reminders: { ...reminders, pending: false } };
    }),
    noteReminderDelivered: assign(({ context }) => withDelivery(context)),
    release: assign(({ context, event }) => ({
      held: false,
      acceptedWhileHeld: false,
      firstPublishedAt: context.acceptedWhileHeld ? event.at : context.firstPublishedAt,
    })),
  },
});

/** While a Storm holds the group, a Publication is recorded and takes effect when the hold ends (alert-groups §8.1). */
function publication({ held, firstPublishedAt }: GroupContext, at: Micros): Partial<GroupContext> {
  return held ? { acceptedWhileHeld: true } : { firstPublishedAt: firstPublishedAt ?? at };
}

function isInReopenWindow(context: GroupContext, event: GroupEvent): boolean {
  return context.reopenDeadline !== null && expected(event, 'reopen').receivedAt < context.reopenDeadline;
}

function priorOf({ owner, snooze, reminders }: GroupContext): Prior {
  if (owner) return { status: 'acknowledged', owner, reminders: reminders ?? NEVER_REMINDED };
  return snooze ? { status: 'snoozed', snooze } : { status: 'firing' };
}

function becomesOf(context: GroupContext, event: GroupEvent): DueNotice {
  return dueNotice(context, event.timers, expected(event, 'notice_due').at);
}

/** Reminders of the present ownership, or of the one that a Reopen restores. */
export function remindersOf({ reminders, prior }: GroupContext): Reminders | null {
  return prior?.status === 'acknowledged' ? prior.reminders : reminders;
}

function afterReminder({ reminders }: GroupContext, count: number, sequence: number): Reminders {
  return reminded(reminders ?? NEVER_REMINDED, count, sequence);
}

function withDelivery({ reminders, prior }: GroupContext): Partial<GroupContext> {
  if (prior?.status !== 'acknowledged') return { reminders: reminders && { ...reminders, delivered: true } };
  return { prior: { ...prior, reminders: { ...prior.reminders, delivered: true } } };
}

function joinedBy(snooze: Snooze | null, alerts: readonly string[]): Snooze | null {
  return snooze && { ...snooze, joined: [...new Set([...snooze.joined, ...alerts])] };
}
