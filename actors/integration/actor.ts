/** The Integration as the engine runs it: its Heartbeat, what it learned of its senders, and its end. */
import type { Actor, ActorDefinition, TurnEnv } from '../../runtime/actor/index.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { alertGroupAddress, type IntegrationDeleted } from '../alert-group/messages.ts';
import { outagesUntil } from '../system/downtime.ts';
import {
  checkFeeds,
  type FeedsLookedAt,
  hurryCheck,
  keepLooking,
  lookAtFeeds,
  postponeCheck,
} from './check-feeds.ts';
import {
  type Configured,
  type Deleted,
  INTEGRATION,
  type IntegrationMessage,
  type RepeatSampled,
  type TruncationTold,
} from './messages.ts';
import type { HeartbeatEvidence, IntegrationWatch, Leftovers } from './ports.ts';
import { emptyIntegrationRows, type IntegrationRows, staleAfter, withSample } from './rows.ts';
import {
  type IntegrationState,
  IntegrationTurn,
  isGone,
  lostAt,
  persistIntegration,
  restoreIntegration,
  SCHEMA,
  startIntegration,
  wasAlive,
} from './turn.ts';

export interface IntegrationDependencies {
  readonly watch: IntegrationWatch;
  readonly clock: Pick<Clock, 'now'>;
}

/** Inputs of a turn, read before it; each is present only when it was needed. */
interface Surroundings {
  readonly heartbeat?: HeartbeatEvidence;
  readonly feeds?: FeedsLookedAt;
  readonly leftovers?: Leftovers;
}

type IntegrationActor = Actor<IntegrationState, IntegrationRows>;
export type IntegrationDefinition = ActorDefinition<IntegrationState, IntegrationRows, IntegrationMessage>;

/** Defines the actor kind `integration`; its rows come from the loader in storage/integrations/states.ts. */
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
      keepLooking(turn, actor.state.snapshot.value);
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
  turn.step({ type: 'signal', at });
}

/** Repeats across an outage of the path may be a sender's restarts, so they never shorten what is learned. */
function learn(turn: IntegrationTurn, { routePath, gap, since, at }: RepeatSampled): void {
  if (isGone(turn.state) || since === undefined) return;
  const before = turn.rows.routes.get(routePath);
  const isLonger = staleAfter(gap) > staleAfter(before?.interval ?? null);
  if (!isLonger && !wasAlive(turn.state, since, at)) return;
  const route = withSample(before, { path: routePath, gap, at });
  turn.learn(route);
  // A shorter interval may make presences stale at once.
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

/**
 * Our own outage never counts as a lost Heartbeat. An outage that is over is recorded; one that is just ending is not
 * recorded yet, but the Leader's last sign of life is then old.
 */
function doubtHeartbeat(turn: IntegrationTurn, evidence: HeartbeatEvidence): void {
  const deadline = lostAt(turn.state);
  if (deadline === null || turn.now <= deadline) return;
  const { lastSignalAt, awaitedAt, excusedUntil } = turn.state.snapshot.context;
  const until = Math.max(excusedUntil ?? 0, outagesUntil(turn.now, evidence).at(-1)?.to ?? 0);
  const awaited = Math.max(awaitedAt ?? 0, evidence.storedSignalAt ?? 0);
  turn.step({
    type: 'excused',
    awaitedAt: awaited > (lastSignalAt ?? 0) ? awaited : null,
    until: until > (lastSignalAt ?? 0) ? until : null,
  });
  const next = lostAt(turn.state);
  if (next !== null && turn.now > next) turn.step({ type: 'silence' });
}

/** The end of a deleted Integration: what was accepted before is processed, then what fires resolves (ingestion §8). */
const NEXT_LOOK: Micros = SECOND;

/** Time until the final check: an Alert in transit between two Alert Groups has arrived by then, even after a crash. */
const LAST_LOOK: Micros = 5 * MINUTE;

function endWhatFires(turn: IntegrationTurn, { isPending, groups }: Leftovers): void {
  if (isPending || groups.length > 0) turn.step({ type: 'leftovers_found' });
  if (isPending) {
    turn.step({ type: 'check_planned', at: turn.now + NEXT_LOOK });
    return;
  }
  const message: IntegrationDeleted = {
    type: 'integration_deleted',
    integrationId: turn.id,
    name: turn.state.name,
    at: turn.now,
  };
  for (const group of groups) turn.send({ to: alertGroupAddress(group), message });
  if (groups.length > 0) {
    turn.step({ type: 'check_planned', at: turn.now + NEXT_LOOK });
    return;
  }
  if (turn.state.snapshot.value === 'settling') {
    turn.step({ type: 'ended' });
    return;
  }
  turn.step({ type: 'emptied' });
  turn.step({ type: 'check_planned', at: turn.now + LAST_LOOK });
  turn.record({ type: 'integration.ended', integrationId: turn.id, at: turn.now });
}
