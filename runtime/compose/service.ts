/** The running service: what is started in which order, and how it stops (operations §2). */

import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createPasswords } from '../../actors/access/passwords.ts';
import { createRefusedProofs } from '../../actors/access/refused-proofs.ts';
import { ALERT_GROUP } from '../../actors/alert-group/messages.ts';
import { createAlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import { connectionAddress } from '../../actors/connection/messages.ts';
import { destinationAddress } from '../../actors/destination/messages.ts';
import { createDeliveryMetrics } from '../../actors/destination/metrics.ts';
import { integrationAddress } from '../../actors/integration/messages.ts';
import type { Runbooks } from '../../actors/internal-alerts/conditions.ts';
import { ROUTE } from '../../actors/route/messages.ts';
import { createSystemMetrics } from '../../actors/system/metrics.ts';
import { createHttp, type Http } from '../../http/index.ts';
import { createIngest, createIngestMetrics } from '../../http/ingest/index.ts';
import { clientAddresses } from '../../http/server/exchange.ts';
import type { ListenAddress, Listener } from '../../http/server/listeners.ts';
import { createAccessStore } from '../../storage/access/access.ts';
import { createApiTokens } from '../../storage/access/api-tokens.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { recordLimited } from '../../storage/access/throttle.ts';
import { createPeople } from '../../storage/access/users.ts';
import { polledConnections } from '../../storage/configuration/connection-rows.ts';
import { createWebhookSettings } from '../../storage/configuration/destination-rows.ts';
import { rerenderOldButtons } from '../../storage/delivery/rerender.ts';
import { destinationsWithWork } from '../../storage/delivery/webhook-events.ts';
import { createWebhookBodies } from '../../storage/delivery/webhook-records.ts';
import { createWaitingWork } from '../../storage/engine/backlog.ts';
import { createSystemStatusReader } from '../../storage/engine/system-status.ts';
import { createHeartbeatSignals } from '../../storage/integrations/integrations.ts';
import { builtinIntegration, createInternalAlerts } from '../../storage/integrations/internal-alerts.ts';
import { createIntegrationTokens } from '../../storage/integrations/tokens.ts';
import { isUnavailable } from '../../storage/postgres/connection.ts';
import { inTransaction } from '../../storage/postgres/transaction.ts';
import { createSnapshotQueue } from '../../storage/snapshots/queue.ts';
import { createSnapshotWriter } from '../../storage/snapshots/writer.ts';
import type { ActorMessage, ActorSystem, Address } from '../actor/index.ts';
import { atMost, type Clock, SECOND } from '../clock.ts';
import { createClockSkewMetrics } from '../clock-skew.ts';
import type { Log } from '../log.ts';
import { createCalls } from '../placement/calls.ts';
import { createResumption } from '../placement/resume-on-acquire.ts';
import { createKeySwitch } from '../secrets/keyring.ts';
import { csrfToken, verifyCsrfToken } from '../secrets/signed-tokens.ts';
import { createWakeupGate } from '../wakeup-gate.ts';
import { createShared, followConfiguration } from './broadcast.ts';
import { createConnections } from './connections.ts';
import type { ServiceSettings } from './database.ts';
import { createEngine } from './engine.ts';
import { openGround, type ServiceDeps } from './ground.ts';
import { createHousekeepingMetrics } from './housekeeping.ts';
import { createLeader } from './leader.ts';
import { createMessages } from './messages.ts';
import { createOidc } from './oidc.ts';
import { createPerformer } from './performer.ts';
import { createPresence, openPlacement } from './placement.ts';
import { resourceOperations } from './resources.ts';
import { createTemplateWork } from './templates.ts';

/** Of the grace of a shutdown: for calls under way, which have 10 s of their own, and for the engine to take their outcomes. */
const CALLS_WITHIN = 10 * SECOND;
const OUTCOMES_WITHIN = SECOND;

const RUNBOOKS_FOLDER = path.resolve(import.meta.dirname, '..', '..', 'docs', 'runbooks');
const UI_FOLDER = path.resolve(import.meta.dirname, '..', '..', 'ui', 'dist');

export interface Service {
  /** Where the listeners are bound. */
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
  const { settings, database, clock, log, registry, me, directory, links, outbound, state, wake } = ground;
  const { main } = database;
  const { client, caller } = outbound;
  const ingestMetrics = createIngestMetrics(registry);
  const groupMetrics = createAlertGroupMetrics(registry);
  const isTrusted = () => watch.isTrusted();
  const tokens = createIntegrationTokens({ sql: main, clock, log, isTrusted });

  const calling = {
    ...deps,
    caller,
    registry,
    system: {
      ask: (to: Address, message: ActorMessage) => system.ask(to, message),
      tell: (to: Address, message: ActorMessage) => system.tell(to, message),
      stillOwns: (actor: Address) => system.stillOwns(actor),
    },
  };
  const deliveryMetrics = createDeliveryMetrics(registry);
  const bodies = createWebhookBodies();
  const webhooks = createWebhookSettings(main, clock);
  const connections = createConnections({
    ...calling,
    recorder: outbound.recorder,
    ingestUrl: settings.ingestUrl,
    publicUrl: settings.publicUrl,
    directory,
    groupMetrics,
    hints: { send: (hint) => hints.send(hint) },
    messagesWait: wake.everyone,
  });
  const templates = createTemplateWork({
    sql: main,
    links,
    registry,
    publicUrl: settings.publicUrl,
    version: deps.version.version,
    log,
  });
  const messages = createMessages({
    ...calling,
    ...{ connections, directory, links, templates, deliveryMetrics, webhooks, bodies },
    publicUrl: settings.publicUrl,
    version: deps.version.version,
  });
  const { placement, leadership, others } = await openPlacement(
    {
      ...{ settings, me, database, clock, log, registry },
      version: deps.version.version,
      isCalling: (shard) => messages.isCalling(shard),
    },
    onStop,
  );
  const sharing = { me, main, clock, log, others };
  const { broadcast, hints, hintHere } = createShared(sharing);
  /** Messages that this replica laid out before it heard of another active key still have its buttons. */
  const signAnew = () => {
    inTransaction(main, (tx) => rerenderOldButtons(tx, clock.now())).then(
      wake.everyone,
      // Whoever leads looks every hour.
      (error: unknown) => log('store_read_failed', { what: 'old buttons', error: String(error) }),
    );
  };
  const activeKey = createKeySwitch({
    keyring: database.keyring,
    log,
    onSwitched() {
      hintHere({ type: 'organization', id: null });
      signAnew();
    },
    onNotHeld: () => process.exit(1),
  });
  const { watch, saving } = followConfiguration({
    ...sharing,
    broadcast,
    memory: { directory, tokens, client, links, webhookSettings: webhooks, activeKey },
  });
  const performer = createPerformer({
    hints,
    sendMessage: messages.send,
    performForConnection: connections.perform,
    reported: (reported) => ingest.report(reported),
    ingestMetrics,
    groupMetrics,
    directory,
    log,
  });
  const calls =
    others &&
    createCalls({
      ...{ me, placement, clock, signals: others.signals },
      ...{ hasIsolated: others.hasIsolated, onGone: others.onGone },
      heard: (what, shard) =>
        what === 'inbox' ? system.called() : ingest.poke(shard === null ? undefined : [shard]),
      answered: () => system.answered(),
    });
  const internalAlerts = createInternalAlerts({
    integrationId: builtinIntegration(directory.current()),
    runbooks: runbooksOf(settings, deps.version.version),
    stored: (shards) => ingest.stored(shards),
  });
  const system = createEngine({
    settings,
    placement,
    peers: calls,
    database,
    directory,
    clock,
    log,
    registry,
    performer,
    bodies,
    internalAlerts,
    holdsBack: (actor) => wakeupGate.isHeld(actor),
    forgetSettings: (id) => {
      webhooks.forget(id);
      messages.forget(id);
    },
  });
  wake.attach((shards) => {
    system.poke();
    calls?.call(shards);
  });
  const wakeupGate = createWakeupGate({
    kinds: [ALERT_GROUP, ROUTE],
    placement,
    work: createWaitingWork(main),
    clock,
    log,
    released: () => system.poke(),
  });
  const systemMetrics = createSystemMetrics(registry);
  systemMetrics.watch({ leadership, directory });
  const systemStatus = createSystemStatusReader(main);
  const snapshots = createSnapshotWriter(database.accepts);
  const refusedProofs = createRefusedProofs({
    record: (entry, limit) => recordLimited(main, appendAudit, entry, limit),
    ...{ clock, log },
  });
  const ingest = createIngest({
    tokens,
    signals: createHeartbeatSignals(main, (id) => wake.owner(integrationAddress(id))),
    writer: { write: (received) => state.watched(snapshots.write(received)) },
    clientAddress: clientAddresses(settings.trustedProxies),
    refusedProofs,
    queue: createSnapshotQueue(main),
    system,
    placement,
    others: calls && others && { ...others, call: calls.snapshotsWait },
    clock,
    log,
    metrics: ingestMetrics,
    logsInfo: settings.logLevel === 'info',
    isUnavailable,
  });
  const access = createAccessStore({ sql: main, appendAudit, keyring: database.keyring, log });
  const oidc = createOidc({
    ...{ database, access, internalAlerts, caller, registry, clock, log },
    publicUrl: settings.publicUrl,
  });
  const http = await createHttp({
    listen: settings.listen,
    publicUrl: settings.publicUrl,
    trustedProxies: settings.trustedProxies,
    uiFolder: UI_FOLDER,
    runbooksFolder: RUNBOOKS_FOLDER,
    version: deps.version.version,
    clock,
    log,
    registry,
    random: (size) => randomBytes(size),
    access,
    singleSignOn: oidc.singleSignOn,
    people: createPeople({ sql: main, appendAudit, keyring: database.keyring, log }),
    tokens: createApiTokens({ sql: main, log }),
    refusedProofs,
    passwords: createPasswords(clock),
    csrf: {
      issue: (session) => csrfToken(database.keyring, session),
      verify: (session, token) => verifyCsrfToken(database.keyring, session, token),
    },
    directory,
    upToDate: watch.look,
    hints,
    poke: wake.everyone,
    operations: resourceOperations({
      ...deps,
      ...saving,
      hints,
      system,
      connections,
      messages,
      ...{ caller, webhooks },
      internalAlerts,
      messagesWait: wake.everyone,
      templates,
      groupMetrics,
      oidc: oidc.forSettings,
      systemStatus: {
        reader: systemStatus,
        version: deps.version,
        coordination: others
          ? { mode: 'redis', redisUp: () => others.signals.isUp }
          : { mode: 'single', redisUp: () => null },
      },
    }),
    isUnavailable,
    readiness: state.check,
    ingest,
    pushes: connections.pushes,
  });
  const leader = createLeader({
    leadership,
    me,
    sql: main,
    caller,
    keyring: database.keyring,
    metrics: systemMetrics,
    housekeepingMetrics: createHousekeepingMetrics(registry),
    secretExpiry: oidc.secretExpiry,
    poke: wake.everyone,
    hints,
    clock,
    log,
  });
  const presence = createPresence({
    me,
    version: deps.version,
    database,
    leadership,
    signals: others?.signals ?? null,
    reader: systemStatus,
    hints: { send: hintHere },
    metrics: createClockSkewMetrics(registry),
    clock,
    log,
    activeKey,
  });

  const resumption = createResumption({
    ...{ placement, clock, log },
    list: async () => [
      ...(await destinationsWithWork(main)).map(destinationAddress),
      ...(await polledConnections(main)).map(connectionAddress),
    ],
    begin: (actor) => system.tell(actor, { type: 'resume' }),
  });

  let isStopping = false;
  onStop(async () => {
    isStopping = true;
    state.shuttingDown();
    leader.stop();
    connections.stop();
    oidc.rechecks.stop();
    const callsEnd = messages.finish();
    // At once, so that both end in time; an event that is due now is sent by the next start.
    await Promise.all([http.drain(), placement.drain(), atMost(clock, CALLS_WITHIN, callsEnd)]);
    await engineTookAll(system, clock);
    resumption.stop();
    wakeupGate.stop();
    calls?.stop();
    await system.stop();
    await placement.stop();
    await presence.stop();
    watch.stop();
    directory.stop();
    await broadcast.stop();
    await outbound.stop();
    http.stop();
  });
  broadcast.start();
  watch.start();
  const bound = await listen(http, log);
  presence.start();
  await placement.start();
  if (isStopping) return { bound, system };
  await system.start();
  ingest.open();
  calls?.start();
  resumption.start();
  wakeupGate.start();
  if (settings.processing === 'on') ingest.start();
  leader.start();
  oidc.rechecks.start();
  state.ready();
  return { bound, system };
}

/** Outcomes of calls are only in memory: what the engine has not begun when it stops is lost. */
async function engineTookAll(system: ActorSystem, clock: Clock): Promise<void> {
  const end = clock.now() + OUTCOMES_WITHIN;
  while (system.backlog() > 0 && clock.now() < end) {
    await new Promise<void>((resolve) => void clock.after(SECOND / 100, resolve));
  }
}

async function listen(http: Http, log: Log): Promise<Service['bound']> {
  const bound = await http.start();
  const text = (listener: Listener) => `${bound[listener].host}:${bound[listener].port}`;
  log('listeners_started', { app: text('app'), ingest: text('ingest'), internal: text('internal') });
  return bound;
}

function runbooksOf({ runbookBaseUrl: base, publicUrl }: ServiceSettings, version: string): Runbooks {
  return base === undefined ? { base: publicUrl, version: null } : { base, version };
}
