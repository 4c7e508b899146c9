/** The operations of the resources that other folders' stores stand behind. */
import { randomBytes } from 'node:crypto';
import { createAccountLinking } from '../../actors/account-links/linking.ts';
import type { AlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import { createBridgeCheck, createBridgeConnectionCheck } from '../../actors/channels/bridge/check.ts';
import { createBridgePlaces } from '../../actors/channels/bridge/links.ts';
import { createBridgeTrial } from '../../actors/channels/bridge/trial.ts';
import { createBotConnectionCheck, createChannelBotCheck } from '../../actors/channels/channel-bot/check.ts';
import { createChannelBotPlaces } from '../../actors/channels/channel-bot/links.ts';
import { createChannelBotTrial } from '../../actors/channels/channel-bot/trial.ts';
import {
  createChatChannels,
  createChatConnectionCheck,
  createChatServerCheck,
} from '../../actors/channels/chat-server/check.ts';
import { createChatServerPlaces } from '../../actors/channels/chat-server/links.ts';
import { createChatServerTrial } from '../../actors/channels/chat-server/trial.ts';
import { createTrialScenes, createTrialViews } from '../../actors/channels/interactive.ts';
import { createWebhookTrial } from '../../actors/channels/webhook-template/trial.ts';
import { createInteractiveTokens } from '../../actors/connection/tokens.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import type { Operation } from '../../http/operation.ts';
import { personalTokenOperations } from '../../http/resources/access/api-tokens.ts';
import { type OidcSettingsDeps, oidcSettingsOperations } from '../../http/resources/access/oidc-settings.ts';
import { serviceAccountOperations } from '../../http/resources/access/service-accounts.ts';
import { userAccessOperations } from '../../http/resources/access/user-access.ts';
import { userAccountOperations } from '../../http/resources/access/user-accounts.ts';
import { alertGroupOperations } from '../../http/resources/alert-groups/alert-groups.ts';
import { contextOperations } from '../../http/resources/alert-groups/context.ts';
import { flowOperations } from '../../http/resources/alert-groups/flow.ts';
import { deliveryOperations } from '../../http/resources/alert-groups/pages.ts';
import { savedViewOperations } from '../../http/resources/alert-groups/saved-views.ts';
import { statisticsOperations } from '../../http/resources/alert-groups/statistics.ts';
import { accountLinkOperations } from '../../http/resources/connections/account-links.ts';
import { connectionCheckOperations } from '../../http/resources/connections/checks.ts';
import { connectionOperations } from '../../http/resources/connections/connections.ts';
import { destinationCheckOperations } from '../../http/resources/destinations/checks.ts';
import { deliveryHoursOperations } from '../../http/resources/destinations/delivery-hours.ts';
import { destinationOperations } from '../../http/resources/destinations/destinations.ts';
import { destinationSecretOperations } from '../../http/resources/destinations/secrets.ts';
import { destinationTrialOperations } from '../../http/resources/destinations/trials.ts';
import { integrationOperations } from '../../http/resources/integrations/integrations.ts';
import {
  alertmanagerRouteOperations,
  integrationAlertOperations,
} from '../../http/resources/integrations/received.ts';
import { storedSnapshotOperations } from '../../http/resources/integrations/stored-snapshots.ts';
import { linkRuleOperations } from '../../http/resources/links/link-rules.ts';
import { lookupTableOperations } from '../../http/resources/links/lookup-tables.ts';
import { templatePreviewOperations } from '../../http/resources/links/template-previews.ts';
import { auditLogOperations } from '../../http/resources/organization/audit-log.ts';
import { keyringOperations, organizationOperations } from '../../http/resources/organization/organization.ts';
import { outboundPolicyOperations } from '../../http/resources/organization/outbound-policy.ts';
import { routeMoveOperations } from '../../http/resources/routes/move.ts';
import { previewOperations } from '../../http/resources/routes/preview.ts';
import { routeOperations } from '../../http/resources/routes/routes.ts';
import { routeSuggestionOperations } from '../../http/resources/routes/suggestions.ts';
import { requestRecordOperations } from '../../http/resources/system/request-records.ts';
import { actorOperations } from '../../http/resources/system/system.ts';
import { type SystemStatusDeps, systemStatusOperations } from '../../http/resources/system/system-status.ts';
import { createLinkRequestStore } from '../../storage/access/account-link-requests.ts';
import { createAccountLinkStore } from '../../storage/access/account-links.ts';
import { createPersonalTokens } from '../../storage/access/api-tokens.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { createAuditLogReader } from '../../storage/access/audit-log-reader.ts';
import { createServiceAccountStore } from '../../storage/access/service-accounts.ts';
import { createUserStore } from '../../storage/access/users.ts';
import {
  createAlertsView,
  createContextReader,
  createFlowReader,
  createGroupReader,
  createStatisticsReader,
  RecentGroups,
} from '../../storage/alert-groups/alert-groups.ts';
import { createSavedViewStore } from '../../storage/alert-groups/saved-views.ts';
import {
  readBridgeSettings,
  readChannelBotSettings,
  readChatServerSettings,
} from '../../storage/configuration/connection-rows.ts';
import { createConnectionStore } from '../../storage/configuration/connections.ts';
import type { WebhookSettingsSource } from '../../storage/configuration/destination-rows.ts';
import { createDestinationStore } from '../../storage/configuration/destinations.ts';
import { createLinkRuleStore } from '../../storage/configuration/link-rules.ts';
import { createLookupTableStore } from '../../storage/configuration/lookup-tables.ts';
import {
  createOrganizationStore,
  createOutboundPolicyStore,
} from '../../storage/configuration/organization.ts';
import {
  createRouteMoves,
  createRouteStore,
  createSuggestionStore,
} from '../../storage/configuration/routes.ts';
import { createCopies } from '../../storage/delivery/channel-copies.ts';
import { createEventFacts } from '../../storage/delivery/connection-events.ts';
import { createDeliveryHoursReader } from '../../storage/delivery/delivery-hours.ts';
import { readGroupDeliveries } from '../../storage/delivery/group-deliveries.ts';
import { createRequestLogReader } from '../../storage/delivery/request-log.ts';
import { createActorStateReader } from '../../storage/engine/actor-states.ts';
import { createIntegrationStore } from '../../storage/integrations/integrations.ts';
import type { InternalAlerts } from '../../storage/integrations/internal-alerts.ts';
import { readAlertmanagerRoutes } from '../../storage/integrations/states.ts';
import { readKeys } from '../../storage/keys/keyring.ts';
import { createPreviewBodies } from '../../storage/snapshots/preview-bodies.ts';
import { createStoredSnapshotReader } from '../../storage/snapshots/stored-snapshots.ts';
import type { ActorSystem } from '../actor/index.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { OutboundClient } from '../outbound/client.ts';
import type { PublicId } from '../public-id.ts';
import type { Connections } from './connections.ts';
import type { Database, ServiceSettings } from './database.ts';
import type { Messages } from './messages.ts';
import type { TemplateWork } from './templates.ts';

export interface ResourceDeps {
  readonly settings: ServiceSettings;
  readonly database: Database;
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  readonly system: ActorSystem;
  readonly connections: Connections;
  readonly messages: Pick<Messages, 'scenes' | 'chatServerTarget' | 'channelBotTarget' | 'forget'>;
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
  const forBridges = {
    ...{ ...deps.connections, keyring, tokens: interactiveTokens, clock: deps.clock },
    settings: (id: PublicId) => readBridgeSettings(sql, id),
  };
  const forChatServers = {
    ...{ ...deps.connections.chatServer, opener: deps.connections.opener, keyring },
    ...{ tokens: interactiveTokens, clock: deps.clock, ingestUrl: deps.settings.ingestUrl },
    facts: createEventFacts(sql, deps.messagesWait),
    target: deps.messages.chatServerTarget,
    settings: (id: PublicId) => readChatServerSettings(sql, id),
  };
  const forChannelBots = {
    ...{ bot: deps.connections.channelBot.bot, opener: deps.connections.opener, keyring },
    copies: createCopies(sql),
    ...{ tokens: interactiveTokens, clock: deps.clock },
    target: deps.messages.channelBotTarget,
    settings: (id: PublicId) => readChannelBotSettings(sql, id),
  };
  const forDestinations = {
    store: destinations,
    ...{ directory, hints, system },
    interactive: {
      bridge: {
        check: createBridgeCheck({ ...forBridges, system: deps.connections.infoTo }),
        trial: createBridgeTrial(forBridges),
      },
      channel_bot: {
        check: createChannelBotCheck(forChannelBots),
        trial: createChannelBotTrial(forChannelBots),
      },
      chat_server: {
        check: createChatServerCheck(forChatServers),
        trial: createChatServerTrial(forChatServers),
      },
      webhook: {
        check: null,
        trial: createWebhookTrial({
          ...{ keyring, directory, tokens: interactiveTokens, settings: deps.webhooks },
          ...{ caller: deps.caller, clock: deps.clock, log: deps.log, random: randomBytes },
          views: createTrialViews({ groups: createGroupReader(sql), directory }),
          publicUrl: deps.settings.publicUrl,
        }),
      },
    },
    settings: {
      forget(id: PublicId) {
        deps.webhookSettings.forget(id);
        deps.messages.forget(id);
      },
    },
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
      linking: createAccountLinking({
        ...{ tokens: deps.connections.tokens, log: deps.log, random: randomBytes },
        publicUrl: deps.settings.publicUrl,
        requests: createLinkRequestStore({ sql, appendAudit }),
        places: {
          bridge: createBridgePlaces({ ...deps.connections, settings: forBridges.settings }),
          chat_server: createChatServerPlaces(forChatServers),
          channel_bot: createChannelBotPlaces({
            ...deps.connections,
            bot: deps.connections.channelBot.bot,
            settings: (id) => readChannelBotSettings(sql, id),
          }),
        },
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
      ...{ ingestUrl: deps.settings.ingestUrl, publicUrl: deps.settings.publicUrl },
    }),
    flowOperations({ flow: createFlowReader(sql) }),
    statisticsOperations({ statistics: createStatisticsReader(sql) }),
    alertmanagerRouteOperations({ routes: (id) => readAlertmanagerRoutes(sql, id) }),
    integrationAlertOperations({ alerts: createAlertsView(sql) }),
    storedSnapshotOperations({ reader: createStoredSnapshotReader(sql) }),
    connectionOperations({
      ...deps,
      messageWaits: deps.messagesWait,
      store: connections,
      channels: { chat_server: createChatChannels(forChatServers) },
      botSaving: deps.connections.channelBot.saving,
      ...{ ingestUrl: deps.settings.ingestUrl, publicUrl: deps.settings.publicUrl },
    }),
    connectionCheckOperations({
      ...{ ...deps, tokens: deps.connections.tokens, poke: deps.messagesWait },
      checks: {
        bridge: createBridgeConnectionCheck(forBridges),
        chat_server: createChatConnectionCheck(forChatServers),
        channel_bot: createBotConnectionCheck(forChannelBots),
      },
    }),
    destinationOperations(forDestinations),
    destinationCheckOperations(forDestinations),
    deliveryHoursOperations({ hours: createDeliveryHoursReader(sql) }),
    destinationTrialOperations({
      ...forDestinations,
      scenes: createTrialScenes({
        ...{ scenes: deps.messages.scenes, samples: deps.templates.samples },
        ...{ links: deps.links, monotonic: deps.templates.timer },
      }),
    }),
    destinationSecretOperations(forDestinations),
    contextOperations({ reader: createGroupReader(sql), context: createContextReader(sql) }),
    deliveryOperations({ deliveries: (id) => readGroupDeliveries(sql, id) }),
    auditLogOperations({ reader: createAuditLogReader(sql) }),
    organizationOperations({
      ...{ store: createOrganizationStore({ sql, appendAudit, keyring }), directory, hints },
      poke: deps.messagesWait,
    }),
    userAccountOperations(forUsers),
    userAccessOperations(forUsers),
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
    savedViewOperations(createSavedViewStore(sql, appendAudit)),
    requestRecordOperations({ reader: createRequestLogReader(sql) }),
    systemStatusOperations(deps.systemStatus),
    actorOperations({ states: createActorStateReader(sql), system }),
  ];
}
