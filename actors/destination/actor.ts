/**
 * The Destination actor, of every type: takes in events and messages of Alert Groups, begins as many calls as its limiter,
 * the order per Alert Group and its health allow, and says when it wants to be woken (delivery §3, webhooks §3).
 */
import type { Actor, ActorDefinition, Turn, TurnEnv } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { MessageSend } from '../channels/calls.ts';
import type { DirectorySource } from '../directory.ts';
import { endEvents, lostSecrets, notDelivered } from './attempts.ts';
import { NO_SEND_NOTES } from './delivery/delivery.ts';
import {
  deleteMessages,
  finishTurn,
  isProbeUnderWay,
  messagesWakeAt,
  recallMessages,
  receiveMessage,
  seePlace,
  takePrepared,
} from './delivery/receive.ts';
import type { WaitingEvent } from './event-queue.ts';
import { resumeTelling } from './health.ts';
import { DESTINATION, type DestinationMessage, type EventRecorded } from './messages.ts';
import { mostStarted, tokenDueAt, withoutToken } from './pacing.ts';
import { type DestinationDependencies, type Prepared, prepare } from './prepare.ts';
import { type DestinationRows, emptyDestinationRows, takePage, takeRecorded, wantsPage } from './rows.ts';
import {
  apply,
  bucketOf,
  DELETED_ERROR,
  type DestinationState,
  type DestinationTurn,
  flushNotes,
  isBroken,
  isDeleted,
  isHealthy,
  migrateDestination,
  note,
  openTurn,
  persistDestination,
  recordProgress,
  restoreDestination,
  SCHEMA,
  startDestination,
} from './turn.ts';

/**
 * A call without an outcome for this long is lost: the event is due again, with the same id. Longer than the most
 * calls that may be started take one after the other, ten at a time and ten seconds each.
 */
export const CALL_LOST_AFTER: Micros = 60 * SECOND;

export type DestinationDefinition = ActorDefinition<DestinationState, DestinationRows, DestinationMessage>;

export function createDestination(deps: DestinationDependencies): DestinationDefinition {
  const { directory } = deps;
  return {
    kind: DESTINATION,
    schema: SCHEMA,
    migrate: migrateDestination,
    start: startDestination,
    restore: restoreDestination,
    persist: persistDestination,
    emptyRows: emptyDestinationRows,
    weight: (_state, { queue, messages }) => 1 + queue.size + messages.byKey.size,
    prepare: (actor, message, following) => prepare(actor, message, deps, following),
    receive: (actor, message, env) => receive(actor, message, env, directory),
  };
}

function receive(
  { self, state, rows }: Actor<DestinationState, DestinationRows>,
  message: DestinationMessage,
  env: TurnEnv,
  directory: DirectorySource,
): Turn<DestinationState> {
  const turn = openTurn(self.key as PublicId, state, rows, directory.current(), env);
  seePlace(turn, message.type === 'saved');
  const prepared = (env.prepared as Prepared | undefined) ?? {};
  if (prepared.events) takePage(rows, prepared.events);
  takePrepared(turn, prepared);
  if (rows.inherited === null) begin(turn);
  handle(turn, message, env);
  recallLost(turn);
  pump(turn);
  finishTurn(turn);
  flushNotes(turn);
  const { records, performs, sends, reply } = turn;
  return { state: turn.state, wakeAt: wakeAt(turn), records, performs, sends, reply };
}

function handle(turn: DestinationTurn, message: DestinationMessage, env: TurnEnv): void {
  switch (message.type) {
    case 'event_recorded':
      eventRecorded(turn, message);
      break;
    case 'saved':
      apply(turn, { type: 'saved', at: turn.now });
      break;
    case 'deleted':
      deleted(turn);
      break;
    case 'secrets_lost':
      lostSecrets(turn);
      break;
    case 'resume':
      recallInherited(turn);
      break;
    case 'wake':
      break;
    default:
      receiveMessage(turn, message, env);
  }
}

function eventRecorded(turn: DestinationTurn, message: EventRecorded): void {
  const event: WaitingEvent = {
    id: message.eventId,
    groupId: message.groupId,
    sequence: message.sequence,
    event: message.event,
    urgent: message.urgent,
    occurredAt: message.occurredAt,
    calls: 0,
    unread: 0,
    attempts: 0,
    firstFailedAt: null,
    notBefore: 0,
    exact: false,
  };
  const alone = turn.rows.queue.size === 0;
  if (!takeRecorded(turn.rows, event, turn.now)) return;
  if (isDeleted(turn)) notDelivered(turn, event, DELETED_ERROR);
  if (!isBroken(turn)) return;
  // With nothing else waiting, the next event is the probe the moment it is recorded.
  if (alone) apply(turn, { type: 'first_event', at: turn.now });
  if (turn.rows.troubled.has(event.groupId)) return;
  const error = turn.state.snapshot.context.reason;
  note(turn, { groupId: event.groupId, event: 'destination_broken', error, problem: true });
}

/** It may be told twice. */
function deleted(turn: DestinationTurn): void {
  if (isDeleted(turn)) return;
  apply(turn, { type: 'deleted' });
  endEvents(turn, DELETED_ERROR);
  deleteMessages(turn);
}

/**
 * After a restart nobody waits for the calls that were under way: they are due again. The first wake-up may come before
 * this message: calls begun since then are left alone.
 */
function recallInherited(turn: DestinationTurn): void {
  const { inherited, queue } = turn.rows;
  const isInherited = ({ id, calls }: WaitingEvent) => inherited?.events.get(id) === calls;
  recall(turn, queue.lost(Number.POSITIVE_INFINITY).filter(isInherited));
  recallMessages(turn, ({ call }) => inherited !== null && call <= inherited.call);
}

function recallLost(turn: DestinationTurn): void {
  const lostAt = turn.rows.queue.lostAt();
  if (lostAt !== null && lostAt <= turn.now) recall(turn, turn.rows.queue.lost(turn.now));
}

function recall(turn: DestinationTurn, events: readonly WaitingEvent[]): void {
  for (const event of events) {
    turn.rows.queue.putBack(event);
    recordProgress(turn, event, { state: 'waiting', nextAttemptAt: null, error: null });
    if (turn.state.snapshot.context.probe === event.id) apply(turn, { type: 'probe_lost', at: turn.now });
  }
}

/** The first turn with these rows: whatever was under way may be lost. */
function begin(turn: DestinationTurn): void {
  const flights = turn.rows.queue.lost(Number.POSITIVE_INFINITY).map(({ id, calls }) => [id, calls] as const);
  turn.rows.inherited = { call: turn.state.messages.calls, events: new Map(flights) };
  const { probe: running } = turn.state.snapshot.context;
  const isLost = running !== null && !turn.rows.queue.head(running)?.inFlight && !isProbeUnderWay(turn);
  if (isLost) {
    apply(turn, { type: 'probe_lost', at: turn.now });
  }
  resumeTelling(turn);
}

/** Starts every call that may start now. */
function pump(turn: DestinationTurn): void {
  if (isBroken(turn)) probe(turn);
  const { queue } = turn.rows;
  while (isHealthy(turn) && queue.inFlight < mostStarted(turn.limiter)) {
    const event = queue.nextDue(turn.now);
    if (!event || !takeToken(turn)) return;
    send(turn, event);
  }
}

function probe(turn: DestinationTurn): void {
  const { probe: running, nextProbeAt } = turn.state.snapshot.context;
  if (running !== null || nextProbeAt === null || nextProbeAt > turn.now) return;
  const event = turn.rows.queue.oldest(turn.now);
  if (!event || !takeToken(turn)) return;
  send(turn, event);
  apply(turn, { type: 'probe_started', eventId: event.id });
}

function takeToken(turn: DestinationTurn): boolean {
  const bucket = withoutToken(bucketOf(turn));
  if (bucket) turn.state = { ...turn.state, bucket };
  return bucket !== null;
}

function send(turn: DestinationTurn, event: WaitingEvent): void {
  const lostAt = turn.now + CALL_LOST_AFTER;
  turn.rows.queue.start(event, lostAt);
  event.calls++;
  recordProgress(turn, event, { state: 'sending', nextAttemptAt: lostAt, error: null });
  const perform: MessageSend = {
    type: 'message.send',
    destinationId: turn.id,
    call: event.calls,
    subject: { kind: 'group', groupId: event.groupId },
    target: 1,
    connectionId: null,
    operation: { kind: 'event', event: event.event, call: event.calls },
    notes: NO_SEND_NOTES,
    key: event.id,
    attempt: event.attempts + 1,
    unsureSince: null,
    urgent: event.urgent,
    values: {},
    dueAt: event.occurredAt,
    isProbe: isBroken(turn),
  };
  turn.performs.push(perform);
}

function wakeAt(turn: DestinationTurn): Micros | null {
  // A wake-up that leaves the same instant behind would count as ignored, so "at once" is the next one.
  const atOnce = turn.now + 1;
  if (turn.rows.notes.length > 0 || wantsPage(turn.rows)) return atOnce;
  const events = isDeleted(turn) ? [] : [turn.rows.queue.lostAt(), nextCallAt(turn)];
  const wishes = [...events, messagesWakeAt(turn, atOnce)].filter((wish) => wish !== null);
  return wishes.length === 0 ? null : Math.min(...wishes);
}

/** When the next call may start; null while an answer has to come first. */
function nextCallAt(turn: DestinationTurn): Micros | null {
  const { queue } = turn.rows;
  const token = tokenDueAt(bucketOf(turn), turn.limiter);
  if (isBroken(turn)) {
    const { probe: running, nextProbeAt } = turn.state.snapshot.context;
    if (running !== null || nextProbeAt === null || queue.size === queue.inFlight) return null;
    if (queue.oldest(turn.now)) return Math.max(nextProbeAt, token);
    const due = queue.dueAt();
    return due === null ? null : Math.max(nextProbeAt, token, due);
  }
  if (queue.inFlight >= mostStarted(turn.limiter)) return null;
  const due = queue.dueAt();
  return due === null ? null : Math.max(due, token, turn.now);
}
