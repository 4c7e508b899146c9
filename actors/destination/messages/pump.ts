/** Begins the calls that may begin now: in order, within the limiters, few at a time (delivery §3, §6). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { apply, type DestinationTurn, isBroken, isDeleted } from '../turn.ts';
import {
  type DestinationProbe,
  type MessageOperation,
  type MessageSend,
  type Subject,
  subjectText,
} from './calls.ts';
import { type Delivery, type Flight, isOpenSubject } from './delivery.ts';
import { hasOwnToken, needsGrant, ownTokens, takeOwnToken, useGrant } from './tokens.ts';
import { changeState, save } from './turn.ts';
import { frozen, isLoudNow, isPastWindow, nextWork, type Work } from './work.ts';

/** Calls of a messenger Destination under way at once. */
export const MOST_FLIGHTS = 4;
/** A call without an outcome for this long is lost. Longer than the calls take that may be started together. */
export const CALL_LOST_AFTER: Micros = 60 * SECOND;

export function pumpMessages(turn: DestinationTurn): void {
  if (isBroken(turn)) {
    probe(turn);
    return;
  }
  for (const connectionId of turn.rows.messages.agendas.keys()) pumpThrough(turn, connectionId);
}

function pumpThrough(turn: DestinationTurn, connectionId: string): void {
  const { agendas, byKey, flights, pressed } = turn.rows.messages;
  const agenda = agendas.get(connectionId);
  for (let key = agenda?.next(turn.now); key; key = agenda?.next(turn.now)) {
    const delivery = byKey.get(key);
    const work = delivery && nextWork(delivery, pressed.get(subjectText(delivery.subject)));
    if (!work) throw new Error(`delivery ${key} stands on the agenda with nothing to do`);
    if (work.kind === 'edit' && isPastWindow(delivery, turn.now)) {
      save(turn, frozen(delivery, turn.now));
      continue;
    }
    if (flights.size >= MOST_FLIGHTS || !hasOwnToken(turn)) return;
    const count = () => dueAtOnce(turn, agenda?.keys() ?? []);
    if (!hasGrant(turn, delivery.connectionId, delivery.urgent, count)) return;
    takeOwnToken(turn);
    begin(turn, delivery, work, false);
  }
}

function hasGrant(
  turn: DestinationTurn,
  connectionId: PublicId | null,
  urgent: boolean,
  count: () => number,
): boolean {
  if (connectionId === null || !needsGrant(turn, connectionId)) return true;
  return useGrant(turn, connectionId, urgent, count);
}

/** How many of these deliveries may begin a call together, at least one. */
function dueAtOnce(turn: DestinationTurn, keys: Iterable<string>): number {
  const { byKey, flights, pressed } = turn.rows.messages;
  const most = Math.min(MOST_FLIGHTS - flights.size, ownTokens(turn));
  let due = 0;
  for (const key of keys) {
    if (due >= most) break;
    const delivery = byKey.get(key);
    const work = delivery && nextWork(delivery, pressed.get(subjectText(delivery.subject)));
    if (work && work.dueAt <= turn.now) due++;
  }
  return Math.max(1, due);
}

function nextCall(turn: DestinationTurn): number {
  const calls = turn.state.messages.calls + 1;
  changeState(turn, { calls });
  return calls;
}

function begin(turn: DestinationTurn, delivery: Delivery, work: Work, isProbe: boolean): void {
  const call = nextCall(turn);
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
    startedAt: turn.now,
    lostAt: turn.now + CALL_LOST_AFTER,
  };
  const editSince = work.kind === 'reply' ? delivery.editSince : null;
  save(turn, { ...delivery, notes, call: flight, editSince });
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
    dueAt: work.dueAt,
    isProbe,
  };
  turn.performs.push(perform);
}

/** The group resolved while its first Publication could not be made (§7.3). */
function withLateNote(delivery: Delivery, { kind }: Work): Delivery['notes'] {
  const { notes, message, republished, tries, post } = delivery;
  const isFirst = kind === 'publish' && !message && !republished && !post?.again;
  const late =
    isFirst && !isOpenSubject(delivery) && delivery.subject.kind === 'group' && tries.error !== null;
  return late ? { ...notes, late } : notes;
}

function operationOf(delivery: Delivery, work: Work): MessageOperation {
  const { message, publication, post, leaving } = delivery;
  if (work.kind === 'publish') {
    const isLoud = isLoudNow(delivery);
    const loudness = isLoud ? 'loud' : 'quiet';
    return { kind: 'publish', publication, loudness, mentions: isLoud && post ? mentionsOf(post) : [] };
  }
  if (!message) throw new Error('nothing is there to be edited or answered to');
  const { id: messageId, threadRef, hash } = message;
  if (work.kind === 'edit') return { kind: 'edit', messageId, threadRef, hash, isFinal: leaving };
  const { due: _due, tries: _tries, ...reply } = work.reply;
  return { kind: 'reply', messageId, threadRef, reply };
}

/** After a failure or a recovery it is a new Alert Group to those who read it (§2.1). */
function mentionsOf({ mentions, again }: NonNullable<Delivery['post']>) {
  return again && mentions.length > 0 ? (['new_alert_group'] as const) : mentions;
}

function loudnessOf(operation: MessageOperation): Flight['loudness'] {
  if (operation.kind === 'edit') return 'quiet';
  return operation.kind === 'publish' ? operation.loudness : operation.reply.loudness;
}

/** One key per intent, the same at every attempt (bridge protocol §6). */
function keyOf(destinationId: PublicId, delivery: Delivery, work: Work): string | null {
  const { subject, publication, message } = delivery;
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

/** Tries a Broken Destination: by its check, or where the type has none by the oldest Publication or edit. */
function probe(turn: DestinationTurn): void {
  const { probe: running, nextProbeAt } = turn.state.snapshot.context;
  const { place } = turn.state.messages;
  if (!place || running !== null || nextProbeAt === null || nextProbeAt > turn.now) return;
  if (place.type === 'webhook') {
    if (place.mode === 'template') probeBySending(turn);
    return;
  }
  if (!hasOwnToken(turn) || !hasGrant(turn, place.connectionId, false, () => 1)) return;
  takeOwnToken(turn);
  const call = nextCall(turn);
  const tookToken = needsGrant(turn, place.connectionId);
  changeState(turn, { probe: { call, lostAt: turn.now + CALL_LOST_AFTER, tookToken } });
  const perform: DestinationProbe = {
    type: 'message.probe',
    destinationId: turn.id,
    call,
    connectionId: place.connectionId,
  };
  turn.performs.push(perform);
  apply(turn, { type: 'probe_started', eventId: probeName(call) });
}

/** What the health machine knows a probe by. */
export function probeName(call: number): string {
  return `call ${call}`;
}

function probeBySending(turn: DestinationTurn): void {
  const oldest = oldestRootWork(turn);
  if (!oldest || !hasOwnToken(turn)) return;
  takeOwnToken(turn);
  begin(turn, oldest.delivery, oldest.work, true);
  apply(turn, { type: 'probe_started', eventId: probeName(turn.state.messages.calls) });
}

/** Also what stands on no agenda's top: the oldest of all. Asked once per probe. */
export function oldestRootWork(
  turn: DestinationTurn,
): { readonly delivery: Delivery; readonly work: Work } | undefined {
  const { agendas, byKey } = turn.rows.messages;
  let oldest: { readonly delivery: Delivery; readonly work: Work } | undefined;
  for (const agenda of agendas.values()) {
    for (const key of agenda.keys()) {
      const delivery = byKey.get(key);
      const work = delivery && nextWork({ ...delivery, replies: [] });
      if (!work || work.dueAt > turn.now) continue;
      if (!oldest || work.dueAt < oldest.work.dueAt) oldest = { delivery, work };
    }
  }
  return oldest;
}

/** When something may begin next by itself; null while nothing waits but for answers. */
export function nextCallAt(turn: DestinationTurn): Micros | null {
  const { agendas, flights } = turn.rows.messages;
  const { wishes, place } = turn.state.messages;
  const own = turn.state.messages.behindUntil ?? 0;
  if (isBroken(turn)) {
    const { probe: running, nextProbeAt } = turn.state.snapshot.context;
    if (running !== null || nextProbeAt === null || !place) return null;
    if (place.connectionId !== null && wishes[place.connectionId]) return null;
    if (place.type !== 'webhook') return Math.max(nextProbeAt, own);
  }
  if (!isDeleted(turn) && flights.size >= MOST_FLIGHTS) return null;
  let first: Micros | null = null;
  for (const [connectionId, agenda] of agendas) {
    const due = agenda.dueAt();
    if (due === null || (wishes[connectionId] && due <= turn.now)) continue;
    first = Math.min(first ?? Number.POSITIVE_INFINITY, due);
  }
  if (first === null) return null;
  const probeAt = isBroken(turn) ? (turn.state.snapshot.context.nextProbeAt ?? 0) : 0;
  return Math.max(first, own, probeAt);
}
