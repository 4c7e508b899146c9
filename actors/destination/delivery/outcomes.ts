/** Applies the outcome of one call: to the delivery, its budget, and the health of the Destination (delivery §5, §7). */
import type { Micros } from '../../../runtime/clock.ts';
import type { SendFailed, SendFinished, SendOutcome } from '../../channels/calls.ts';
import { broke, recovered, tryAgain, unavailable } from '../health.ts';
import { backoff, budgetSpent, unreadPause } from '../pacing.ts';
import { eventDropped, eventNotDelivered, eventTaken } from '../plan-events.ts';
import { lineOf, loadedFlight } from '../rows.ts';
import {
  apply,
  callFailed,
  callPutOff,
  callSucceeded,
  type DestinationTurn,
  isBroken,
  isDeleted,
  isProbe,
  setTemplateError,
} from '../turn.ts';
import { accepted } from './accepted.ts';
import {
  type Delivery,
  type Flight,
  isOver,
  retried,
  type Tries,
  triesOf,
  unsureEdit,
  withoutReply,
} from './delivery.ts';
import { next } from './machine.ts';
import type { DeliveryEvent } from './machine-parts.ts';
import { probeFailed, probeFinished } from './probing.ts';
import { learnPace } from './rows.ts';
import { callEnded, holdFor, returnGrant, returnOwnToken, waitEnd } from './tokens.ts';
import { save, targetOf, tell } from './turn.ts';

export function sendFinished(turn: DestinationTurn, finished: SendFinished): void {
  if (turn.state.messages.probe?.call === finished.call) {
    probeFinished(turn, finished);
    return;
  }
  const { outcome, event } = finished;
  const delivery = event ? lineOf(turn.rows, event.groupId) : deliveryOfCall(turn, finished.call);
  const flight = event ? flightOf(turn, delivery, finished) : delivery?.call;
  if (!delivery || !flight) return;
  const { class: came } = outcome;
  const isAnswered = came === 'ok' || came === 'unchanged' || came === 'dropped';
  if (!event) learnPace(turn.rows.messages, flight, finished.at, isAnswered);
  noteTemplateError(turn, outcome);
  settle(turn, landed(delivery, outcome), flight, finished);
}

function deliveryOfCall({ rows }: DestinationTurn, call: number): Delivery | undefined {
  const key = rows.messages.flights.get(call);
  return key === undefined ? undefined : rows.messages.byKey.get(key);
}

/**
 * The call about an event that still waits. Of a call that was given up only a late success counts: a newer one may be
 * under way, and a failure says nothing about that.
 */
function flightOf(
  turn: DestinationTurn,
  line: Delivery | undefined,
  { event, call, outcome }: SendFinished,
): Flight | undefined {
  const [first] = line?.events ?? [];
  if (!line || !event || first?.id !== event.id) return undefined;
  const isOfThisCall = line.call?.call === call;
  if (!isOfThisCall && outcome.class !== 'ok') return undefined;
  return { ...(line.call ?? loadedFlight(first, turn.now)), isProbe: isProbe(turn, event.id) };
}

/** The call is over. */
function landed(delivery: Delivery, outcome: SendOutcome): Delivery {
  const { call, values, message } = delivery;
  const learned = 'values' in outcome ? outcome.values : undefined;
  const threadRef = ('threadRef' in outcome ? outcome.threadRef : null) ?? message?.threadRef ?? null;
  return {
    ...delivery,
    call: null,
    message: message && call?.kind !== 'publish' ? { ...message, threadRef } : message,
    values: learned ? { ...values, ...learned } : values,
  };
}

/** The call is made again. */
export function putBack(flight: Flight, now: Micros): DeliveryEvent {
  return flight.kind === 'reply' ? { type: 'reply_over', now } : { type: 'put_back', flight, now };
}

function settle(turn: DestinationTurn, delivery: Delivery, flight: Flight, finished: SendFinished): void {
  const { outcome } = finished;
  switch (outcome.class) {
    case 'ok': {
      callEnded(turn, delivery.connectionId, flight.tookToken);
      const isBack = !isLeftBehind(turn, delivery) && callSucceeded(turn);
      if (delivery.events) eventTaken(turn, delivery, flight);
      else accepted(turn, delivery, flight, outcome, finished.at);
      if (isBack) tryAgain(turn);
      break;
    }
    case 'unchanged':
    case 'dropped':
      returnTokens(turn, delivery, flight);
      if (delivery.events) {
        eventDropped(turn, delivery);
        break;
      }
      if (flight.kind === 'edit') {
        save(turn, next(delivery, { type: 'edited', flight, shown: null, now: turn.now }));
      } else save(turn, next(withoutReply(delivery, flight), putBack(flight, turn.now)));
      // No call was made: the oldest waiting item becomes the next probe.
      if (flight.isProbe) apply(turn, { type: 'probe_lost', at: turn.now });
      break;
    case 'not_sent':
      notSent(turn, delivery, flight, outcome);
      break;
    default:
      callEnded(turn, delivery.connectionId, flight.tookToken);
      failed(turn, delivery, flight, outcome);
  }
}

/** No call was made: the item is wanted as before, after a pause when its content could not be read or made. */
function notSent(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  outcome: Extract<SendOutcome, { class: 'not_sent' }>,
): void {
  returnTokens(turn, delivery, flight);
  const { because } = outcome;
  if (because === 'defect' && !isLeftBehind(turn, delivery)) callFailed(turn, outcome.error);
  const known =
    because === 'put_back' ? delivery : retried(delivery, flight, (tries) => pausedBy(turn, tries, outcome));
  save(turn, next(known, putBack(flight, turn.now)));
  const at = because === 'put_back' ? turn.now : triesOf(known, flight).notBefore;
  if (flight.isProbe) apply(turn, { type: 'probe_lost', at });
}

/** Whether the failure concerns this message alone: nothing was sent, or the message to edit no longer exists. */
function isOfOneMessage({ kind }: Flight, { class: came }: SendFailed): boolean {
  if (came === 'gone') return kind !== 'publish';
  return came === 'template_error' || (came === 'edit_window_closed' && kind === 'edit');
}

function failed(turn: DestinationTurn, delivery: Delivery, flight: Flight, outcome: SendFailed): void {
  if (!isLeftBehind(turn, delivery) && !isOfOneMessage(flight, outcome)) {
    if (outcome.class === 'retry_after') callPutOff(turn, outcome.until, outcome.error);
    else callFailed(turn, outcome.error);
  }
  switch (outcome.class) {
    case 'retry_after':
      asksToWait(turn, delivery, flight, outcome);
      break;
    case 'transient':
      failedForNow(turn, unsureEdit(delivery, flight), flight, outcome);
      break;
    case 'fatal':
      refused(turn, delivery, flight, outcome.error);
      break;
    case 'gone':
      if (flight.kind === 'publish') notDelivered(turn, delivery, flight, outcome.error);
      else messageGone(turn, delivery, flight);
      break;
    case 'edit_window_closed':
      if (flight.kind !== 'edit') notDelivered(turn, delivery, flight, outcome.error);
      else {
        save(turn, next(delivery, { type: 'window_closed', now: turn.now }));
        if (flight.isProbe) recovered(turn);
      }
      break;
    case 'unknown':
      notDelivered(turn, unsurely(delivery, flight, outcome), flight, outcome.error);
      break;
    case 'template_error':
      notDelivered(turn, delivery, flight, outcome.error);
      break;
    default:
      outcome satisfies never;
  }
}

/** Outcome unknown, so a message may exist: keep the idempotency key. */
function unsurely(
  delivery: Delivery,
  flight: Flight,
  { unsure }: Extract<SendFailed, { class: 'unknown' }>,
): Delivery {
  const landed = unsureEdit(delivery, flight);
  const { tries } = landed;
  if (!unsure || flight.kind !== 'publish') return landed;
  return { ...landed, tries: { ...tries, unsureSince: tries.unsureSince ?? flight.startedAt } };
}

/** The delivery belongs to a former target; its result says nothing about the present one. */
function isLeftBehind(turn: DestinationTurn, { target, events }: Delivery): boolean {
  return !events && target < targetOf(turn);
}

function asksToWait(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { until, scope, error, breaks }: Extract<SendFailed, { class: 'retry_after' }>,
): void {
  // Nothing is sent to this place before `until`; waiting items keep their order. A former channel delays no other one.
  const isAlone = scope === 'delivery' || (scope === 'destination' && isLeftBehind(turn, delivery));
  if (!isAlone) holdFor(turn, delivery.connectionId, scope, until);
  const notBefore = isAlone ? waitEnd(turn, until) : 0;
  const exact = scope === 'delivery';
  const known = retried(delivery, flight, (tries) => ({ ...tries, notBefore, exact, error, unread: 0 }));
  save(turn, next(known, putBack(flight, turn.now)));
  if (flight.isProbe) {
    apply(turn, { type: 'probe_failed', reason: unavailable(error), at: turn.now, notBefore: until });
  } else if (breaks && !isAlone && !isDeleted(turn) && !isLeftBehind(turn, delivery)) {
    broke(turn, unavailable(error));
  }
}

function failedForNow(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { error, unsure }: Extract<SendFailed, { class: 'transient' }>,
): void {
  const { now } = turn;
  const counts = !isBroken(turn);
  const known = retried(delivery, flight, (tries) => {
    const attempts = tries.attempts + (counts ? 1 : 0);
    return {
      ...tries,
      error,
      attempts,
      unread: 0,
      exact: false,
      firstFailedAt: tries.firstFailedAt ?? now,
      notBefore: counts ? now + backoff(attempts, turn.random()) : now,
      unsureSince: tries.unsureSince ?? (unsure && flight.kind !== 'edit' ? flight.startedAt : null),
    };
  });
  const after = next(known, putBack(flight, now));
  const { attempts, firstFailedAt } = triesOf(known, flight);
  const isSpent = counts && !isOver(after) && budgetSpent(attempts, firstFailedAt ?? now, now);
  const isOfFormer = isDeleted(turn) || isLeftBehind(turn, delivery);
  if (isSpent && isOfFormer) {
    notDelivered(turn, delivery, flight, error);
    return;
  }
  save(turn, after);
  if (flight.isProbe) probeFailed(turn, unavailable(error));
  else if (isSpent || (isBroken(turn) && !isOfFormer)) broke(turn, unavailable(error));
}

function refused(turn: DestinationTurn, delivery: Delivery, flight: Flight, error: string): void {
  if (isDeleted(turn) || isLeftBehind(turn, delivery)) {
    notDelivered(turn, delivery, flight, error);
    return;
  }
  const known = retried(delivery, flight, (tries) => ({ ...tries, error, unread: 0 }));
  save(turn, next(known, putBack(flight, turn.now)));
  if (flight.isProbe) probeFailed(turn, error);
  else broke(turn, error);
}

/** Ends the delivery until its desired state changes; a reply ends for good (delivery §7.2). */
export function notDelivered(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight | null,
  error: string,
): void {
  if (delivery.events) {
    eventNotDelivered(turn, delivery, error);
    return;
  }
  if (flight?.isProbe) apply(turn, { type: 'probe_rejected', at: turn.now });
  const { now } = turn;
  const after =
    flight?.kind === 'reply'
      ? next(withoutReply(delivery, flight), { type: 'reply_over', now })
      : next(delivery, { type: flight ? 'not_delivered' : 'given_up', error, now });
  save(turn, after);
  // A call about a message that is wanted here no more says nothing about what is.
  const concerns = !flight || flight.kind === 'reply' || after.root !== delivery.root;
  if (concerns) tell(turn, delivery, { event: 'not_delivered', error });
}

function messageGone(turn: DestinationTurn, delivery: Delivery, flight: Flight): void {
  const isPresent = delivery.message?.id === flight.messageId;
  if (isPresent && !isOver(delivery)) deleteMessage(turn, delivery);
  else save(turn, delivery);
  if (flight.isProbe) recovered(turn);
}

/** The message of a delivery was deleted (delivery §8). */
export function deleteMessage(turn: DestinationTurn, delivery: Delivery): void {
  const after = next(delivery, { type: 'gone', now: turn.now });
  save(turn, after);
  if (after.root === 'deleted_there') tell(turn, after, { event: 'deleted_in_messenger' });
}

function pausedBy(
  { now }: DestinationTurn,
  tries: Tries,
  outcome: Extract<SendOutcome, { class: 'not_sent' }>,
): Tries {
  if (outcome.because === 'not_yet') return { ...tries, exact: false, notBefore: outcome.until };
  const unread = tries.unread + 1;
  return { ...tries, exact: false, unread, notBefore: now + unreadPause(unread) };
}

function returnTokens(turn: DestinationTurn, { connectionId }: Delivery, flight: Flight): void {
  returnOwnToken(turn);
  if (connectionId !== null && flight.tookToken) returnGrant(turn, connectionId);
}

function noteTemplateError(turn: DestinationTurn, outcome: SendOutcome): void {
  if (outcome.class === 'template_error') {
    const { error, request } = outcome;
    setTemplateError(turn, { since: turn.state.templateError?.since ?? turn.now, error, request });
    return;
  }
  const rendered =
    outcome.class !== 'not_sent' && outcome.class !== 'unchanged' && outcome.class !== 'dropped';
  if (rendered) setTemplateError(turn, null);
}
