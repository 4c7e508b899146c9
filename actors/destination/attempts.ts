/** Applies the outcome of one call: to the event, its budget, and the health of the Destination (webhooks §3.4, §3.5). */
import type { SendFinished, SendOutcome } from '../channels/calls.ts';
import type { LifecycleEventName } from '../model.ts';
import { noticeDeliveredSend, publishedSend } from './delivery-reports.ts';
import type { WaitingEvent } from './event-queue.ts';
import { broke, recovered, unavailable } from './health.ts';
import { backoff, budgetSpent, unreadPause } from './pacing.ts';
import { endEvent } from './rows.ts';
import {
  apply,
  callFailed,
  callPutOff,
  callSucceeded,
  type DestinationTurn,
  isBroken,
  isDeleted,
  isProbe,
  note,
  recordProgress,
  setTemplateError,
} from './turn.ts';

/**
 * Events whose delivery is reported to their Alert Group: one that was not delivered counts as answered
 * (alert-groups §8.2).
 */
const REMINDERS: readonly LifecycleEventName[] = ['reminder', 'notices_missed'];

/**
 * Takes in an outcome. An event that ended meanwhile is left alone. Of a call that was given up, only a late 2xx counts:
 * a newer call may be under way, and a failure says nothing about that one.
 */
export function eventFinished(
  turn: DestinationTurn,
  eventId: string,
  { call, outcome }: Pick<SendFinished, 'call' | 'outcome'>,
): void {
  const head = turn.rows.queue.head(eventId);
  if (!head) return;
  const isOfThisCall = head.inFlight && call === head.event.calls;
  if (!isOfThisCall && outcome.class !== 'ok') return;
  if (outcome.class !== 'not_sent') head.event.unread = 0;
  const rendered = outcome.class !== 'template_error' && outcome.class !== 'not_sent';
  if (rendered) setTemplateError(turn, null);
  settle(turn, head.event, outcome);
}

function settle(turn: DestinationTurn, event: WaitingEvent, outcome: SendOutcome): void {
  switch (outcome.class) {
    case 'ok':
      delivered(turn, event);
      break;
    case 'retry_after':
      callPutOff(turn, outcome.until, outcome.error);
      asksToWait(turn, event, outcome);
      break;
    case 'transient':
      callFailed(turn, outcome.error);
      failedForNow(turn, event, outcome.error);
      break;
    case 'fatal':
      callFailed(turn, outcome.error);
      refused(turn, event, outcome.error);
      break;
    case 'unknown':
    case 'gone':
    case 'edit_window_closed':
      callFailed(turn, outcome.error);
      notDelivered(turn, event, outcome.error);
      break;
    case 'template_error':
      setTemplateError(turn, {
        request: outcome.request,
        since: turn.state.templateError?.since ?? turn.now,
        error: outcome.error,
      });
      notDelivered(turn, event, outcome.error);
      break;
    case 'not_sent':
      notSent(turn, event, outcome.because === 'unreadable');
      break;
    case 'unchanged':
    case 'dropped':
      throw new Error(`an event is never ${outcome.class}`);
    default:
      outcome satisfies never;
  }
}

function delivered(turn: DestinationTurn, event: WaitingEvent): void {
  const { rows, now } = turn;
  const probe = isProbe(turn, event.id);
  callSucceeded(turn);
  endEvent(rows, event, now);
  recordProgress(turn, event, { state: 'delivered', nextAttemptAt: null, error: null });
  if (!rows.published.has(event.groupId)) {
    rows.published.add(event.groupId);
    turn.sends.push(publishedSend(event.groupId, now));
  }
  if (REMINDERS.includes(event.event)) turn.sends.push(noticeDeliveredSend(event, now));
  if (probe) recovered(turn);
  // A group that still waits here is notified with the others.
  if (rows.queue.holds(event.groupId) && (probe || isBroken(turn))) return;
  const told = probe ? 'destination_recovered' : null;
  note(turn, { groupId: event.groupId, event: told, error: null, problem: false });
}

/** Nothing happened: the event is back where it was, after a pause when it could not be read. */
function notSent(turn: DestinationTurn, event: WaitingEvent, isUnread: boolean): void {
  if (isUnread) {
    event.exact = false;
    event.notBefore = turn.now + unreadPause(++event.unread);
  }
  waitAgain(turn, event, null);
  if (isProbe(turn, event.id)) apply(turn, { type: 'probe_lost', at: Math.max(turn.now, event.notBefore) });
}

function asksToWait(
  turn: DestinationTurn,
  event: WaitingEvent,
  { until, error }: Extract<SendOutcome, { class: 'retry_after' }>,
): void {
  event.notBefore = until;
  event.exact = true;
  waitAgain(turn, event, error);
  if (isProbe(turn, event.id)) {
    apply(turn, { type: 'probe_failed', reason: unavailable(error), at: turn.now, notBefore: until });
  }
}

function failedForNow(turn: DestinationTurn, event: WaitingEvent, error: string): void {
  event.exact = false;
  event.notBefore = 0;
  if (isBroken(turn)) {
    waitAgain(turn, event, error);
    failedWhileBroken(turn, event, unavailable(error));
    return;
  }
  event.attempts++;
  event.firstFailedAt ??= turn.now;
  const spent = budgetSpent(event.attempts, event.firstFailedAt, turn.now);
  if (!spent) event.notBefore = turn.now + backoff(event.attempts, turn.random());
  waitAgain(turn, event, error);
  if (spent) broke(turn, unavailable(error));
}

function refused(turn: DestinationTurn, event: WaitingEvent, error: string): void {
  event.exact = false;
  event.notBefore = 0;
  waitAgain(turn, event, error);
  if (isBroken(turn)) failedWhileBroken(turn, event, error);
  else broke(turn, error);
}

/** Ends an event that can never succeed. While Broken it was the probe, and the next event becomes the next one. */
export function notDelivered(turn: DestinationTurn, event: WaitingEvent, error: string): void {
  const probe = isProbe(turn, event.id);
  endEvent(turn.rows, event, turn.now);
  recordProgress(turn, event, { state: 'not_delivered', nextAttemptAt: null, error });
  note(turn, { groupId: event.groupId, event: 'not_delivered', error, problem: true });
  if (probe) apply(turn, { type: 'probe_rejected', at: turn.now });
}

function failedWhileBroken(turn: DestinationTurn, event: WaitingEvent, reason: string): void {
  if (isProbe(turn, event.id)) apply(turn, { type: 'probe_failed', reason, at: turn.now, notBefore: 0 });
  else broke(turn, reason);
}

/** Everything that waits ends here; storage ended the events with the save or deletion that made it so. */
export function endEvents(turn: DestinationTurn, error: string): void {
  for (const { groupId } of turn.rows.queue.events()) {
    note(turn, { groupId, event: 'not_delivered', error, problem: true });
  }
  turn.rows.queue.clear();
  turn.rows.tails.clear();
  turn.rows.overflow = false;
}

/** Nothing is sent any more: what it needs to be reached is gone. */
export function lostSecrets(turn: DestinationTurn): void {
  if (!isDeleted(turn)) broke(turn, 'secret_unreadable');
}

function waitAgain(turn: DestinationTurn, event: WaitingEvent, error: string | null): void {
  turn.rows.queue.putBack(event);
  recordProgress(turn, event, { state: 'waiting', nextAttemptAt: event.notBefore || null, error });
}
