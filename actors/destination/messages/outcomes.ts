/** What the outcome of one call changes: the delivery, its budget, the health of the Destination (delivery §5, §7). */
import { HOUR, type Micros } from '../../../runtime/clock.ts';
import { connectionAddress, type Held } from '../../connection/messages.ts';
import { backoff, budgetSpent, unreadPause } from '../backoff.ts';
import { broke, recovered, unavailable } from '../health.ts';
import { noticeDeliveredSend, publishedSend, valueMissingSend } from '../notes.ts';
import { apply, type DestinationTurn, isBroken, isDeleted, isProbe, setTemplateError } from '../turn.ts';
import type { SendAccepted, SendFailed, SendFinished, SendOutcome } from './calls.ts';
import {
  type Delivery,
  type Flight,
  NO_TRIES,
  type PostedMessage,
  type QueuedReply,
  type Tries,
} from './delivery.ts';
import { gone } from './membership.ts';
import { probeName } from './pump.ts';
import { holdOwn, returnGrant, returnOwnToken } from './tokens.ts';
import { changeState, save, tell } from './turn.ts';
import { frozen, over, retired } from './work.ts';

/** A bridge keeps the result of a key this long at least, less a margin. */
const KEY_KNOWN_FOR: Micros = 23 * HOUR;

export function sendFinished(turn: DestinationTurn, finished: SendFinished): void {
  if (turn.state.messages.probe?.call === finished.call) {
    probeFinished(turn, finished);
    return;
  }
  const key = turn.rows.messages.flights.get(finished.call);
  const delivery = key === undefined ? undefined : turn.rows.messages.byKey.get(key);
  if (!delivery?.call) return;
  noteTemplateError(turn, finished.outcome);
  settle(turn, landed(delivery, finished.outcome), delivery.call, finished);
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

/** The edit came to nothing and is still wanted. */
function wantedAgain(delivery: Delivery, { kind, startedAt }: Flight): Delivery {
  return kind === 'edit' && !delivery.ended
    ? { ...delivery, editSince: delivery.editSince ?? startedAt }
    : delivery;
}

function settle(turn: DestinationTurn, delivery: Delivery, flight: Flight, finished: SendFinished): void {
  const { outcome } = finished;
  switch (outcome.class) {
    case 'ok':
      accepted(turn, delivery, flight, outcome, finished.at);
      break;
    case 'unchanged':
    case 'dropped':
      returnTokens(turn, delivery, flight);
      if (flight.kind === 'reply') save(turn, withoutReply(delivery, flight));
      else save(turn, shown(delivery, flight, delivery.message));
      break;
    case 'not_sent':
      returnTokens(turn, delivery, flight);
      save(turn, retried(wantedAgain(delivery, flight), flight, unreadAgain(turn)));
      if (flight.isProbe) apply(turn, { type: 'probe_lost', at: turn.now + unreadPause(1) });
      break;
    default:
      failed(turn, wantedAgain(delivery, flight), flight, outcome);
  }
}

function accepted(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  outcome: SendAccepted,
  at: Micros,
): void {
  const isDuplicate = wasDuplicated(turn, delivery, flight, outcome);
  if (isDuplicate) tell(turn, delivery, { event: 'possible_duplicate' });
  tellMissing(turn, delivery, outcome);
  const known = isDuplicate ? { ...delivery, possibleDuplicate: true } : delivery;
  if (flight.kind === 'publish') published(turn, known, flight, outcome, at);
  else if (flight.kind === 'edit') edited(turn, known, flight, outcome);
  else replied(turn, known, flight, outcome, at);
  if (isProbe(turn, probeName(flight.call))) recovered(turn);
}

/** A Storm has no Timeline. */
function tellMissing(turn: DestinationTurn, { subject }: Delivery, { missing = [] }: SendAccepted): void {
  if (subject.kind !== 'group') return;
  for (const name of missing) turn.sends.push(valueMissingSend(subject.groupId, name, turn.now));
}

function published(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  outcome: SendAccepted,
  at: Micros,
): void {
  const { post, leaving, publication, editSince, values, ended } = delivery;
  const message: PostedMessage = {
    id: outcome.messageId ?? '',
    threadRef: outcome.threadRef,
    url: outcome.messageUrl,
    // The messenger may show what an earlier attempt told it.
    hash: outcome.replayed ? null : outcome.hash,
    postedAt: at,
    publication,
    status: flight.status,
    editableUntil: outcome.editableUntil,
    signedWith: outcome.signedWith,
  };
  const isBehind = outcome.replayed || leaving;
  save(turn, {
    ...delivery,
    message,
    post: null,
    frozen: false,
    failed: null,
    tries: NO_TRIES,
    editSince: isBehind && !ended ? (editSince ?? turn.now) : editSince,
    values,
  });
  recordMessage(turn, delivery, message.id, delivery.subject.kind === 'group' ? 'root' : 'storm_summary');
  tellPublication(turn, delivery, flight, post);
  if (delivery.subject.kind === 'group') turn.sends.push(publishedSend(delivery.subject.groupId, turn.now));
}

function tellPublication(
  turn: DestinationTurn,
  delivery: Delivery,
  { loudness }: Flight,
  post: Delivery['post'],
): void {
  const mentions = loudness === 'loud' ? (post?.mentions ?? []) : [];
  if (delivery.subject.kind === 'storm') {
    tell(turn, delivery, { event: 'storm_summary', loudness, mentions });
    return;
  }
  if (post?.cause === 'continued') return;
  if (post?.cause === 'deleted') {
    tell(turn, delivery, { event: 'republished' });
    return;
  }
  tell(turn, delivery, { event: 'publication', loudness, mentions });
  if (delivery.notes.late) tell(turn, delivery, { event: 'delivered_late' });
}

function edited(turn: DestinationTurn, delivery: Delivery, flight: Flight, outcome: SendAccepted): void {
  const { message, leaving } = delivery;
  if (!message || message.id !== flight.messageId) {
    save(turn, delivery);
    return;
  }
  const { hash, signedWith } = outcome;
  if (flight.isFinal && leaving) {
    const last = { ...message, hash, signedWith };
    save(turn, retired({ ...delivery, message: last }));
    tell(turn, delivery, { event: 'final_edit' });
    return;
  }
  // It came back to the Route meanwhile: what says "final" now has to go.
  const actual = flight.isFinal ? null : hash;
  save(turn, shown(delivery, flight, { ...message, hash: actual, signedWith }));
}

/** The messenger shows what was wanted when the call began. */
function shown(delivery: Delivery, flight: Flight, message: Delivery['message']): Delivery {
  return {
    ...delivery,
    message: message && { ...message, status: flight.status },
    failed: null,
    tries: NO_TRIES,
  };
}

function replied(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { messageId }: SendAccepted,
  at: Micros,
): void {
  const reply = replyOf(delivery, flight);
  save(turn, withoutReply(delivery, flight));
  recordMessage(turn, delivery, messageId, 'reply');
  const { subject } = delivery;
  const asks = reply?.facts.event === 'reminder' || reply?.facts.event === 'notices_missed';
  if (subject.kind === 'group' && reply && asks) {
    turn.sends.push(noticeDeliveredSend({ groupId: subject.groupId, sequence: reply.sequence }, at));
  }
}

/** Sent again without knowing whether the first one arrived, to a messenger that cannot tell (delivery §5). */
function wasDuplicated(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { replayed }: SendAccepted,
): boolean {
  const { unsureSince } = triesOf(delivery, flight);
  if (flight.kind === 'edit' || unsureSince === null || replayed) return false;
  const knowsKeys = turn.state.messages.place?.type === 'bridge';
  return !knowsKeys || flight.startedAt - unsureSince > KEY_KNOWN_FOR;
}

function failed(turn: DestinationTurn, delivery: Delivery, flight: Flight, outcome: SendFailed): void {
  switch (outcome.class) {
    case 'retry_after':
      asksToWait(turn, delivery, flight, outcome);
      break;
    case 'transient':
      failedForNow(turn, delivery, flight, outcome);
      break;
    case 'fatal':
      refused(turn, delivery, flight, outcome.error);
      break;
    case 'gone':
      if (flight.kind === 'publish') notDelivered(turn, delivery, flight, outcome.error);
      else messageGone(turn, delivery, flight);
      break;
    case 'edit_window_closed':
      if (flight.kind === 'edit') save(turn, frozen(delivery, turn.now));
      else notDelivered(turn, delivery, flight, outcome.error);
      break;
    case 'unknown':
    case 'template_error':
      notDelivered(turn, delivery, flight, outcome.error);
      break;
    default:
      outcome satisfies never;
  }
}

function asksToWait(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { until, scope, error }: Extract<SendFailed, { class: 'retry_after' }>,
): void {
  // Whoever asked to wait is not called before: what waits keeps its place.
  holdUntil(turn, delivery.connectionId, scope, until);
  save(turn, stillLeaving(retried(delivery, flight, (tries) => ({ ...tries, notBefore: 0, error }))));
  if (flight.isProbe) {
    apply(turn, { type: 'probe_failed', reason: unavailable(error), at: turn.now, notBefore: until });
  }
}

function holdUntil(
  turn: DestinationTurn,
  connectionId: Delivery['connectionId'],
  scope: 'connection' | 'destination',
  until: Micros,
): void {
  if (scope === 'destination' || connectionId === null) {
    holdOwn(turn, until);
    return;
  }
  const message: Held = { type: 'hold', until };
  turn.sends.push({ to: connectionAddress(connectionId), message });
}

function failedForNow(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { error, unsure }: Extract<SendFailed, { class: 'transient' }>,
): void {
  const { now } = turn;
  const counts = !isBroken(turn);
  const next = stillLeaving(
    retried(delivery, flight, (tries) => {
      const attempts = tries.attempts + (counts ? 1 : 0);
      return {
        ...tries,
        error,
        attempts,
        unread: 0,
        firstFailedAt: tries.firstFailedAt ?? now,
        notBefore: counts ? now + backoff(attempts, turn.random()) : now,
        unsureSince: tries.unsureSince ?? (unsure && flight.kind !== 'edit' ? flight.startedAt : null),
      };
    }),
  );
  const { attempts, firstFailedAt } = triesOf(next, flight);
  const isSpent = counts && !next.ended && budgetSpent(attempts, firstFailedAt ?? now, now);
  if (isSpent && isDeleted(turn)) {
    notDelivered(turn, delivery, flight, error);
    return;
  }
  save(turn, next);
  if (flight.isProbe) probeFailed(turn, unavailable(error));
  else if (isSpent) broke(turn, unavailable(error));
}

function refused(turn: DestinationTurn, delivery: Delivery, flight: Flight, error: string): void {
  if (isDeleted(turn)) {
    notDelivered(turn, delivery, flight, error);
    return;
  }
  save(turn, stillLeaving(retried(delivery, flight, (tries) => ({ ...tries, error, unread: 0 }))));
  if (flight.isProbe) probeFailed(turn, error);
  else broke(turn, error);
}

function probeFailed(turn: DestinationTurn, reason: string): void {
  apply(turn, { type: 'probe_failed', reason, at: turn.now, notBefore: 0 });
}

/** Ends what was wanted until it changes; a reply for good (§7.2). */
export function notDelivered(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight | null,
  error: string,
): void {
  tell(turn, delivery, { event: 'not_delivered', error });
  if (flight?.isProbe) apply(turn, { type: 'probe_rejected', at: turn.now });
  if (flight?.kind === 'reply') {
    save(turn, withoutReply(delivery, flight));
    return;
  }
  const replies = delivery.message ? delivery.replies : [];
  const unsure = { ...NO_TRIES, unsureSince: delivery.tries.unsureSince };
  save(turn, { ...delivery, failed: error, editSince: null, tries: unsure, replies });
}

function messageGone(turn: DestinationTurn, delivery: Delivery, flight: Flight): void {
  const isPresent = delivery.message?.id === flight.messageId;
  if (isPresent && !delivery.ended) deleteMessage(turn, delivery);
  else save(turn, delivery);
  if (flight.isProbe) recovered(turn);
}

/** The message of a delivery is no more (§8). */
export function deleteMessage(turn: DestinationTurn, delivery: Delivery): void {
  const after = gone(delivery, turn.now);
  save(turn, after);
  if (after.ended?.as === 'deleted_in_messenger') tell(turn, after, { event: 'deleted_in_messenger' });
}

/** What left its Route before anything was published is not tried again. */
function stillLeaving(delivery: Delivery): Delivery {
  const { leaving, message, tries, ended } = delivery;
  if (!leaving || message || ended || tries.unsureSince !== null) return delivery;
  return over(delivery, { as: 'withheld', because: 'left' });
}

function retried(delivery: Delivery, flight: Flight, change: (tries: Tries) => Tries): Delivery {
  if (flight.kind !== 'reply') return { ...delivery, tries: change(delivery.tries) };
  const replies = delivery.replies.map((reply) =>
    reply.sequence === flight.sequence ? { ...reply, tries: change(reply.tries) } : reply,
  );
  return { ...delivery, replies };
}

function triesOf(delivery: Delivery, flight: Flight): Tries {
  return flight.kind === 'reply' ? (replyOf(delivery, flight)?.tries ?? NO_TRIES) : delivery.tries;
}

function replyOf(delivery: Delivery, { sequence }: Flight): QueuedReply | undefined {
  return delivery.replies.find((reply) => reply.sequence === sequence);
}

function withoutReply(delivery: Delivery, { sequence }: Flight): Delivery {
  return { ...delivery, replies: delivery.replies.filter((reply) => reply.sequence !== sequence) };
}

function unreadAgain({ now }: DestinationTurn): (tries: Tries) => Tries {
  return (tries) => ({ ...tries, unread: tries.unread + 1, notBefore: now + unreadPause(tries.unread + 1) });
}

function returnTokens(turn: DestinationTurn, { connectionId }: Delivery, flight: Flight): void {
  returnOwnToken(turn);
  if (connectionId !== null && flight.tookToken) returnGrant(turn, connectionId);
}

function recordMessage(
  turn: DestinationTurn,
  { connectionId, subject }: Delivery,
  messageId: string | null,
  kind: 'root' | 'reply' | 'storm_summary',
): void {
  if (connectionId === null || !messageId) return;
  const groupId = subject.kind === 'group' ? subject.groupId : null;
  const { id: destinationId, now: at } = turn;
  turn.records.push({
    type: 'delivery.message_posted',
    destinationId,
    connectionId,
    messageId,
    kind,
    groupId,
    at,
  });
}

function noteTemplateError(turn: DestinationTurn, outcome: SendOutcome): void {
  if (turn.state.messages.place?.type !== 'webhook') return;
  if (outcome.class === 'template_error') {
    const { error, request } = outcome;
    setTemplateError(turn, { since: turn.state.templateError?.since ?? turn.now, error, request });
    return;
  }
  const rendered =
    outcome.class !== 'not_sent' && outcome.class !== 'unchanged' && outcome.class !== 'dropped';
  if (rendered) setTemplateError(turn, null);
}

function probeFinished(turn: DestinationTurn, { outcome }: SendFinished): void {
  const { probe, place } = turn.state.messages;
  changeState(turn, { probe: null });
  if (isDeleted(turn) || !isBroken(turn)) return;
  switch (outcome.class) {
    case 'ok':
      recovered(turn);
      break;
    case 'unchanged':
    case 'dropped':
    case 'not_sent':
      returnOwnToken(turn);
      if (place?.connectionId && probe?.tookToken) returnGrant(turn, place.connectionId);
      apply(turn, { type: 'probe_lost', at: turn.now + unreadPause(1) });
      break;
    case 'retry_after': {
      const { until, scope, error } = outcome;
      holdUntil(turn, place?.connectionId ?? null, scope, until);
      apply(turn, { type: 'probe_failed', reason: unavailable(error), at: turn.now, notBefore: until });
      break;
    }
    case 'transient':
      probeFailed(turn, unavailable(outcome.error));
      break;
    default:
      probeFailed(turn, outcome.error);
  }
}
