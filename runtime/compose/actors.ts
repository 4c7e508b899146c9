/** Every kind of actor, and the store that keeps them in PostgreSQL. */
import { getHeapStatistics } from 'node:v8';
import type { Registry } from 'prom-client';
import { createAlertGroup } from '../../actors/alert-group/actor.ts';
import { createContestedAlerts } from '../../actors/alert-group/ports.ts';
import { createConnectionActor } from '../../actors/connection/actor.ts';
import { createDestination } from '../../actors/destination/actor.ts';
import { createFeedActor } from '../../actors/feed/actor.ts';
import type { FeedMessage } from '../../actors/feed/messages.ts';
import { createIntegrationActor } from '../../actors/integration/actor.ts';
import { createRouteActor } from '../../actors/route/actor.ts';
import { auditRecords } from '../../storage/access/audit.ts';
import {
  alertGroupWriters,
  alertRows,
  createRelatedGroups,
} from '../../storage/alert-groups/alert-groups.ts';
import type { StoredDirectory } from '../../storage/configuration/directory.ts';
import {
  connectionWriter,
  createConnectionRowLoader,
  eventClaims,
} from '../../storage/delivery/connection-events.ts';
import { createDeliveryReads, deliveryRecords } from '../../storage/delivery/deliveries.ts';
import { createHeldGroups, routeTemplateErrors, stormRecords } from '../../storage/delivery/storms.ts';
import { createWaitingEvents, destinationRowLoader } from '../../storage/delivery/webhook-events.ts';
import { createWebhookRecordWriter, type WebhookBodies } from '../../storage/delivery/webhook-records.ts';
import { createActorStore } from '../../storage/engine/actor-store.ts';
import { createDecisions } from '../../storage/engine/configuration-watch.ts';
import { announcing, type InternalAlerts } from '../../storage/integrations/internal-alerts.ts';
import { integrationRows, integrationWriters } from '../../storage/integrations/states.ts';
import { createIntegrationWatch } from '../../storage/integrations/watch.ts';
import { unlessServersFault } from '../../storage/postgres/connection.ts';
import { createPlaces, feedPresences, feedRows, heardFeeds } from '../../storage/snapshots/feeds.ts';
import { settledSnapshots, snapshotReceipts, snapshotSetAside } from '../../storage/snapshots/queue.ts';
import {
  type ActorSystem,
  type Address,
  type AnyActorDefinition,
  createActorMetrics,
  createActorSystem,
  memoryWithin,
  type Peers,
  type Performer,
  type Placement,
} from '../actor/index.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import { createRandomPool, type PublicId } from '../public-id.ts';
import type { Database, ServiceSettings } from './database.ts';

export interface ActorsDeps {
  readonly settings: ServiceSettings;
  readonly placement: Placement;
  /** Null when this process is the only one. */
  readonly peers: Peers | null;
  readonly database: Database;
  readonly directory: StoredDirectory;
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  readonly performer: Performer;
  readonly bodies: WebhookBodies;
  readonly internalAlerts: InternalAlerts;
  readonly holdsBack: (actor: Address) => boolean;
  /** Resolves when all that is remembered of the configuration shows what is stored. */
  readonly look: () => Promise<void>;
  /** Drops what senders keep of the settings of a Destination. */
  readonly forgetSettings: (destinationId: PublicId) => void;
}

/**
 * A look-up that found no database, was refused by it for a reason of its own, or met another transaction, is repeated by
 * the engine, which tells it from a defect by the class of the error.
 */
export function withPatientLookUps(definition: AnyActorDefinition): AnyActorDefinition {
  return {
    ...definition,
    prepare(actor, message, following) {
      const pending = definition.prepare?.(actor, message, following) ?? null;
      return pending && unlessServersFault(() => pending);
    },
  };
}

export function createActors(deps: ActorsDeps): ActorSystem {
  const { database, directory, clock, log } = deps;
  const { main, commits } = database;
  const contested = createContestedAlerts();
  const { internalAlerts } = deps;
  const stored = createActorStore({
    sql: main,
    commits,
    clock,
    writers: [
      ...alertGroupWriters(contested),
      createWebhookRecordWriter({ publicUrl: deps.settings.publicUrl, bodies: deps.bodies }),
      deliveryRecords,
      // After Destinations, whose rows it locks, too.
      internalAlerts.writer,
      ...integrationWriters,
      eventClaims,
      connectionWriter,
      heardFeeds,
      feedPresences,
      settledSnapshots,
      auditRecords,
      stormRecords,
      routeTemplateErrors,
    ],
    rowLoaders: [
      alertRows,
      feedRows,
      integrationRows,
      destinationRowLoader,
      createConnectionRowLoader(clock),
    ],
    consumers: [snapshotReceipts],
    decisions: deps.peers && createDecisions(directory),
  });
  return createActorSystem({
    definitions: [
      createAlertGroup({ directory, related: createRelatedGroups(main), contested }),
      createFeedActor({
        directory: () => directory.current(),
        places: createPlaces(main),
      }),
      createIntegrationActor({ watch: createIntegrationWatch(main), clock }),
      createDestination({
        // With the outbound policy: what it refused may be tried again once it is saved.
        directory: {
          ...directory,
          reload: () => Promise.all([directory.reload(), deps.look()]).then(() => undefined),
        },
        waiting: createWaitingEvents(main),
        deliveries: createDeliveryReads(main),
        forgetSettings: deps.forgetSettings,
      }),
      createConnectionActor(),
      createRouteActor({ directory, held: createHeldGroups(main) }),
    ].map(withPatientLookUps),
    store: announcing(stored, internalAlerts),
    decidedWith: () => directory.version(),
    placement: deps.placement,
    clock,
    performer: deps.performer,
    random: createRandomPool(),
    log,
    metrics: createActorMetrics(deps.registry),
    peers: deps.peers,
    limits: { memory: memoryWithin(getHeapStatistics().heap_size_limit) },
    monotonic: systemMonotonic,
    holdsBack: deps.holdsBack,
    setAside: (to, message, _receipt, error) =>
      to.kind === 'feed' ? snapshotSetAside(message as FeedMessage, error, clock.now()) : [],
  });
}
