/** Channel bots: from an update to its effect, and the change between polls and webhook (channel-bot §4, §1.1). */
import { randomBytes } from 'node:crypto';
import type { ReceivedTokenDeps } from '../../actors/account-links/linking.ts';
import { createBotAnswers } from '../../actors/channels/channel-bot/answers.ts';
import { type BotClient, createBotClient } from '../../actors/channels/channel-bot/client.ts';
import { createUpdateReactions } from '../../actors/channels/channel-bot/reactions.ts';
import {
  type BotReceiverDeps,
  botPoll,
  createBotReceiver,
  learnBot,
} from '../../actors/channels/channel-bot/receiver.ts';
import { createBotSaving } from '../../actors/channels/channel-bot/saving.ts';
import { CHANNEL_BOT } from '../../actors/channels/channel-bot/settings.ts';
import { lanesOf } from '../../actors/channels/channel-bot/updates.ts';
import { createBotWebhooks } from '../../actors/channels/channel-bot/webhook.ts';
import { createEventIntake } from '../../actors/channels/intake.ts';
import { createPoller, type Poller } from '../../actors/channels/polling.ts';
import type { PressDeps } from '../../actors/channels/press.ts';
import type { BotSaving } from '../../actors/connection/ports.ts';
import type { WaitingTokens } from '../../actors/connection/tokens.ts';
import type { CallbackReceiver } from '../../http/app.ts';
import {
  noteWebhookBlocks,
  readChannelBotSettings,
  unknownBots,
  webhooksNotSet,
} from '../../storage/configuration/connection-rows.ts';
import { storeWebhook } from '../../storage/configuration/connections.ts';
import { createBotChats, createLostPosts } from '../../storage/delivery/channel-copies.ts';
import { readLastDowntime } from '../../storage/engine/signs-of-life.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import type { ActorSystem } from '../actor/index.ts';
import { MINUTE } from '../clock.ts';
import type { LeaderTask } from '../leader-tasks.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { PublicId } from '../public-id.ts';

export interface ChannelBotsDeps
  extends Pick<BotReceiverDeps, 'recorder' | 'ingestUrl' | 'opener' | 'learned' | 'clock' | 'log'>,
    Pick<ReceivedTokenDeps, 'links' | 'hints' | 'publicUrl'> {
  readonly main: Sql;
  readonly caller: OutboundCaller;
  readonly forPresses: PressDeps;
  readonly tokens: WaitingTokens;
  /** Messages to other actors were stored outside of their turns. */
  readonly messagesWait: () => void;
  readonly system: Pick<ActorSystem, 'ask' | 'tell' | 'stillOwns'>;
}

export interface ChannelBots extends Poller {
  readonly bot: BotClient;
  readonly saving: BotSaving;
  readonly restoring: LeaderTask;
  readonly callback: CallbackReceiver;
}

export function createChannelBots(deps: ChannelBotsDeps): ChannelBots {
  const { main, system, clock, log } = deps;
  const bot = createBotClient(deps.caller);
  const answers = createBotAnswers({ ...deps, bot });
  const settings = (id: PublicId) => readChannelBotSettings(main, id);
  const react = createUpdateReactions({
    ...{ ...deps.forPresses, answers, bot, settings },
    ...{ hints: deps.hints, links: deps.links, opener: deps.opener },
    chats: createBotChats(main, deps.messagesWait, clock.now),
    lostPosts: createLostPosts(main, clock.now),
  });
  const intake = createEventIntake({ react, lanesOf, say: answers.say, system, clock, log });
  const forUpdates: BotReceiverDeps = {
    ...{ ...deps, bot, intake, answers, settings },
    webhookBlocks: (id, access, blocks) => noteWebhookBlocks(main, id, access, blocks),
    lastDowntime: () => readLastDowntime(main),
  };
  const poller = createPoller({ ...botPoll(forUpdates), intake, system, clock, log });
  const saving = createBotSaving({
    ...{ ...deps, webhooks: createBotWebhooks({ ...deps, bot, random: randomBytes }) },
    settings,
    store: (id, webhook) => storeWebhook(main, deps.forPresses.keyring, id, webhook, clock.now()),
    notSet: () => webhooksNotSet(main, deps.ingestUrl, clock.now()),
    unknown: () => unknownBots(main),
    learn: (bot) => learnBot(forUpdates, bot),
  });
  return {
    ...poller,
    bot,
    saving,
    restoring: { name: 'webhooks', every: MINUTE, run: () => saving.restore() },
    callback: { callback: CHANNEL_BOT.callback, receiver: createBotReceiver(forUpdates) },
  };
}
