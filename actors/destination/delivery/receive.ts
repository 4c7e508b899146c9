/** Everything a Destination receives about its deliveries. */
import type { TurnEnv } from '../../../runtime/actor/index.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Subject } from '../../channels/calls.ts';
import { recovered, renewIfOld, tryAgain } from '../health.ts';
import { isSameLimiter } from '../limiter.ts';
import type { DestinationMessage, MessageGone, RoutesChanged } from '../messages.ts';
import { endEvents, eventRecorded } from '../plan-events.ts';
import {
  apply,
  callSucceeded,
  type DestinationTurn,
  isBroken,
  isDeleted,
  isProbe,
  LEFT_EVENTS_ERROR,
} from '../turn.ts';
import { probeName } from './begin.ts';
import {
  type Delivery,
  deliveryKey,
  type Flight,
  isOver,
  retried,
  type Tries,
  unsureEdit,
} from './delivery.ts';
import { groupEvent, groupReleased, listens, storm } from './group-messages.ts';
import { next } from './machine.ts';
import { deleteMessage, putBack, sendFinished } from './outcomes.ts';
import type { DeliveryPage } from './ports.ts';
import { probeEnded } from './probing.ts';
import { nextCallAt, pumpMessages } from './pump.ts';
import { hold, takeDeliveries, takeRead, takeSubjects, wantsDeliveries } from './rows.ts';
import { placeOfConfig, takesMessages } from './state.ts';
import { heldOf, renderAnew, type SweepPage, takeSweep } from './sweeps.ts';
import {
  callEnded,
  ownCallEnded,
  returnGrants,
  returnOwnToken,
  takeForPerson,
  tokenGranted,
} from './tokens.ts';
import {
  addJoin,
  addPass,
  changeState,
  deliveryOf,
  finishMessages,
  LAST_EDITS_FOR,
  readySweeps,
  save,
  sweepsAt,
} from './turn.ts';

/** What was read for a turn about messages. */
export interface PreparedMessages {
  readonly known?: readonly Delivery[];
  /** All subjects of which `known` says everything, by text. */
  readonly asked?: readonly string[];
  readonly page?: DeliveryPage;
  readonly sweep?: SweepPage;
}

/** Of which delivery a message speaks, so that it is read when it is not in memory. */
export function subjectOf(message: DestinationMessage): Subject | null {
  switch (message.type) {
    case 'group_event':
    case 'group_released':
      return { kind: 'group', groupId: message.groupId };
    case 'rerender':
      return message.groupId === undefined ? null : { kind: 'group', groupId: message.groupId };
    case 'message_gone':
      return message.groupId === null ? null : { kind: 'group', groupId: message.groupId };
    case 'storm':
      return { kind: 'storm', routeId: message.routeId, since: message.since };
    default:
      return null;
  }
}

/** Takes in what was read; to be done before anything else of the turn. */
export function takePrepared(turn: DestinationTurn, prepared: PreparedMessages): void {
  const { known, asked = [], page, sweep } = prepared;
  const { messages } = turn.rows;
  if (known) takeSubjects(messages, asked, known, turn.now);
  if (page) takeDeliveries(messages, page, turn.now);
  const swept = sweep ? heldOf(sweep) : [];
  const read = [...(known ?? []), ...(page?.deliveries ?? []), ...swept];
  takeRead(messages, swept, turn.now);
  for (const delivery of read) {
    const held = messages.byKey.get(deliveryKey(delivery));
    if (held) renewIfOld(turn, held);
  }
  if (sweep) takeSweep(turn, sweep);
}

/** Notes where messages go; a save may have changed that. */
export function seePlace(turn: DestinationTurn, isSaved: boolean): void {
  const { config, state } = turn;
  if (!config) return;
  const { place, limiter } = state.messages;
  if (!isSameLimiter(limiter, turn.limiter)) {
    changeState(turn, { limiter: turn.limiter, behindUntil: null });
  }
  const next = placeOfConfig(config);
  if (place === null) changeState(turn, { place: next });
  else if (isSaved && (next.target !== place.target || next.mode !== place.mode)) moveTo(turn, next);
}

/** Whoever asked to wait is not asked any more: another receiver, or another bot. */
export function forgetWait(turn: DestinationTurn): void {
  turn.state = { ...turn.state, bucket: null };
  changeState(turn, { heldUntil: null, behindUntil: null });
}

/** It was pointed elsewhere: the old messages get their last edit, and what is open is published at the new place. */
function moveTo(turn: DestinationTurn, next: ReturnType<typeof placeOfConfig>): void {
  const { place } = turn.state.messages;
  const isOtherMode = place?.mode !== next.mode;
  changeState(turn, { place: next });
  forgetWait(turn);
  if (turn.state.messages.probe) {
    // What it finds out is about the place before.
    probeEnded(turn);
    apply(turn, { type: 'probe_lost', at: turn.now });
  }
  if (isOtherMode && !takesMessages(place ?? next)) endEvents(turn, LEFT_EVENTS_ERROR);
  addPass(turn, isOtherMode ? 'leave_all' : 'leave_targets', null);
  if (!takesMessages(next)) return;
  for (const route of turn.directory.routes) {
    if (route.destinationIds.includes(turn.id)) addJoin(turn, route.id);
  }
}

type AboutMessages = Exclude<
  DestinationMessage,
  { type: 'saved' | 'deleted' | 'secrets_lost' | 'rights_lost' | 'resume' | 'wake' }
>;

export function receiveMessage(turn: DestinationTurn, message: AboutMessages, env: TurnEnv): void {
  switch (message.type) {
    case 'event_recorded':
      eventRecorded(turn, message);
      break;
    case 'group_event':
      groupEvent(turn, message);
      break;
    case 'group_released':
      groupReleased(turn, message);
      break;
    case 'storm':
      storm(turn, message);
      break;
    case 'routes_changed':
      routesChanged(turn, message);
      break;
    case 'rerender':
      if (message.groupId === undefined) addPass(turn, 'rerender', message.routeId);
      else renderAnew(turn, deliveryOf(turn, { kind: 'group', groupId: message.groupId }));
      break;
    case 'message_gone':
      messageGone(turn, message);
      break;
    case 'press_began':
      holdEdits(turn, message.groupId, message.until);
      break;
    case 'press_ended':
      holdEdits(turn, message.groupId, null);
      break;
    case 'send_finished':
      sendFinished(turn, message);
      break;
    case 'token_granted':
      if (env.from) tokenGranted(turn, env.from.key, message.count);
      break;
    case 'take_token':
      turn.reply = takeForPerson(turn);
      break;
    case 'token_returned':
      returnOwnToken(turn);
      break;
    case 'call_ended':
      ownCallEnded(turn);
      break;
    case 'worked':
      callSucceeded(turn);
      if (isBroken(turn)) recovered(turn, 'worked');
      else tryAgain(turn);
      break;
    default:
      message satisfies never;
  }
}

/** Calls whose outcome nobody waits for any more are due again. */
export function recallMessages(
  turn: DestinationTurn,
  isLost: (call: Pick<Flight, 'call' | 'lostAt'>, delivery: Delivery | null) => boolean,
): void {
  for (const key of [...turn.rows.messages.flights.values()]) {
    const delivery = turn.rows.messages.byKey.get(key);
    if (delivery?.call && isLost(delivery.call, delivery)) recallOne(turn, delivery);
  }
  const { probe } = turn.state.messages;
  if (probe === null || !isLost(probe, null)) return;
  probeEnded(turn);
  apply(turn, { type: 'probe_lost', at: turn.now });
}

/** The request may have been made: a repeat keeps its key, and says that it is one. */
function recallOne(turn: DestinationTurn, delivery: Delivery): void {
  const { call, events, connectionId } = delivery;
  if (!call) return;
  callEnded(turn, connectionId, call.tookToken);
  const [event] = events ?? [];
  if (event ? isProbe(turn, event.id) : call.isProbe) apply(turn, { type: 'probe_lost', at: turn.now });
  const landed = unsureEdit({ ...delivery, call: null }, call);
  const unsure = (tries: Tries) => ({ ...tries, unsureSince: tries.unsureSince ?? call.startedAt });
  const known = call.kind === 'edit' || events ? landed : retried(landed, call, unsure);
  save(turn, next(known, putBack(call, turn.now)));
}

/** Whether the probe that the machine waits for is under way. */
export function isProbeUnderWay({ state, rows }: DestinationTurn): boolean {
  const { probe } = state.snapshot.context;
  const { byKey, flights } = rows.messages;
  const names = [...flights].map(([name, key]) =>
    typeof name === 'number' ? probeName(name) : byKey.get(key)?.events?.[0]?.id,
  );
  if (state.messages.probe) names.push(probeName(state.messages.probe.call));
  return names.includes(probe ?? '');
}

/** At the end of a turn: begins calls, records what changed. */
export function finishTurn(turn: DestinationTurn): void {
  recallMessages(turn, ({ lostAt }) => lostAt <= turn.now);
  readySweeps(turn);
  pumpMessages(turn);
  returnGrants(turn);
  finishMessages(turn);
}

/** When messages want the next turn; null for never. */
export function messagesWakeAt(turn: DestinationTurn, atOnce: Micros): Micros | null {
  const { messages } = turn.rows;
  if (wantsDeliveries(messages)) return atOnce;
  const lost = [...messages.flights.values()].map((key) => messages.byKey.get(key)?.call?.lostAt ?? null);
  const wishes = [
    ...lost,
    turn.state.messages.probe?.lostAt ?? null,
    sweepsAt(turn.state.messages.sweeps, atOnce),
    nextCallAt(turn),
  ].filter((wish) => wish !== null);
  return wishes.length === 0 ? null : Math.max(atOnce, Math.min(...wishes));
}

/** The Destination is deleted: its messages get a last edit, unless it has no Connection and its Secrets are gone. */
export function deleteMessages(turn: DestinationTurn): void {
  const { place } = turn.state.messages;
  probeEnded(turn);
  changeState(turn, { deletedAt: turn.now, sweeps: [] });
  if (place?.connectionId === null) {
    addPass(turn, 'end', null);
    return;
  }
  addPass(turn, 'leave_all', null);
  addPass(turn, 'end', null, turn.now + LAST_EDITS_FOR);
}

function routesChanged(turn: DestinationTurn, { joined, left: lost }: RoutesChanged): void {
  if (isDeleted(turn)) return;
  for (const routeId of lost) addPass(turn, 'leave', routeId);
  if (listens(turn)) for (const routeId of joined) addJoin(turn, routeId);
}

function messageGone(turn: DestinationTurn, { connectionId, messageId, groupId }: MessageGone): void {
  const { byKey } = turn.rows.messages;
  const isIt = (delivery: Delivery) => {
    const { subject, message } = delivery;
    if (isOver(delivery) || message?.id !== messageId) return false;
    if (connectionId !== undefined && delivery.connectionId !== connectionId) return false;
    return groupId === null
      ? subject.kind === 'storm'
      : subject.kind === 'group' && subject.groupId === groupId;
  };
  const delivery = [...byKey.values()].find(isIt);
  if (delivery) deleteMessage(turn, delivery);
}

/** Edits of the group wait until then, or no longer. */
function holdEdits(turn: DestinationTurn, groupId: PublicId, until: Micros | null): void {
  const { pressed } = turn.rows.messages;
  for (const [subject, end] of pressed) if (end <= turn.now) pressed.delete(subject);
  if (until === null) pressed.delete(groupId);
  else pressed.set(groupId, until);
  const delivery = deliveryOf(turn, { kind: 'group', groupId });
  if (delivery) hold(turn.rows.messages, delivery, turn.now);
}
