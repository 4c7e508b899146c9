/** The actor engine with every kind of actor, on PostgreSQL. */
import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { createAlertGroup } from '../../actors/alert-group/actor.ts';
import { createContestedAlerts } from '../../actors/alert-group/ports.ts';
import { createConnectionActor } from '../../actors/connection/actor.ts';
import { createDestination } from '../../actors/destination/actor.ts';
import type { WebhookBodies } from '../../actors/destination/webhook-bodies.ts';
import { createFeedActor } from '../../actors/feed/actor.ts';
import type { FeedMessage } from '../../actors/feed/messages.ts';
import { createIntegrationActor } from '../../actors/integration/actor.ts';
import { createRouteActor } from '../../actors/route/actor.ts';
import { createActorStore } from '../../storage/actor-store.ts';
import { alertGroupWriters, alertRows, createRelatedGroups } from '../../storage/alert-groups.ts';
import { auditRecords } from '../../storage/audit.ts';
import { unlessUnavailable } from '../../storage/connection.ts';
import {
  connectionWriter,
  createConnectionRowLoader,
  eventClaims,
} from '../../storage/connection-records.ts';
import { createDecisions } from '../../storage/decisions.ts';
import { createDeliveryReads } from '../../storage/deliveries.ts';
import { deliveryRecords } from '../../storage/delivery-records.ts';
import type { StoredDirectory } from '../../storage/directory.ts';
import { createHomes, createSlots, feedPresences, feedRows, heardFeeds } from '../../storage/feeds.ts';
import { integrationRows, integrationWriters } from '../../storage/integration-states.ts';
import { createIntegrationWatch } from '../../storage/integration-watch.ts';
import { announcing, type InternalAlerts } from '../../storage/internal-alerts.ts';
import { routeTemplateErrors } from '../../storage/route-template-errors.ts';
import { settledSnapshots, snapshotReceipts, snapshotSetAside } from '../../storage/snapshots.ts';
import { createHeldGroups, stormRecords } from '../../storage/storms.ts';
import { createWaitingEvents, destinationRowLoader } from '../../storage/webhook-events.ts';
import { createWebhookRecordWriter } from '../../storage/webhook-records.ts';
import {
  type ActorSystem,
  type Address,
  type AnyActorDefinition,
  createActorMetrics,
  createActorSystem,
  type Peers,
  type Performer,
  type Placement,
} from '../actor/index.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';
import type { ServiceSettings } from './settings.ts';

export interface EngineDeps {
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
}

/** A look-up that found no database is repeated by the engine, which tells it from a defect by the class of the error. */
export function withPatientLookUps(definition: AnyActorDefinition): AnyActorDefinition {
  return {
    ...definition,
    prepare(actor, message, following) {
      const pending = definition.prepare?.(actor, message, following) ?? null;
      return pending && unlessUnavailable(() => pending);
    },
  };
}

export function createEngine(deps: EngineDeps): ActorSystem {
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
        homes: createHomes(main),
        slots: createSlots(main),
      }),
      createIntegrationActor({ watch: createIntegrationWatch(main), clock }),
      createDestination({
        directory,
        waiting: createWaitingEvents(main),
        deliveries: createDeliveryReads(main),
      }),
      createConnectionActor(),
      createRouteActor({ directory, held: createHeldGroups(main) }),
    ].map(withPatientLookUps),
    store: announcing(stored, internalAlerts),
    decidedWith: () => directory.version(),
    placement: deps.placement,
    clock,
    performer: deps.performer,
    random: (size) => randomBytes(size),
    log,
    metrics: createActorMetrics(deps.registry),
    peers: deps.peers,
    monotonic: systemMonotonic,
    holdsBack: deps.holdsBack,
    setAside: (to, message, _receipt, error) =>
      to.kind === 'feed' ? snapshotSetAside(message as FeedMessage, error, clock.now()) : [],
  });
}
