/** The Connection as the engine runs it: its limiter, how it listens, and which events it has handled. */
import type { Actor, ActorDefinition, TurnEnv } from '../../runtime/actor/index.ts';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { isSameLimiter } from '../destination/limiter.ts';
import { destinationAddress, type MessageGone } from '../destination/messages.ts';
import { TOLD_CALL } from '../destination/pacing.ts';
import { givenUp, postponed } from './machine.ts';
import {
  CONNECTION,
  type Configured,
  type ConnectionMessage,
  type DeletedMessage,
  type EventAnswer,
  type EventArrived,
  type InfoRead,
  type PollFinished,
  type TokenAnswer,
  type TokenGranted,
  type TokenTaken,
  type TokenWanted,
} from './messages.ts';
import {
  deskAfterSetBack,
  FRESH_DESK,
  granted,
  held,
  soonestTokenAt,
  takenToken,
  UNTOLD_CALL,
  wished,
  withEndedCall,
  withReturnedToken,
  withWaitingPerson,
} from './tokens.ts';
import {
  type ConnectionRows,
  type ConnectionState,
  ConnectionTurn,
  emptyConnectionRows,
  handledBefore,
  isCalling,
  isDeleted,
  isPolling,
  NO_INFO,
  persistConnection,
  restoreConnection,
  SCHEMA,
  startConnection,
} from './turn.ts';

/** A poll without an outcome for this long is lost: longer than one takes, with what its events lead to. */
export const POLL_LOST_AFTER: Micros = 5 * MINUTE;

export type ConnectionDefinition = ActorDefinition<ConnectionState, ConnectionRows, ConnectionMessage>;

/** Defines the actor kind `connection`; its rows come from the loader in storage/delivery/connection-events.ts. */
export function createConnectionActor(): ConnectionDefinition {
  return {
    kind: CONNECTION,
    schema: SCHEMA,
    migrate: (_persisted, from) => {
      throw new Error(`no Connection was ever stored with schema ${from}`);
    },
    start: startConnection,
    restore: restoreConnection,
    persist: persistConnection,
    emptyRows: emptyConnectionRows,
    weight: (_state, rows) => 1 + rows.size,
    receive(actor: Actor<ConnectionState, ConnectionRows>, message, env) {
      const turn = new ConnectionTurn(actor, env);
      const desk = deskAfterSetBack(turn.state.desk, turn.now);
      if (desk !== turn.state.desk) turn.change({ desk });
      receive(turn, message, env);
      if (!isDeleted(turn.state)) pump(turn);
      return turn.finish();
    },
  };
}

function receive(turn: ConnectionTurn, message: ConnectionMessage, env: TurnEnv): void {
  switch (message.type) {
    case 'configured':
      configure(turn, message);
      break;
    case 'deleted':
      remove(turn, message.version);
      break;
    case 'take_token':
      turn.reply = takeToken(turn, message);
      break;
    case 'token_wanted':
      if (env.from) wish(turn, env.from.key as PublicId, message);
      break;
    case 'token_returned':
      turn.change({ desk: withReturnedToken(turn.state.desk, turn.state.limiter, turn.now) });
      break;
    case 'call_ended':
      turn.change({ desk: withEndedCall(turn.state.desk, turn.state.limiter, turn.now) });
      break;
    case 'hold':
      turn.change({ desk: held(turn.state.desk, turn.state.limiter, turn.now, message.until) });
      break;
    case 'event':
      turn.reply = hearEvent(turn, message);
      break;
    case 'event_settled':
      settle(turn, message.eventId);
      break;
    case 'poll_finished':
      pollFinished(turn, message);
      break;
    case 'info_read':
      infoRead(turn, message);
      break;
    case 'resume':
      if (isCalling(turn.state)) turn.step({ type: 'poll_lost', at: turn.now });
      break;
    case 'wake':
      recallLost(turn);
      break;
    default:
      message satisfies never;
  }
}

function configure(turn: ConnectionTurn, { version, access, polls, ...configured }: Configured): void {
  if (version <= turn.state.version || isDeleted(turn.state)) return;
  const isOtherAccess = turn.state.access !== 0 && access !== turn.state.access;
  const { desk, limiter: before } = turn.state;
  const limiter = before.sliding ? { ...configured.limiter, sliding: before.sliding } : configured.limiter;
  // Those that wait were told a time by the limiter before.
  const isOtherLimiter = !isSameLimiter(before, limiter);
  turn.change({
    version,
    access,
    limiter,
    desk: isOtherLimiter || isOtherAccess ? { ...desk, grantAt: null, peopleUntil: null } : desk,
  });
  if (!polls && isPolling(turn.state)) turn.step({ type: 'polling_ended' });
  if (isOtherAccess) {
    // What the bot before was asked to wait for does not hold this one.
    turn.change({
      ...{ info: NO_INFO, toldAt: null },
      desk: { ...turn.state.desk, bucket: null, heldUntil: null },
    });
    turn.forgetEvents();
    turn.step({ type: 'access_changed', at: turn.now });
  }
  if (polls && !isPolling(turn.state)) turn.step({ type: 'polling_wanted', at: turn.now });
}

function remove(turn: ConnectionTurn, version: number): void {
  turn.change({ version, desk: FRESH_DESK, info: NO_INFO });
  turn.step({ type: 'deleted' });
  turn.forgetEvents();
}

/** Ahead of every delivery: while somebody waits, those come a little later than the token. */
function takeToken(turn: ConnectionTurn, { isEndTold }: TokenTaken): TokenAnswer {
  const { desk, limiter } = turn.state;
  const taken = takenToken(desk, limiter, turn.now, isEndTold ? TOLD_CALL : UNTOLD_CALL);
  turn.change({ desk: taken ?? withWaitingPerson(desk, limiter, turn.now) });
  return taken ? { granted: true } : { granted: false, dueAt: soonestTokenAt(desk, limiter, turn.now) };
}

function wish(turn: ConnectionTurn, destinationId: PublicId, wanted: TokenWanted): void {
  const { urgent, count, sliding } = wanted;
  if (sliding) turn.change({ limiter: { ...turn.state.limiter, sliding } });
  const isEndTold = sliding === true;
  turn.change({
    desk: wished(turn.state.desk, { destinationId, urgent, count, since: turn.now, isEndTold }),
  });
}

function hearEvent(turn: ConnectionTurn, { eventId, say, deleted, copy }: EventArrived): EventAnswer {
  if (isDeleted(turn.state)) return { say: null };
  turn.change({ lastAt: turn.now });
  const before = handledBefore(turn.rows, eventId, turn.now);
  if (before) return { say: before.say };
  if (deleted) forget(turn, deleted);
  if (copy) turn.record({ type: 'connection.copy_seen', connectionId: turn.id, ...copy, at: turn.now });
  turn.handled(eventId, say);
  return { say };
}

/** Whose message it is that is kept up to date posts another one; any other message is nothing to us any more. */
function forget(
  turn: ConnectionTurn,
  { messageId, destinationId, groupId, ...message }: DeletedMessage,
): void {
  if (!message.isPresent) {
    turn.record({ type: 'connection.message_forgotten', connectionId: turn.id, messageId });
    return;
  }
  const gone: MessageGone = { type: 'message_gone', connectionId: turn.id, messageId, groupId, at: turn.now };
  turn.send({ to: destinationAddress(destinationId), message: gone });
}

function settle(turn: ConnectionTurn, eventId: string): void {
  if (isDeleted(turn.state)) return;
  turn.change({ lastAt: turn.now });
  const before = turn.rows.get(eventId);
  if (before?.say !== null) turn.handled(eventId, null, before?.at);
}

function pollFinished(turn: ConnectionTurn, { poll, outcome, at }: PollFinished): void {
  if (!isCalling(turn.state) || poll !== turn.state.snapshot.context.poll) return;
  switch (outcome.is) {
    case 'passed':
      turn.step({
        ...{ type: 'page_passed', at, cursor: outcome.cursor },
        ...{ brought: outcome.brought, isFull: outcome.isFull },
      });
      break;
    case 'failed':
      turn.step({ type: 'poll_failed', error: outcome.error, retryAt: outcome.retryAt, at });
      break;
    case 'cursor_refused':
      turn.step({ type: 'cursor_refused', error: outcome.error, at });
      break;
    case 'events_failed':
      turn.step({ type: 'events_failed', ids: outcome.ids, postponed: outcome.postponed, at });
      giveUp(turn);
      break;
    case 'unoffered':
      turn.step({ type: 'poll_unoffered', at });
      break;
    case 'conflict':
      turn.step({ type: 'poll_conflict', at });
      break;
    case 'lost':
      // What it was saved as arrives in a moment.
      turn.step({ type: 'poll_lost', at: at + SECOND });
      break;
    default:
      outcome satisfies never;
  }
}

/** The events behind one that always fails must not wait for ever. */
function giveUp(turn: ConnectionTurn): void {
  for (const eventId of givenUp(turn.state.snapshot.context, turn.now)) {
    turn.handled(eventId, null);
    turn.perform({ type: 'connection.event_given_up', connectionId: turn.id, eventId });
  }
}

function infoRead(turn: ConnectionTurn, { access, read, at }: InfoRead): void {
  if (access !== turn.state.access || isDeleted(turn.state)) return;
  const copy = turn.state.info;
  // Reads overlap: a check, another replica's, one that took long. What was asked earlier says nothing about now.
  if (at < Math.max(copy.readAt ?? 0, copy.failedAt ?? 0)) return;
  if (!read.ok) {
    turn.change({ info: { ...copy, failedAt: at, wrong: read.pointer ?? copy.wrong } });
    return;
  }
  const { info, wrong, tokenless } = read;
  turn.change({ info: { info, readAt: at, failedAt: null, wrong, tokenless: tokenless ?? copy.tokenless } });
}

function recallLost(turn: ConnectionTurn): void {
  const { lostAt } = turn.state.snapshot.context;
  if (lostAt !== null && lostAt <= turn.now) turn.step({ type: 'poll_lost', at: turn.now });
}

/** Gives tokens and begins a poll, where their time has come. */
function pump(turn: ConnectionTurn): void {
  const { desk, to } = granted(turn.state.desk, turn.state.limiter, turn.now);
  if (desk !== turn.state.desk) turn.change({ desk });
  for (const key of new Set(to)) {
    const message: TokenGranted = { type: 'token_granted', count: to.filter((id) => id === key).length };
    turn.send({ to: { kind: 'destination', key }, message });
  }
  const { nextAt } = turn.state.snapshot.context;
  if (!turn.state.snapshot.matches({ polling: 'waiting' }) || nextAt === null || nextAt > turn.now) return;
  turn.step({ type: 'poll_started', at: turn.now, lostAt: turn.now + POLL_LOST_AFTER });
  const { poll, cursor, gap } = turn.state.snapshot.context;
  const { access } = turn.state;
  turn.perform({
    type: 'connection.poll',
    connectionId: turn.id,
    ...{ poll, access, cursor, gap },
    postponed: postponed(turn.state.snapshot.context, turn.now),
  });
}
