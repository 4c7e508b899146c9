/** The second layer of the composition root: actors on this replica, what they commit, and how other replicas hear of it. */
import { ALERT_GROUP } from '../../actors/alert-group/messages.ts';
import { connectionAddress } from '../../actors/connection/messages.ts';
import { destinationAddress } from '../../actors/destination/messages.ts';
import type { Hint, HintBus } from '../../actors/effects.ts';
import type { Runbooks } from '../../actors/internal-alerts/conditions.ts';
import { ROUTE } from '../../actors/route/messages.ts';
import { createSystemMetrics, type SystemMetrics } from '../../actors/system/metrics.ts';
import type { SystemStatusReader } from '../../actors/system/ports.ts';
import { createSnapshotReport } from '../../http/ingest/index.ts';
import { polledConnections } from '../../storage/configuration/connection-rows.ts';
import { rerenderOldButtons } from '../../storage/delivery/rerender.ts';
import { destinationsWithWork } from '../../storage/delivery/webhook-events.ts';
import { createWaitingWork } from '../../storage/engine/backlog.ts';
import { createSystemStatusReader } from '../../storage/engine/system-status.ts';
import {
  builtinIntegration,
  createInternalAlerts,
  type InternalAlerts,
} from '../../storage/integrations/internal-alerts.ts';
import { inTransaction } from '../../storage/postgres/transaction.ts';
import type { ActorSystem } from '../actor/index.ts';
import { createClockSkewMetrics } from '../clock-skew.ts';
import { type Calls, createCalls } from '../placement/calls.ts';
import { createResumption } from '../placement/resume-on-acquire.ts';
import { createKeySwitch } from '../secrets/keyring.ts';
import { createWakeupGate } from '../wakeup-gate.ts';
import { createActors } from './actors.ts';
import { createShared, type Following, followConfiguration, type Shared } from './broadcast.ts';
import type { ServiceSettings } from './database.ts';
import type { Ground } from './ground.ts';
import { createPerformer } from './performer.ts';
import { type Among, createPresence, openPlacement, type Presence } from './placement.ts';

export interface Engine extends Among, Following, Pick<Shared, 'broadcast'> {
  readonly system: ActorSystem;
  readonly hints: HintBus;
  /** Null when this process is the only one. */
  readonly calls: Calls | null;
  readonly internalAlerts: InternalAlerts;
  readonly presence: Presence;
  readonly systemMetrics: SystemMetrics;
  readonly systemStatus: SystemStatusReader;
  /** What continues actors' work after a start or a takeover; started and stopped with the engine. */
  readonly continued: readonly { start(): void; stop(): void }[];
}

/** @param onStop gets how to let go of what is opened while the start still waits */
export async function openEngine(
  ground: Ground,
  onStop: (stop: () => Promise<void>) => void,
): Promise<Engine> {
  const { settings, version, database, clock, log, registry, me, directory, outbound, ports } = ground;
  const { main } = database;
  const among = await openPlacement(
    {
      ...{ settings, me, database, clock, log, registry },
      version: version.version,
      isCalling: (shard) => ports.channels.get().isCalling(shard),
    },
    onStop,
  );
  const { placement, leadership, others } = among;
  const sharing = { me, main, clock, log, others };
  const { broadcast, hints, hintHere } = createShared(sharing);
  const activeKey = keySwitch(ground, hintHere);
  const following = followConfiguration({
    ...sharing,
    broadcast,
    memory: { ...ground, client: outbound.client, webhookSettings: ground.webhooks, activeKey },
  });
  ports.configuration.fill(following.watch);
  const calls = others && createCalls({ me, placement, clock, ...others });
  const internalAlerts = createInternalAlerts({
    integrationId: builtinIntegration(directory.current()),
    runbooks: runbooksOf(settings, version.version),
    stored: (shards) => ports.intake.get().stored(shards),
  });
  const wakeupGate = createWakeupGate({
    kinds: [ALERT_GROUP, ROUTE],
    ...{ placement, clock, log },
    work: createWaitingWork(main),
    released: ground.wake.here,
  });
  const system = createActors({
    ...ground,
    ...{ placement, internalAlerts },
    peers: calls,
    performer: performerOf(ground, hints),
    holdsBack: wakeupGate.isHeld,
    look: following.watch.look,
    forgetSettings: (id) => ports.channels.get().forgetSettings(id),
  });
  ground.wake.attach({ poke: () => system.poke(), call: (shards) => calls?.call(shards) });
  const systemMetrics = createSystemMetrics(registry);
  systemMetrics.watch({ leadership, directory });
  const systemStatus = createSystemStatusReader(main);
  const presence = createPresence({
    ...{ me, version, database, leadership, activeKey, clock, log },
    signals: others?.signals ?? null,
    reader: systemStatus,
    hints: { send: hintHere },
    metrics: createClockSkewMetrics(registry),
  });
  const resumption = createResumption({
    ...{ placement, clock, log },
    list: async () => [
      ...(await destinationsWithWork(main)).map(destinationAddress),
      ...(await polledConnections(main)).map(connectionAddress),
    ],
    begin: (actor) => system.tell(actor, { type: 'resume' }),
  });
  return {
    ...{ ...among, ...following, broadcast, hints, calls, internalAlerts, system },
    ...{ presence, systemMetrics, systemStatus, continued: [resumption, wakeupGate] },
  };
}

/** Follows which master key is active. @param hintHere the browsers of this process */
function keySwitch({ database, clock, log, wake }: Ground, hintHere: (hint: Hint) => void) {
  return createKeySwitch({
    keyring: database.keyring,
    log,
    onSwitched() {
      hintHere({ type: 'organization', id: null });
      // Messages that this replica laid out before it heard of another active key still have its buttons.
      inTransaction(database.main, (tx) => rerenderOldButtons(tx, clock.now())).then(
        wake.everyone,
        // The Leader does so every hour.
        (error: unknown) => log('store_read_failed', { what: 'old buttons', error: String(error) }),
      );
    },
    onNotHeld: () => process.exit(1),
  });
}

function performerOf(ground: Ground, hints: HintBus) {
  const { settings, clock, log, ports, directory, ingestMetrics, groupMetrics } = ground;
  const logsInfo = settings.logLevel === 'info';
  return createPerformer({
    ...{ hints, ingestMetrics, groupMetrics, directory, log },
    sendMessage: (effect) => ports.channels.get().sendMessage(effect),
    performForConnection: (effect) => ports.channels.get().performForConnection(effect),
    reported: createSnapshotReport({ clock, log, metrics: ingestMetrics, logsInfo }),
  });
}

function runbooksOf({ runbookBaseUrl: base, publicUrl }: ServiceSettings, version: string): Runbooks {
  return base === undefined ? { base: publicUrl, version: null } : { base, version };
}
