/**
 * The running service (operations §2): its four layers, each a function that returns what the next ones are made of, and
 * the order in which they start and stop.
 */
import type { ListenAddress, Listener } from '../../http/server/listeners.ts';
import type { ActorSystem } from '../actor/index.ts';
import { atMost, type Clock, SECOND } from '../clock.ts';
import { createChannels } from './channels.ts';
import { type Engine, openEngine } from './engine.ts';
import { type Ground, openGround, type ServiceDeps } from './ground.ts';
import { createHousekeepingMetrics } from './housekeeping.ts';
import { createHttpLayer, type HttpLayer } from './http.ts';
import { createLeader, type LeaderDeps } from './leader.ts';

/** Of the grace of a shutdown: for calls under way, which have 10 s of their own, and for the engine to take their outcomes. */
const CALLS_WITHIN = 10 * SECOND;
const OUTCOMES_WITHIN = SECOND;

export interface Service {
  readonly bound: Readonly<Record<Listener, ListenAddress>>;
  /** The engine, for programs that run the service within themselves. */
  readonly system: ActorSystem;
}

/**
 * Starts everything on a prepared database; resolves once the service acts and answers.
 * @param onStop gets, before anything is opened, how to stop: takes no more work, finishes what is under way, and lets
 *   go of everything but the database. It may be called while the start still waits, and after it failed
 */
export async function startService(
  deps: ServiceDeps,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Service> {
  const ground = await openGround(deps);
  const engine = await openEngine(ground, onStop);
  const channels = createChannels(ground, engine);
  const { http, ingest, oidc } = await createHttpLayer(ground, engine, channels);
  const { clock, state } = ground;
  const { system, placement, calls, broadcast, watch, presence } = engine;
  const forBots = [channels.connections.channelBot.restoring, channels.messages.lostPosts];
  const leader = leaderOf(ground, engine, { secretExpiry: oidc.secretExpiry, forBots });

  let isStopping = false;
  onStop(async () => {
    isStopping = true;
    state.shuttingDown();
    leader.stop();
    channels.connections.stop();
    oidc.rechecks.stop();
    // At once, so that both end in time; an event that is due now is sent by the next start.
    await Promise.all([http.drain(), placement.drain(), atMost(clock, CALLS_WITHIN, channels.finish())]);
    await engineTookAll(system, clock);
    for (const part of engine.continued) part.stop();
    calls?.stop();
    await system.stop();
    await placement.stop();
    await presence.stop();
    watch.stop();
    ground.directory.stop();
    await broadcast.stop();
    await ground.outbound.stop();
    http.stop();
  });
  broadcast.start();
  watch.start();
  const bound = await listen(ground, http);
  presence.start();
  await placement.start();
  if (isStopping) return { bound, system };
  await system.start();
  ingest.open();
  calls?.start({
    heard: (what, shard) =>
      what === 'inbox' ? system.called() : ingest.poke(shard === null ? undefined : [shard]),
    answered: () => system.answered(),
  });
  for (const part of engine.continued) part.start();
  if (ground.settings.processing === 'on') ingest.start();
  leader.start();
  oidc.rechecks.start();
  state.ready();
  return { bound, system };
}

/** What this process does besides while it leads. */
function leaderOf(ground: Ground, engine: Engine, tasks: Pick<LeaderDeps, 'secretExpiry' | 'forBots'>) {
  const { database, registry, me, outbound, wake, clock, log } = ground;
  const { leadership, hints, systemMetrics } = engine;
  return createLeader({
    ...{ leadership, me, hints, clock, log, ...tasks },
    sql: database.main,
    caller: outbound.caller,
    keyring: database.keyring,
    metrics: systemMetrics,
    housekeepingMetrics: createHousekeepingMetrics(registry),
    poke: wake.everyone,
  });
}

/** Outcomes of calls are only in memory: what the engine has not begun when it stops is lost. */
async function engineTookAll(system: ActorSystem, clock: Clock): Promise<void> {
  const end = clock.now() + OUTCOMES_WITHIN;
  while (system.backlog() > 0 && clock.now() < end) {
    await new Promise<void>((resolve) => void clock.after(SECOND / 100, resolve));
  }
}

async function listen({ log }: Ground, http: HttpLayer['http']): Promise<Service['bound']> {
  const bound = await http.start();
  const text = (listener: Listener) => `${bound[listener].host}:${bound[listener].port}`;
  log('listeners_started', { app: text('app'), ingest: text('ingest'), internal: text('internal') });
  return bound;
}
