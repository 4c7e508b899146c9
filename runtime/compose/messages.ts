/** Delivery: from a committed turn of a Destination to the other side and back. */
import { randomBytes } from 'node:crypto';
import type { DestinationProbe, MessageSend } from '../../actors/channels/calls.ts';
import type { Channel } from '../../actors/channels/channel.ts';
import { endLostPosts } from '../../actors/channels/channel-bot/channel.ts';
import { CHANNELS, type ChannelName } from '../../actors/channels/index.ts';
import { destinationAddress } from '../../actors/destination/messages.ts';
import type { DeliveryMetrics } from '../../actors/destination/metrics.ts';
import { createContentReader } from '../../actors/destination/sending/content.ts';
import { createRenderReports } from '../../actors/destination/sending/reports.ts';
import {
  type ChannelBotTarget,
  type ChatServerTarget,
  createRouteTemplates,
  createSceneReader,
  type SceneReader,
} from '../../actors/destination/sending/scene.ts';
import { createMessageSender } from '../../actors/destination/sending/sender.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import { accountsOf } from '../../storage/access/account-links.ts';
import { createTemplateGroups } from '../../storage/alert-groups/alert-groups.ts';
import {
  createBridgeTargets,
  createChannelBotTargets,
  createChatServerTargets,
  readDestinationType,
  type Targets,
} from '../../storage/configuration/connection-rows.ts';
import type { WebhookSettingsSource } from '../../storage/configuration/destination-rows.ts';
import { createCopies, createLostPosts, moveDiscussionGroup } from '../../storage/delivery/channel-copies.ts';
import { createStormReader } from '../../storage/delivery/storms.ts';
import { readWebhookBody } from '../../storage/delivery/webhook-events.ts';
import type { WebhookBodies } from '../../storage/delivery/webhook-records.ts';
import { isUnavailable } from '../../storage/postgres/connection.ts';
import { type ActorSystem, StoreUnavailableError, shardOf } from '../actor/index.ts';
import { type Clock, type Micros, SECOND, systemMonotonic } from '../clock.ts';
import type { LeaderTask } from '../leader-tasks.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import { createPauseWatch } from '../pause-watch.ts';
import type { PublicId } from '../public-id.ts';
import type { Connections } from './connections.ts';
import type { Database } from './database.ts';
import type { TemplateWork } from './templates.ts';

export interface MessagesDeps {
  readonly database: Pick<Database, 'main' | 'keyring'>;
  readonly connections: Pick<Connections, 'bridge' | 'chatServer' | 'channelBot' | 'infos' | 'opener'>;
  readonly webhooks: Pick<WebhookSettingsSource, 'events' | 'template'>;
  /** Bodies of events that were just recorded. */
  readonly bodies: Pick<WebhookBodies, 'get'>;
  readonly caller: OutboundCaller;
  readonly directory: DirectorySource;
  readonly links: LinkSource;
  readonly templates: Pick<TemplateWork, 'failures' | 'metrics' | 'timer'>;
  readonly deliveryMetrics: DeliveryMetrics;
  readonly publicUrl: string;
  /** Where messengers call, without a trailing slash. */
  readonly ingestUrl: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
}

export interface Messages {
  /** What messages are laid out from; tests and previews read it, too. */
  readonly scenes: SceneReader;
  /** Where messages go; tests and previews read it, too. */
  readonly chatServerTarget: Targets<ChatServerTarget>['read'];
  readonly channelBotTarget: Targets<ChannelBotTarget>['read'];
  /** Drops what is kept of where messages of a Destination go. */
  forget(destinationId: PublicId): void;
  send(effect: MessageSend | DestinationProbe): void;
  /** Whether a call of a Destination of the shard is under way. */
  isCalling(shard: number): boolean;
  /** Begins no further call and waits for those under way. */
  finish(): Promise<void>;
  /** Of channel bots. */
  readonly lostPosts: LeaderTask;
}

export function createMessages(deps: MessagesDeps): Messages {
  const { connections, directory, templates, clock, log } = deps;
  const { main, keyring } = deps.database;
  const accounts = (connectionId: Parameters<typeof accountsOf>[1], ids: Parameters<typeof accountsOf>[2]) =>
    accountsOf(main, connectionId, ids);
  const groups = createTemplateGroups(main);
  const scenes = createSceneReader({
    groups,
    alerts: groups,
    accountsOf: accounts,
    directory,
    links: deps.links,
    failures: templates.failures,
    templates: createRouteTemplates(),
    publicUrl: deps.publicUrl,
    version: deps.version,
    clock,
    monotonic: templates.timer,
  });
  const targets = createBridgeTargets(main, clock);
  const chatTargets = createChatServerTargets(main, clock);
  const botTargets = createChannelBotTargets(main, clock);
  const { template, events } = deps.webhooks;
  const shared = { keyring, directory, clock, log, caller: deps.caller };
  const channels = {
    bridge: CHANNELS.bridge.open({ ...connections, keyring, clock, target: targets.read }),
    chat_server: CHANNELS.chat_server.open({
      ...connections.chatServer,
      ...{ keyring, clock, opener: connections.opener, ingestUrl: deps.ingestUrl, target: chatTargets.read },
    }),
    channel_bot: CHANNELS.channel_bot.open({
      ...{ bot: connections.channelBot.bot, copies: createCopies(main), opener: connections.opener },
      ...{ keyring, clock, target: botTargets.read },
      async groupMoved(id, moved) {
        await moveDiscussionGroup(main, moved);
        botTargets.forget(id);
      },
    }),
    webhook_template: CHANNELS.webhook_template.open({ ...shared, settings: template, random: randomBytes }),
    webhook_events: CHANNELS.webhook_events.open({ ...shared, settings: events }),
  } satisfies Record<ChannelName, Channel>;
  const contents = createContentReader({
    scenes,
    storms: createStormReader(main),
    accountsOf: accounts,
    eventBody: async (id) => deps.bodies.get(id) ?? readWebhookBody(main, id),
    directory,
  });
  const lost = { posts: createLostPosts(main, clock.now), held: new Map<PublicId, Micros>() };
  const sender = createMessageSender({
    system: deps.system,
    ...{ channels, contents, directory },
    typeOf: (id) => readDestinationType(main, id),
    reports: createRenderReports({ system: deps.system, metrics: templates.metrics, clock, log }),
    pauses: createPauseWatch(clock, systemMonotonic),
    isUnavailable: (error) => error instanceof StoreUnavailableError || isUnavailable(error),
    ...{ clock, log },
    deliveryMetrics: deps.deliveryMetrics,
  });
  const isCalling = (shard: number): boolean => {
    for (const id of sender.calling()) if (shardOf(destinationAddress(id)) === shard) return true;
    return false;
  };
  const forget = (id: PublicId): void => {
    targets.forget(id);
    chatTargets.forget(id);
    botTargets.forget(id);
  };
  return {
    scenes,
    chatServerTarget: chatTargets.read,
    channelBotTarget: botTargets.read,
    forget,
    send: sender.send,
    isCalling,
    finish: sender.finish,
    lostPosts: {
      ...{ name: 'lost_posts', every: 10 * SECOND },
      run: (goesOn) => endLostPosts({ ...lost, contents, channel: channels.channel_bot, clock, log }, goesOn),
    },
  };
}
