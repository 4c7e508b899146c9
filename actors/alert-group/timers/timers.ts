/** Ack timeout and Reminders as arithmetic: when the next notice is due, and its outcome (alert-groups §8). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { RoutePolicy } from '../../directory.ts';
import type { GroupContext, Reminders, TimerPolicy } from '../machine-types.ts';

/** Ack notices of one start; with the last one the group is Unclaimed. */
export const ACK_NOTICES = 3;

/** Delivered Reminders without an answer, one after the other, that cost the Owner the group. */
const MOST_UNANSWERED = 2;

export const NEVER_REMINDED: Reminders = {
  sent: 0,
  pending: false,
  delivered: false,
  unanswered: 0,
  sequence: 0,
};

/** Timer settings of a Route's policy, in µs. */
export function timerPolicyOf({ ack_timeout, reminders, auto_unacknowledge }: RoutePolicy): TimerPolicy {
  return {
    ackTimeout: ack_timeout.enabled ? ack_timeout.first_interval_seconds * SECOND : null,
    reminders: reminders.enabled
      ? { first: reminders.first_interval_seconds * SECOND, cap: reminders.cap_seconds * SECOND }
      : null,
    autoUnacknowledge: auto_unacknowledge,
  };
}

/** The pause after the `sent`-th notice, or before the first; null when the timer is switched off. */
export type Interval = (sent: number) => Micros | null;

/** F, 2F, 4F: notices at F, 3F and 7F, and none after them. */
export function ackInterval({ ackTimeout }: TimerPolicy): Interval {
  return (sent) => (ackTimeout === null || sent >= ACK_NOTICES ? null : ackTimeout * 2 ** sent);
}

/** B, 2B, 4B …, at most the cap. */
export function reminderInterval({ reminders }: TimerPolicy): Interval {
  return (sent) => reminders && Math.min(reminders.first * 2 ** sent, reminders.cap);
}

/** How many notices are due by `now` when the next one is due at `dueAt`. */
export function overdueNotices(interval: Interval, dueAt: Micros, sent: number, now: Micros): number {
  let count = 0;
  let due = dueAt;
  let pause: Micros | null = 0;
  while (due <= now) {
    count++;
    const next = interval(sent + count);
    if (next === null) return count;
    // An interval that grows no more repeats itself however long the service was away.
    if (next === pause) return count + Math.floor((now - due) / next);
    pause = next;
    due += next;
  }
  return count;
}

/** Outcome of a notice that is due: the row of the table, by reason. */
export type DueNotice = 'switched_off' | 'reminders_unanswered' | 'several_overdue' | 'due';

/** Uses the present policy; auto-unacknowledge is evaluated before missed notices are merged (alert-groups §8.3). */
export function dueNotice(context: GroupContext, timers: TimerPolicy, now: Micros): DueNotice {
  const interval = intervalOf(context, timers);
  const { noticeAt, reminders } = context;
  if (noticeAt === null || interval(0) === null) return 'switched_off';
  if (reminders && timers.autoUnacknowledge && unansweredBy(reminders) >= MOST_UNANSWERED) {
    return 'reminders_unanswered';
  }
  return overdueNotices(interval, noticeAt, sentOf(context), now) > 1 ? 'several_overdue' : 'due';
}

/** When the first or, after a Reopen, the next notice is due; null while unpublished and when switched off. */
export function firstNoticeAt(context: GroupContext, timers: TimerPolicy, at: Micros): Micros | null {
  return context.firstPublishedAt === null ? null : after(at, intervalOf(context, timers)(sentOf(context)));
}

/**
 * When the next notice is due after one that was due and sent: the schedule does not move (alert-groups §8.2, §8.3).
 */
export function nextNoticeAt(context: GroupContext, timers: TimerPolicy): Micros | null {
  return after(context.noticeAt, intervalOf(context, timers)(sentOf(context) + 1));
}

/** How many notices one `notices_missed` replaces, and when the next one is due: its interval from now. */
export function collapse(
  context: GroupContext,
  timers: TimerPolicy,
  now: Micros,
): { readonly missed: number; readonly noticeAt: Micros | null } {
  const interval = intervalOf(context, timers);
  const sent = sentOf(context);
  const missed = overdueNotices(interval, context.noticeAt ?? now, sent, now);
  return { missed, noticeAt: after(now, interval(sent + missed)) };
}

/** Notices of the running timer so far. */
export function sentOf({ reminders, noticesSent }: GroupContext): number {
  return reminders ? reminders.sent : noticesSent;
}

/** Reminders in a row without an answer, once the next one is due (alert-groups §8.2). */
export function unansweredBy({ pending, delivered, unanswered }: Reminders): number {
  return pending && delivered ? unanswered + 1 : 0;
}

/** The progress after a Reminder, or after the event that replaces `count` of them. */
export function reminded(reminders: Reminders, count: number, sequence: number): Reminders {
  return {
    sent: reminders.sent + count,
    pending: true,
    delivered: false,
    unanswered: unansweredBy(reminders),
    sequence,
  };
}

function intervalOf({ reminders }: GroupContext, timers: TimerPolicy): Interval {
  return reminders ? reminderInterval(timers) : ackInterval(timers);
}

function after(at: Micros | null, pause: Micros | null): Micros | null {
  return at === null || pause === null ? null : at + pause;
}
