/** The operations of the resources that other folders' stores stand behind. */
import { randomBytes } from 'node:crypto';
import { createBridgeLinks } from '../../actors/account-links/bridge-links.ts';
import type { AlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import { createBridgeCheck } from '../../actors/destination/bridge-check.ts';
import { createInteractiveTokens } from '../../actors/destination/interactive-tokens.ts';
import { createBridgeTrial } from '../../actors/destination/trials/bridge-trial.ts';
import { createTrialScenes } from '../../actors/destination/trials/trial-scenes.ts';
import { createTrialViews } from '../../actors/destination/trials/trial-view.ts';
import { createWebhookTrial } from '../../actors/destination/trials/webhook-trial.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import type { Operation } from '../../http/operation.ts';
import { accountLinkOperations } from '../../http/resources/account-links.ts';
import { actorOperations } from '../../http/resources/actors.ts';
import { statisticsOperations } from '../../http/resources/alert-group-statistics.ts';
import { alertGroupOperations } from '../../http/resources/alert-groups.ts';
import { auditLogOperations } from '../../http/resources/audit-log.ts';
import { connectionOperations } from '../../http/resources/connections.ts';
import { connectionCheckOperations } from '../../http/resources/connections-checks.ts';
import { destinationOperations } from '../../http/resources/destinations.ts';
import { destinationCheckOperations } from '../../http/resources/destinations-checks.ts';
import { deliveryOperations } from '../../http/resources/destinations-deliveries.ts';
import { destinationSecretOperations } from '../../http/resources/destinations-secrets.ts';
import { destinationTrialOperations } from '../../http/resources/destinations-trials.ts';
import { integrationOperations } from '../../http/resources/integrations.ts';
import { integrationAlertOperations } from '../../http/resources/integrations-alerts.ts';
import { alertmanagerRouteOperations } from '../../http/resources/integrations-routes.ts';
import { keyringOperations } from '../../http/resources/keyring.ts';
import { linkRuleOperations } from '../../http/resources/link-rules.ts';
import { lookupTableOperations } from '../../http/resources/lookup-tables.ts';
import { type OidcSettingsDeps, oidcSettingsOperations } from '../../http/resources/oidc-settings.ts';
import { organizationOperations } from '../../http/resources/organization.ts';
import { outboundPolicyOperations } from '../../http/resources/outbound-policy.ts';
import { personalTokenOperations } from '../../http/resources/personal-tokens.ts';
import { requestRecordOperations } from '../../http/resources/request-records.ts';
import { routeOperations } from '../../http/resources/routes.ts';
import { routeMoveOperations } from '../../http/resources/routes-move.ts';
import { previewOperations } from '../../http/resources/routes-preview.ts';
import { routeSuggestionOperations } from '../../http/resources/routes-suggestions.ts';
import { serviceAccountOperations } from '../../http/resources/service-accounts.ts';
import { storedSnapshotOperations } from '../../http/resources/stored-snapshots.ts';
import { type SystemStatusDeps, systemStatusOperations } from '../../http/resources/system-status.ts';
import { templatePreviewOperations } from '../../http/resources/template-previews.ts';
import { userAccountOperations } from '../../http/resources/user-accounts.ts';
import { userWayInOperations } from '../../http/resources/user-ways-in.ts';
import { createLinkRequestStore } from '../../storage/account-link-requests.ts';
import { createAccountLinkStore } from '../../storage/account-links.ts';
import { createActorStateReader } from '../../storage/actor-state.ts';
import {
  createAlertsView,
  createGroupReader,
  createStatisticsReader,
  RecentGroups,
} from '../../storage/alert-groups.ts';
import { createPersonalTokens } from '../../storage/api-tokens.ts';
import { appendAudit } from '../../storage/audit.ts';
import { createAuditLogReader } from '../../storage/audit-log-reader.ts';
import { createConnectionStore } from '../../storage/connections.ts';
import type { WebhookSettingsSource } from '../../storage/destination-rows.ts';
import { createDestinationStore } from '../../storage/destinations.ts';
import { readGroupDeliveries } from '../../storage/group-deliveries.ts';
import { createIntegrationStore } from '../../storage/integrations.ts';
import type { InternalAlerts } from '../../storage/internal-alerts.ts';
import { readKeys } from '../../storage/key-view.ts';
import { readAlertmanagerRoutes } from '../../storage/learned-routes.ts';
import { createLinkRuleStore } from '../../storage/link-rules.ts';
import { createLookupTableStore } from '../../storage/lookup-tables.ts';
import { createOrganizationStore } from '../../storage/organization.ts';
import { createOutboundPolicyStore } from '../../storage/outbound-policy.ts';
import { createPreviewBodies } from '../../storage/preview-bodies.ts';
import { createRequestLogReader } from '../../storage/request-log-reader.ts';
import { createRouteMoves } from '../../storage/route-moves.ts';
import { createSuggestionStore } from '../../storage/route-suggestions.ts';
import { createRouteStore } from '../../storage/routes.ts';
import { createServiceAccountStore } from '../../storage/service-accounts.ts';
import { createStoredSnapshotReader } from '../../storage/stored-snapshots.ts';
import { createUserStore } from '../../storage/users.ts';
import type { ActorSystem } from '../actor/index.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { OutboundClient } from '../outbound/client.ts';
import type { Connections } from './connections.ts';
import type { Database } from './database.ts';
import type { Messages } from './messages.ts';
import type { ServiceSettings } from './settings.ts';
import type { TemplateWork } from './templates.ts';

export interface ResourceDeps {
  readonly settings: ServiceSettings;
  readonly database: Database;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  readonly system: ActorSystem;
  readonly connections: Connections;
  readonly messages: Pick<Messages, 'scenes'>;
  readonly internalAlerts: InternalAlerts;
  /** Makes whoever acts for any actor, here or elsewhere, look for messages that a save stored. */
  readonly messagesWait: () => void;
  readonly tokens: { invalidate(): void | Promise<void> };
  readonly client: Pick<OutboundClient, 'setPolicy' | 'release'>;
  readonly webhookSettings: Pick<WebhookSettingsSource, 'forget'>;
  readonly webhooks: Pick<WebhookSettingsSource, 'events' | 'template'>;
  readonly caller: OutboundCaller;
  readonly links: LinkSource;
  readonly templates: TemplateWork;
  readonly groupMetrics: AlertGroupMetrics;
  readonly oidc: Omit<OidcSettingsDeps, 'client'>;
  readonly systemStatus: SystemStatusDeps;
  readonly clock: Clock;
  readonly log: Log;
}

export function resourceOperations(deps: ResourceDeps): readonly (readonly Operation[])[] {
  const { directory, hints, system, tokens, client } = deps;
  const { main: sql, keyring } = deps.database;
  const { internalAlerts } = deps;
  const connections = createConnectionStore({ sql, appendAudit, keyring });
  const destinations = createDestinationStore({ sql, appendAudit, keyring, internalAlerts });
  const interactiveTokens = createInteractiveTokens({ system, clock: deps.clock });
  const forDestinations = {
    store: destinations,
    connections,
    directory,
    hints,
    system,
    checkBridge: createBridgeCheck({
      ...deps.connections,
      ...{ tokens: interactiveTokens, system: deps.connections.infoTo, clock: deps.clock },
    }),
    settings: deps.webhookSettings,
    client,
  };
  const forUsers = {
    store: createUserStore(sql, appendAudit),
    ...{ directory, hints, random: randomBytes, publicUrl: deps.settings.publicUrl },
    poke: deps.messagesWait,
  };
  const recentGroups = new RecentGroups({
    sql,
    clock: deps.clock,
    monotonic: systemMonotonic,
    log: deps.log,
  });
  return [
    accountLinkOperations({
      ...{ hints, log: deps.log, poke: deps.messagesWait },
      links: createAccountLinkStore({ sql, appendAudit }),
      bridges: createBridgeLinks({
        ...deps.connections,
        ...{ directory, log: deps.log, random: randomBytes, publicUrl: deps.settings.publicUrl },
        requests: createLinkRequestStore({ sql, appendAudit }),
        settings: connections.settings,
        languageOf: async (id) => (await forUsers.store.read(id))?.language ?? null,
      }),
      isUser: async (id) => (await forUsers.store.read(id)) !== null,
    }),
    alertGroupOperations({
      reader: createGroupReader(sql, systemMonotonic, recentGroups),
      links: deps.templates.groupLinks,
      system,
      log: deps.log,
      metrics: deps.groupMetrics,
    }),
    routeOperations({
      store: createRouteStore({ sql, appendAudit, internalAlerts }),
      directory,
      hints,
      poke: deps.messagesWait,
      checkTemplates: deps.templates.checkRoute,
    }),
    routeSuggestionOperations({ suggestions: createSuggestionStore(sql, appendAudit), directory, hints }),
    previewOperations({ bodies: createPreviewBodies(sql) }),
    routeMoveOperations({ moves: createRouteMoves(sql, appendAudit), system }),
    integrationOperations({
      store: createIntegrationStore({ sql, appendAudit, internalAlerts }),
      directory,
      hints,
      tokens,
      messageWaits: deps.messagesWait,
      ingestUrl: deps.settings.ingestUrl,
    }),
    statisticsOperations({ statistics: createStatisticsReader(sql) }),
    alertmanagerRouteOperations({ routes: (id) => readAlertmanagerRoutes(sql, id) }),
    integrationAlertOperations({ alerts: createAlertsView(sql) }),
    storedSnapshotOperations({ reader: createStoredSnapshotReader(sql) }),
    connectionOperations({
      ...deps,
      messageWaits: deps.messagesWait,
      store: connections,
      ingestUrl: deps.settings.ingestUrl,
    }),
    connectionCheckOperations({ ...deps, ...deps.connections, store: connections, poke: deps.messagesWait }),
    destinationOperations(forDestinations),
    destinationCheckOperations(forDestinations),
    destinationTrialOperations({
      ...forDestinations,
      scenes: createTrialScenes({
        ...{ scenes: deps.messages.scenes, samples: deps.templates.samples },
        ...{ links: deps.links, monotonic: systemMonotonic },
      }),
      trials: {
        bridge: createBridgeTrial({
          ...deps.connections,
          ...{ keyring, tokens: interactiveTokens, clock: deps.clock },
          settings: (id) => connections.settings(id),
        }),
        webhook: createWebhookTrial({
          ...{ keyring, directory, tokens: interactiveTokens, settings: deps.webhooks },
          ...{ caller: deps.caller, clock: deps.clock, log: deps.log, random: randomBytes },
          views: createTrialViews({ groups: createGroupReader(sql), directory }),
          publicUrl: deps.settings.publicUrl,
        }),
      },
    }),
    destinationSecretOperations(forDestinations),
    deliveryOperations({ deliveries: (id) => readGroupDeliveries(sql, id) }),
    auditLogOperations({ reader: createAuditLogReader(sql) }),
    organizationOperations({
      ...{ store: createOrganizationStore({ sql, appendAudit, keyring }), directory, hints },
      poke: deps.messagesWait,
    }),
    userAccountOperations(forUsers),
    userWayInOperations(forUsers),
    personalTokenOperations(createPersonalTokens(sql, appendAudit)),
    serviceAccountOperations(createServiceAccountStore(sql, appendAudit)),
    keyringOperations({ keys: (now) => readKeys(sql, now) }),
    oidcSettingsOperations({ ...deps.oidc, client }),
    outboundPolicyOperations({ store: createOutboundPolicyStore(sql, appendAudit), client, hints }),
    linkRuleOperations({
      store: createLinkRuleStore(sql, appendAudit),
      checkTemplate: deps.templates.checkLink,
      links: deps.links,
    }),
    templatePreviewOperations({ preview: deps.templates.preview }),
    lookupTableOperations({ store: createLookupTableStore(sql, appendAudit), links: deps.links }),
    requestRecordOperations({ reader: createRequestLogReader(sql) }),
    systemStatusOperations(deps.systemStatus),
    actorOperations({ states: createActorStateReader(sql), system }),
  ];
}
