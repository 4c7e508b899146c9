/** What changes when the messenger took a message, an edit or a reply (delivery §5, §11). */
import { HOUR, type Micros } from '../../../runtime/clock.ts';
import type { SendAccepted } from '../../channels/calls.ts';
import { noticeDeliveredSend, publishedSend, templateSend } from '../delivery-reports.ts';
import { recovered } from '../health.ts';
import { type DestinationTurn, isProbe } from '../turn.ts';
import { probeName } from './begin.ts';
import {
  type Delivery,
  type Flight,
  type PostedMessage,
  replyOf,
  triesOf,
  withoutReply,
} from './delivery.ts';
import { next } from './machine.ts';
import { repeatsSafely } from './state.ts';
import { save, tell } from './turn.ts';

/** A bridge keeps the result of a key this long at least, less a margin. */
const KEY_KNOWN_FOR: Micros = 23 * HOUR;

/** The messenger took it. */
export function accepted(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  outcome: SendAccepted,
  at: Micros,
): void {
  const isDuplicate = wasDuplicated(turn, delivery, flight, outcome);
  if (isDuplicate) tell(turn, delivery, { event: 'possible_duplicate' });
  if (outcome.markupRejected) tell(turn, delivery, { event: 'markup_rejected' });
  tellTemplates(turn, delivery, flight, outcome);
  const attached = withThread(turn, delivery, flight, outcome);
  const known = isDuplicate ? { ...attached, possibleDuplicate: true } : attached;
  if (flight.kind === 'publish') published(turn, known, flight, outcome, at);
  else if (flight.kind === 'edit') edited(turn, known, flight, outcome);
  else replied(turn, known, flight, outcome, at);
  if (isProbe(turn, probeName(flight.call))) recovered(turn);
}

/** A new message has a Thread of its own, of which nothing is known. */
function withThread(
  turn: DestinationTurn,
  delivery: Delivery,
  { kind }: Flight,
  { thread }: SendAccepted,
): Delivery {
  if (thread === undefined && kind !== 'publish') return delivery;
  const threadNotAttached = thread === 'unattached';
  if (threadNotAttached && !delivery.threadNotAttached)
    tell(turn, delivery, { event: 'thread_not_attached' });
  return { ...delivery, threadNotAttached };
}

/** A Storm has no Timeline. A Root message tells of the Fallback when it switches to it, a reply always. */
function tellTemplates(
  turn: DestinationTurn,
  { subject, message }: Delivery,
  { kind }: Flight,
  { missing = [], fallback }: SendAccepted,
): void {
  if (subject.kind !== 'group') return;
  const { groupId } = subject;
  for (const name of missing) {
    turn.sends.push(templateSend(groupId, 'template_value_missing', name, turn.now));
  }
  const isNews = kind === 'reply' || !message?.showsFallback;
  if (fallback && isNews)
    turn.sends.push(templateSend(groupId, 'fallback_template_used', fallback, turn.now));
}

function published(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  outcome: SendAccepted,
  at: Micros,
): void {
  const { post, publication } = delivery;
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
    showsFallback: Boolean(outcome.fallback),
  };
  save(turn, next(delivery, { type: 'published', message, isReplayed: outcome.replayed, now: turn.now }));
  recordMessage(turn, delivery, message.id, delivery.subject.kind === 'group' ? 'root' : 'storm_summary');
  tellPublication(turn, delivery, flight, post);
  if (delivery.subject.kind === 'group') turn.sends.push(publishedSend(delivery.subject.groupId, turn.now));
}

function tellPublication(
  turn: DestinationTurn,
  delivery: Delivery,
  { loudness, mentions: named }: Flight,
  post: Delivery['post'],
): void {
  const mentions = loudness === 'loud' ? (named ?? post?.mentions ?? []) : [];
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
  const showsFallback = Boolean(outcome.fallback);
  // It came back to the Route meanwhile: what says "final" now has to go.
  const isReturned = flight.isFinal && !leaving;
  const shown = { ...message, hash: isReturned ? null : hash, signedWith, showsFallback, editedAt: turn.now };
  save(turn, next(delivery, { type: 'edited', flight, shown, now: turn.now }));
  if (flight.isFinal && leaving) tell(turn, delivery, { event: 'final_edit' });
}

function replied(
  turn: DestinationTurn,
  delivery: Delivery,
  flight: Flight,
  { messageId }: SendAccepted,
  at: Micros,
): void {
  const reply = replyOf(delivery, flight);
  save(turn, next(withoutReply(delivery, flight), { type: 'reply_over', now: turn.now }));
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
  { replayed, isDuplicate }: SendAccepted,
): boolean {
  if (isDuplicate) return true;
  const { unsureSince } = triesOf(delivery, flight);
  if (flight.kind === 'edit' || unsureSince === null || replayed) return false;
  return !repeatsSafely(turn.state.messages.place) || flight.startedAt - unsureSince > KEY_KNOWN_FOR;
}

function recordMessage(
  turn: DestinationTurn,
  { connectionId, subject, publication }: Delivery,
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
    replaces: kind === 'root' && publication > 1,
    at,
  });
}
