/**
 * The Destination actor, of every type: takes in events and messages of Alert Groups, begins as many calls as its limiter,
 * the order per Alert Group and its health allow, and says when it wants to be woken (delivery §3, webhooks §3).
 */
import type { Actor, ActorDefinition, Turn, TurnEnv } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DirectorySource } from '../directory.ts';
import {
  deleteMessages,
  finishTurn,
  forgetWait,
  isProbeUnderWay,
  messagesWakeAt,
  recallMessages,
  receiveMessage,
  seePlace,
  takePrepared,
} from './delivery/receive.ts';
import { broke, resumeTelling, tryAgain } from './health.ts';
import { DESTINATION, type DestinationMessage } from './messages.ts';
import { endEvents, endLeftEvents } from './plan-events.ts';
import { type DestinationDependencies, type Prepared, prepare } from './prepare.ts';
import { type DestinationRows, emptyDestinationRows, eventsUnderWay, takePage, wantsPage } from './rows.ts';
import {
  apply,
  DELETED_ERROR,
  type DestinationState,
  type DestinationTurn,
  flushNotes,
  isBroken,
  isDeleted,
  migrateDestination,
  openTurn,
  persistDestination,
  restoreDestination,
  SCHEMA,
  startDestination,
} from './turn.ts';

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
    weight: (_state, { events, messages }) => 1 + events + messages.byKey.size,
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
  if (prepared.events) takePage(rows, prepared.events, env.now);
  takePrepared(turn, prepared);
  if (rows.inherited === null) begin(turn);
  handle(turn, message, env);
  finishTurn(turn);
  flushNotes(turn);
  const { records, performs, sends, reply } = turn;
  return { state: turn.state, wakeAt: wakeAt(turn), records, performs, sends, reply };
}

function handle(turn: DestinationTurn, message: DestinationMessage, env: TurnEnv): void {
  switch (message.type) {
    case 'saved':
      if (message.isOtherAccess) forgetWait(turn);
      apply(turn, { type: 'saved', at: turn.now });
      if (!isBroken(turn)) tryAgain(turn);
      break;
    case 'deleted':
      deleted(turn);
      break;
    case 'secrets_lost':
      if (!isDeleted(turn)) broke(turn, 'secret_unreadable');
      break;
    case 'rights_lost':
      if (!isDeleted(turn)) broke(turn, message.reason);
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
  const { inherited } = turn.rows;
  if (!inherited) return;
  recallMessages(turn, ({ call }, delivery) => {
    const [event] = delivery?.events ?? [];
    return event ? inherited.events.get(event.id) === call : call <= inherited.call;
  });
}

/** The first turn with these rows: whatever was under way may be lost. */
function begin(turn: DestinationTurn): void {
  turn.rows.inherited = { call: turn.state.messages.calls, events: eventsUnderWay(turn.rows) };
  const { probe: running } = turn.state.snapshot.context;
  if (running !== null && !isProbeUnderWay(turn)) apply(turn, { type: 'probe_lost', at: turn.now });
  endLeftEvents(turn);
  resumeTelling(turn);
}

function wakeAt(turn: DestinationTurn): Micros | null {
  // A wake-up that leaves the same instant behind would count as ignored, so "at once" is the next one.
  const atOnce = turn.now + 1;
  if (turn.rows.notes.length > 0 || wantsPage(turn.rows)) return atOnce;
  return messagesWakeAt(turn, atOnce);
}
