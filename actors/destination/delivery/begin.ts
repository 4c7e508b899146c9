/**
 * Begins one call: the delivery records that it is in flight, and the effect holds what to send
 * (delivery §3 rule 5, §5 rule 1).
 */
import type { PublicId } from '../../../runtime/public-id.ts';
import { type MessageOperation, type MessageSend, type Subject, subjectText } from '../../channels/calls.ts';
import { CALL_LOST_AFTER } from '../pacing.ts';
import type { DestinationTurn } from '../turn.ts';
import { type Delivery, type Flight, isOpenSubject } from './delivery.ts';
import { next } from './machine.ts';
import { needsGrant } from './tokens.ts';
import { changeState, save } from './turn.ts';
import { isLoudNow, type Work } from './work.ts';

export function nextCall(turn: DestinationTurn): number {
  const calls = turn.state.messages.calls + 1;
  changeState(turn, { calls });
  return calls;
}

/** @returns what the health machine knows the call by, if it is a probe */
export function begin(turn: DestinationTurn, waiting: Delivery, work: Work, isProbe: boolean): string {
  const delivery = withCounted(waiting);
  const [event] = delivery.events ?? [];
  const call = event ? event.calls : nextCall(turn);
  const notes = withLateNote(delivery, work);
  const operation = operationOf({ ...delivery, notes }, work);
  const flight: Flight = {
    call,
    kind: work.kind,
    messageId: delivery.message?.id ?? null,
    sequence: work.kind === 'reply' ? work.reply.sequence : null,
    status: delivery.status,
    isFinal: operation.kind === 'edit' && operation.isFinal,
    isProbe,
    tookToken: needsGrant(turn, delivery.connectionId),
    loudness: loudnessOf(operation),
    ...(operation.kind === 'publish' ? { mentions: operation.mentions } : {}),
    startedAt: turn.now,
    lostAt: turn.now + CALL_LOST_AFTER,
  };
  save(turn, next(delivery, { type: `${work.kind}_began`, call: flight, notes, now: turn.now }));
  const tries = work.kind === 'reply' ? work.reply.tries : delivery.tries;
  const perform: MessageSend = {
    type: 'message.send',
    destinationId: turn.id,
    call,
    subject: delivery.subject,
    target: delivery.target,
    connectionId: delivery.connectionId,
    operation,
    notes,
    key: keyOf(turn.id, delivery, work),
    attempt: tries.attempts + 1,
    unsureSince: tries.unsureSince,
    urgent: delivery.urgent,
    values: delivery.values,
    dueAt: event ? event.occurredAt : work.dueAt,
    isProbe,
  };
  turn.performs.push(perform);
  return event ? event.id : probeName(call);
}

/** What the health machine knows a probe by. */
export function probeName(call: number): string {
  return `call ${call}`;
}

/** One more call about its first event. */
function withCounted(delivery: Delivery): Delivery {
  const [event, ...others] = delivery.events ?? [];
  return event ? { ...delivery, events: [{ ...event, calls: event.calls + 1 }, ...others] } : delivery;
}

/** The group resolved before its first Publication could be made (delivery §7.3). */
function withLateNote(delivery: Delivery, { kind }: Work): Delivery['notes'] {
  const { notes, message, republished, tries, post } = delivery;
  const isFirst = kind === 'publish' && !message && !republished && !post?.again;
  const late =
    isFirst && !isOpenSubject(delivery) && delivery.subject.kind === 'group' && tries.error !== null;
  return late ? { ...notes, late } : notes;
}

function operationOf(delivery: Delivery, work: Work): MessageOperation {
  const { message, publication, post, leaving } = delivery;
  const [event] = delivery.events ?? [];
  if (event) return { kind: 'event', event: event.event, call: event.calls };
  if (work.kind === 'publish') {
    const isLoud = isLoudNow(delivery);
    const loudness = isLoud ? 'loud' : 'quiet';
    const mentions = isLoud && post ? post.mentions : [];
    return { kind: 'publish', publication, loudness, mentions, owner: post?.owner ?? null };
  }
  if (!message) throw new Error('nothing is there to be edited or answered to');
  const { id: messageId, threadRef, hash } = message;
  if (work.kind === 'edit') return { kind: 'edit', messageId, threadRef, hash, isFinal: leaving };
  const { due, tries: _tries, ...reply } = work.reply;
  return { kind: 'reply', messageId, threadRef, reply: { at: due, ...reply } };
}

function loudnessOf(operation: MessageOperation): Flight['loudness'] {
  if (operation.kind === 'reply') return operation.reply.loudness;
  return operation.kind === 'publish' ? operation.loudness : 'quiet';
}

/** One key per intent, the same at every attempt (bridge §6). */
function keyOf(destinationId: PublicId, delivery: Delivery, work: Work): string | null {
  const { subject, publication, message } = delivery;
  const [event] = delivery.events ?? [];
  if (event) return event.id;
  if (work.kind === 'edit') return null;
  if (work.kind === 'publish') return publicationKey(destinationId, subject, publication);
  const thread = `${subjectText(subject)}-${message?.publication ?? publication}`;
  return `reply-${destinationId}-${thread}-${work.reply.sequence}`;
}

function publicationKey(destinationId: PublicId, subject: Subject, publication: number): string {
  const named = `${destinationId}-${subjectText(subject)}`;
  if (subject.kind === 'group') return `root-${named}-${publication}`;
  return publication === 1 ? `storm-${named}` : `storm-${named}-${publication}`;
}
