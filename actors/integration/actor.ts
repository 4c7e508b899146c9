/** The Integration as the engine runs it: its Heartbeat, what it learned of its senders, and its end. */
import type { Actor, ActorDefinition, TurnEnv } from '../../runtime/actor/index.ts';
import { type Clock, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { checkFeeds, type FeedsLookedAt, hurryCheck, lookAtFeeds, postponeCheck } from './check-feeds.ts';
import { endWhatFires, type Leftovers } from './deletion.ts';
import { doubtHeartbeat, type HeartbeatEvidence } from './doubt.ts';
import { staleAfter, withSample } from './learned.ts';
import {
  type Configured,
  type Deleted,
  INTEGRATION,
  type IntegrationMessage,
  type RepeatSampled,
  type TruncationTold,
} from './messages.ts';
import type { IntegrationWatch } from './ports.ts';
import { emptyIntegrationRows, type IntegrationRows } from './rows.ts';
import {
  type IntegrationState,
  isGone,
  lostAt,
  persistIntegration,
  restoreIntegration,
  SCHEMA,
  startIntegration,
} from './state.ts';
import { IntegrationTurn } from './turn.ts';

export interface IntegrationDependencies {
  readonly watch: IntegrationWatch;
  readonly clock: Pick<Clock, 'now'>;
}

/** What a turn was told about the world; each only when it was asked. */
interface Surroundings {
  readonly heartbeat?: HeartbeatEvidence;
  readonly feeds?: FeedsLookedAt;
  readonly leftovers?: Leftovers;
}

type IntegrationActor = Actor<IntegrationState, IntegrationRows>;
export type IntegrationDefinition = ActorDefinition<IntegrationState, IntegrationRows, IntegrationMessage>;

/** Defines the actor kind `integration`; its rows come from the loader in storage/integration-states.ts. */
export function createIntegrationActor(dependencies: IntegrationDependencies): IntegrationDefinition {
  return {
    kind: INTEGRATION,
    schema: SCHEMA,
    migrate: (_persisted, from) => {
      throw new Error(`no Integration was ever stored with schema ${from}`);
    },
    start: startIntegration,
    restore: restoreIntegration,
    persist: persistIntegration,
    emptyRows: emptyIntegrationRows,
    weight: (_state, rows) => 1 + rows.routes.size + rows.truncated.size,
    prepare: (actor, message) => prepare(actor, message, dependencies),
    receive(actor, message, env) {
      const turn = new IntegrationTurn(actor, env);
      receive(turn, message, env);
      return turn.finish();
    },
  };
}

function prepare(
  { self, state, rows }: IntegrationActor,
  message: IntegrationMessage,
  { watch, clock }: IntegrationDependencies,
): Promise<Surroundings> | null {
  const id = self.key as PublicId;
  if (message.type === 'deleted') {
    return state.snapshot.value === 'deleted'
      ? null
      : watch.leftovers(id).then((leftovers) => ({ leftovers }));
  }
  if (message.type !== 'wake') return null;
  if (isGone(state)) return watch.leftovers(id).then((leftovers) => ({ leftovers }));
  const now = clock.now();
  const deadline = lostAt(state);
  const heartbeat = deadline !== null && now > deadline ? watch.heartbeat(id) : null;
  const feeds = lookAtFeeds(watch, id, state, rows, now);
  if (heartbeat === null && feeds === null) return null;
  return Promise.all([heartbeat, feeds]).then(([evidence, looked]) => ({
    ...(evidence ? { heartbeat: evidence } : {}),
    ...(looked ? { feeds: looked } : {}),
  }));
}

function receive(turn: IntegrationTurn, message: IntegrationMessage, env: TurnEnv): void {
  const { heartbeat, feeds, leftovers } = (env.prepared as Surroundings | undefined) ?? {};
  switch (message.type) {
    case 'configured':
      configure(turn, message);
      break;
    case 'deleted':
      remove(turn, message, leftovers);
      break;
    case 'signal':
      signal(turn, message.at);
      break;
    case 'sample':
      learn(turn, message);
      break;
    case 'truncation':
      hearTruncation(turn, message);
      break;
    case 'wake':
      if (leftovers) endWhatFires(turn, leftovers);
      if (heartbeat) doubtHeartbeat(turn, heartbeat);
      if (feeds) checkFeeds(turn, feeds);
      else postponeCheck(turn);
      break;
    default:
      message satisfies never;
  }
}

function configure(turn: IntegrationTurn, message: Configured): void {
  const { version, name, staticLabels, heartbeat } = message;
  if (version <= turn.state.version || isGone(turn.state)) return;
  turn.state = { ...turn.state, version, name, staticLabels };
  const timeout = heartbeat.timeoutSeconds * SECOND;
  const isOff = turn.state.snapshot.value === 'not_configured';
  if (heartbeat.enabled && isOff) turn.step({ type: 'heartbeat_on', timeout });
  else if (!heartbeat.enabled && !isOff) turn.step({ type: 'heartbeat_off' });
  else if (timeout !== turn.state.snapshot.context.timeout) turn.step({ type: 'timeout_changed', timeout });
  if (!heartbeat.enabled && turn.rows.truncated.size > 0) hurryCheck(turn);
}

function remove(turn: IntegrationTurn, message: Deleted, leftovers: Leftovers | undefined): void {
  const { version, name } = message;
  if (version <= turn.state.version) return;
  turn.state = { ...turn.state, version, name };
  turn.step({ type: 'deleted' });
  turn.forgetSenders();
  if (leftovers) endWhatFires(turn, leftovers);
}

function signal(turn: IntegrationTurn, at: number): void {
  const before = turn.state.snapshot.value;
  turn.step({ type: 'signal', at });
  if (turn.state.snapshot.value === 'live' && before !== 'live') hurryCheck(turn);
}

function learn(turn: IntegrationTurn, { routePath, gap, at }: RepeatSampled): void {
  if (isGone(turn.state)) return;
  const before = turn.rows.routes.get(routePath);
  const route = withSample(before, { path: routePath, gap, at });
  turn.learn(route);
  // What was not looked for so soon may be stale by now.
  const isSooner = staleAfter(route.interval) < staleAfter(before?.interval ?? null);
  if (isSooner && turn.state.snapshot.value === 'live') hurryCheck(turn);
}

function hearTruncation(turn: IntegrationTurn, message: TruncationTold): void {
  const { feed, routePath, truncated, at } = message;
  if (isGone(turn.state)) return;
  if (!truncated) {
    turn.endTruncations([feed]);
    return;
  }
  turn.beginTruncation({ feed, routePath, since: at });
  if (turn.state.snapshot.value === 'not_configured') hurryCheck(turn);
}
