/** The lowest layer of the composition root: what every other layer is given, and nothing that acts by itself. */
import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { type AlertGroupMetrics, createAlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import type { IntegrationTokens } from '../../actors/integration/ports.ts';
import { createIngestMetrics, type IngestMetrics } from '../../http/ingest/index.ts';
import {
  createWebhookSettings,
  type WebhookSettingsSource,
} from '../../storage/configuration/destination-rows.ts';
import { createDirectory, type StoredDirectory } from '../../storage/configuration/directory.ts';
import { createLinkSource, type StoredLinks } from '../../storage/configuration/link-source.ts';
import { readOutboundPolicy } from '../../storage/configuration/organization.ts';
import { createRequestLogStore } from '../../storage/delivery/request-log.ts';
import { createWebhookBodies, type WebhookBodies } from '../../storage/delivery/webhook-records.ts';
import { createIntegrationTokens } from '../../storage/integrations/tokens.ts';
import { isUnavailable } from '../../storage/postgres/connection.ts';
import { atMost, type Clock, SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { createRegistry } from '../metrics.ts';
import { createOutboundCaller, type OutboundCaller } from '../outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../outbound/client.ts';
import { createOutboundMetrics, type OutboundMetrics } from '../outbound/metrics.ts';
import { createRequestRecorder, type RequestRecorder } from '../outbound/request-log/recorder.ts';
import type { Member } from '../placement/coordination.ts';
import type { Version } from '../version.ts';
import { createPoolMetrics, type Database, type ServiceSettings } from './database.ts';
import { createPorts, createWake, type Ports, type Wake } from './ports.ts';
import { type Readiness, readiness } from './readiness.ts';

export interface ServiceDeps {
  readonly settings: ServiceSettings;
  readonly version: Version;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Ground extends ServiceDeps {
  readonly registry: Registry;
  /** This process among the replicas. */
  readonly me: Member;
  readonly directory: StoredDirectory;
  readonly links: StoredLinks;
  readonly tokens: IntegrationTokens;
  readonly webhooks: WebhookSettingsSource;
  /** Bodies of events that were just recorded. */
  readonly bodies: WebhookBodies;
  readonly outbound: Outbound;
  readonly state: Readiness;
  readonly groupMetrics: AlertGroupMetrics;
  readonly ingestMetrics: IngestMetrics;
  readonly wake: Wake;
  readonly ports: Ports;
}

/** Reads the configuration once and opens the outbound client. */
export async function openGround(deps: ServiceDeps): Promise<Ground> {
  const { settings, clock, log } = deps;
  const { main: sql, pools } = deps.database;
  const registry = createRegistry(deps.version);
  createPoolMetrics(registry).watch(pools);
  const ports = createPorts();
  const directory = createDirectory({ sql, clock, log });
  await directory.reload();
  const links = createLinkSource(sql, clock);
  await links.reload();
  const isTrusted = () => ports.configuration.get().isTrusted();
  return {
    ...deps,
    ...{ registry, directory, links, ports },
    me: { id: settings.replicaId, boot: randomBytes(4).toString('hex') },
    tokens: createIntegrationTokens({ sql, clock, log, isTrusted }),
    webhooks: createWebhookSettings(sql, clock),
    bodies: createWebhookBodies(),
    outbound: await openOutbound(deps, registry),
    state: readiness(sql, clock),
    groupMetrics: createAlertGroupMetrics(registry),
    ingestMetrics: createIngestMetrics(registry),
    wake: createWake(),
  };
}

/** Of the grace of a shutdown, for records that are not written yet. */
const RECORDS_WITHIN = SECOND;

export interface Outbound {
  readonly client: OutboundClient;
  readonly caller: OutboundCaller;
  readonly metrics: OutboundMetrics;
  readonly recorder: RequestRecorder;
  /** Ends what is in flight, and writes the records that wait. */
  stop(): Promise<void>;
}

async function openOutbound(deps: ServiceDeps, registry: Registry): Promise<Outbound> {
  const { clock, log, version } = deps;
  const { main } = deps.database;
  const { policy } = await readOutboundPolicy(main);
  const client = createOutboundClient({ clock, policy });
  const metrics = createOutboundMetrics(registry);
  const store = createRequestLogStore(main);
  const recorder = createRequestRecorder({ store, clock, log, metrics, isUnavailable });
  const userAgent = `Tocsin/${version.version}`;
  return {
    client,
    metrics,
    recorder,
    caller: createOutboundCaller({ client, recorder, metrics, clock, log, userAgent }),
    async stop() {
      client.close();
      await atMost(clock, RECORDS_WITHIN, recorder.stop());
    },
  };
}
