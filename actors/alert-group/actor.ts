/** The Alert Group as an actor: messages in, one step at a time, everything it led to as data. */
import type { Actor, ActorDefinition } from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DirectorySource } from '../directory.ts';
import { asksForNewer, lookUpForCarried, runCarried, runCommand } from './commands/commands.ts';
import {
  endIntegration,
  moveToRoute,
  noteDelivery,
  noteDowntime,
  noteNoticeDelivered,
  noteTemplate,
  releaseOwner,
} from './configuration.ts';
import { receivePart } from './ingestion/part.ts';
import {
  alertsToFind,
  feedsToAsk,
  lookUp,
  lookUpForUnresolve,
  partSlots,
  tailSlots,
  tailsSlot,
} from './ingestion/turn-inputs.ts';
import { ALERT_GROUP, type AlertGroupMessage, type CommandOutcome, type GroupCommand } from './messages.ts';
import { type ContestedAlerts, NOTHING_ASKED, type Outside, type RelatedGroups } from './ports.ts';
import { type GroupRows, weightOf } from './rows.ts';
import {
  contextOf,
  type GroupState,
  isInGrace,
  migrateState,
  persistState,
  restoreState,
  UNSTARTED,
} from './state.ts';
import { endHoldThatMayNotBe, hold, release } from './storm.ts';
import { adoptTails, wake } from './timers/deadlines.ts';
import { beginTurn, type GroupTurn } from './turn.ts';

export interface AlertGroupDependencies {
  readonly directory: DirectorySource;
  readonly related: RelatedGroups;
  readonly contested: ContestedAlerts;
}

export type AlertGroupDefinition = ActorDefinition<GroupState, GroupRows, AlertGroupMessage>;

const SCHEMA = 2;

/** The definition that the engine runs Alert Groups by. */
export function createAlertGroup({
  directory,
  related,
  contested,
}: AlertGroupDependencies): AlertGroupDefinition {
  return {
    kind: ALERT_GROUP,
    schema: SCHEMA,
    migrate: migrateState,
    start: () => UNSTARTED,
    restore: restoreState,
    persist: persistState,
    emptyRows: () => new Map(),
    weight: (_, rows) => 1 + weightOf(rows),
    numbered: (state, number) => (state.stage === 'started' ? { ...state, number } : state),
    isLarge: (message) => message.type === 'part' && message.isLarge === true,
    prepare: (actor, message) => prepare(actor, message, { directory, related, contested }),
    receive: (actor, message, env) => {
      const turn = beginTurn(actor, env, directory.current());
      receive(turn, message, (env.prepared as Outside | undefined) ?? NOTHING_ASKED);
      endHoldThatMayNotBe(turn);
      return turn.finish();
    },
  };
}

function prepare(
  { self, state, rows }: Actor<GroupState, GroupRows>,
  message: AlertGroupMessage,
  { directory: source, related, contested }: AlertGroupDependencies,
): Promise<Outside> | null {
  const directory = source.current();
  switch (message.type) {
    case 'part':
      return lookUp(related, {
        slots: partSlots(state, message, directory, contested),
        alerts: alertsToFind(state, rows, message, contested),
        feeds: feedsToAsk(rows, message),
      });
    case 'tails':
      return lookUp(related, { slots: tailsSlot(state, message, directory, contested) });
    case 'wake': {
      if (state.stage === 'unstarted' || !isInGrace(state)) return null;
      return lookUp(related, { slots: [...tailSlots(state, rows, directory).values()] });
    }
    case 'command': {
      if (message.carrier) return lookUpForCarried(related, message.carrier);
      if (state.stage === 'unstarted' || !asksForNewer(state, message.command.name)) return null;
      return lookUpForUnresolve(related, state.slot, self.key as PublicId);
    }
    default:
      return null;
  }
}

function receive(turn: GroupTurn, message: AlertGroupMessage, outside: Outside): void {
  switch (message.type) {
    case 'part':
      receivePart(turn, message, outside);
      break;
    case 'tails':
      adoptTails(turn, message, outside);
      break;
    case 'command':
      receiveCommand(turn, message, outside);
      break;
    default:
      // A group that never started ignores everything else: its first Alert was placed in another group.
      if (turn.state.stage === 'started') receiveByStarted(turn, message, outside);
  }
}

function receiveCommand(turn: GroupTurn, command: GroupCommand, outside: Outside): void {
  const run = (): CommandOutcome =>
    turn.state.stage === 'unstarted' ? { outcome: 'unknown' } : runCommand(turn, command, outside);
  turn.reply = command.carrier ? runCarried(turn, command.carrier, outside, run) : run();
}

function receiveByStarted(
  turn: GroupTurn,
  message: Exclude<AlertGroupMessage, { type: 'part' | 'tails' | 'command' }>,
  outside: Outside,
): void {
  switch (message.type) {
    case 'integration_deleted':
      endIntegration(turn, message);
      break;
    case 'owner_released':
      releaseOwner(turn, message);
      break;
    case 'route_moved':
      moveToRoute(turn, message);
      break;
    case 'published':
      publish(turn, message.at);
      break;
    case 'notice_delivered':
      noteNoticeDelivered(turn, message);
      break;
    case 'delivery_noted':
      noteDelivery(turn, message);
      break;
    case 'template_noted':
      noteTemplate(turn, message);
      break;
    case 'downtime':
      noteDowntime(turn, message);
      break;
    case 'held':
      hold(turn);
      break;
    case 'released':
      release(turn);
      break;
    case 'urgency_edited':
      // Every turn checks whether a held group became Urgent.
      break;
    case 'wake':
      wake(turn, outside);
      break;
  }
}

function publish(turn: GroupTurn, at: number): void {
  const { firstPublishedAt, acceptedWhileHeld } = contextOf(turn.group);
  if (firstPublishedAt !== null || acceptedWhileHeld) return;
  turn.step({ type: 'publish', at }, { kind: 'system', reason: 'delivery' });
}
