/** Connections: from a committed turn to a call of a bridge and back, and from a pushed event to its effect. */
import type { ReceivedTokenDeps } from '../../actors/account-links/linking.ts';
import type { AlertGroupMetrics } from '../../actors/alert-group/metrics.ts';
import { createAnswers } from '../../actors/channels/bridge/answers.ts';
import { type BridgeClient, createBridgeClient } from '../../actors/channels/bridge/client.ts';
import { lanesOf } from '../../actors/channels/bridge/events.ts';
import { createInfoReader, type InfoReader } from '../../actors/channels/bridge/info-reader.ts';
import { bridgePoll } from '../../actors/channels/bridge/poll.ts';
import { createPushReceiver } from '../../actors/channels/bridge/push-receiver.ts';
import { createReactions } from '../../actors/channels/bridge/reactions.ts';
import { type ChatClient, createChatClient } from '../../actors/channels/chat-server/client.ts';
import { createActionReceiver } from '../../actors/channels/chat-server/receiver.ts';
import {
  createServerInfoReader,
  type ServerInfoReader,
} from '../../actors/channels/chat-server/server-info.ts';
import { CHANNELS } from '../../actors/channels/index.ts';
import { createEventIntake } from '../../actors/channels/intake.ts';
import { createPoller } from '../../actors/channels/polling.ts';
import type { PressDeps } from '../../actors/channels/press.ts';
import type { ConnectionPerformed } from '../../actors/connection/effects.ts';
import { connectionAddress, type InfoRead } from '../../actors/connection/messages.ts';
import type { ConnectionInfo } from '../../actors/connection/ports.ts';
import {
  createInteractiveTokens,
  createWaitingTokens,
  type WaitingTokens,
} from '../../actors/connection/tokens.ts';
import type { DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import type { CallbackReceiver } from '../../http/app.ts';
import { ROLE_PERMISSIONS } from '../../http/permissions.ts';
import { COMMAND_PERMISSIONS } from '../../http/resources/alert-groups/bodies.ts';
import { createLinkRequestStore } from '../../storage/access/account-link-requests.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import { readBridgeSettings, readChatServerSettings } from '../../storage/configuration/connection-rows.ts';
import { createEventFacts } from '../../storage/delivery/connection-events.ts';
import type { ActorSystem } from '../actor/index.ts';
import type { Clock, Micros } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import type { RequestRecorder } from '../outbound/request-log/recorder.ts';
import type { PublicId } from '../public-id.ts';
import type { Opener } from '../secrets/keyring.ts';
import { type ChannelBots, createChannelBots } from './channel-bots.ts';
import type { Database } from './database.ts';
import { createConnectionPerformer } from './performer.ts';

export interface ConnectionsDeps {
  readonly database: Pick<Database, 'main' | 'keyring'>;
  readonly caller: OutboundCaller;
  readonly recorder: Pick<RequestRecorder, 'record'>;
  /** Where bridges push. */
  readonly ingestUrl: string;
  /** Where people open the service. */
  readonly publicUrl: string;
  readonly directory: DirectorySource;
  readonly hints: Pick<HintBus, 'send'>;
  /** Messages to other actors were stored outside of their turns. */
  readonly messagesWait: () => void;
  readonly groupMetrics: Pick<AlertGroupMetrics, 'command'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly system: Pick<ActorSystem, 'ask' | 'tell' | 'stillOwns'>;
}

export interface Connections {
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  /** Tells a Connection what its bridge can do; Destinations that show something else for it hear of it at once. */
  readonly infoTo: Pick<ActorSystem, 'tell'>;
  readonly tokens: WaitingTokens;
  readonly opener: Opener;
  /** Of every chat server. */
  readonly chatServer: { readonly chat: ChatClient; readonly infos: ServerInfoReader };
  /** Of every channel bot. */
  readonly channelBot: Pick<ChannelBots, 'bot' | 'saving' | 'restoring'>;
  /** One for each type of Connection whose other side calls in. */
  readonly callbacks: readonly CallbackReceiver[];
  perform(effect: ConnectionPerformed): void;
  /** Begins no further poll; what a poll under way brings is left for the next start. */
  stop(): void;
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { system, clock, log } = deps;
  const { main, keyring } = deps.database;
  const settings = (id: PublicId) => readBridgeSettings(main, id);
  const opener: Opener = { keyring, log };
  const bridge = createBridgeClient(deps.caller);
  const tokens = createWaitingTokens({ system, clock });
  const infoTo: Connections['infoTo'] = {
    tell(to, message) {
      // Who could not be asked is told, and whoever shows the Info hears of it later.
      system.ask(to, message).then(deps.messagesWait, () => system.tell(to, message));
    },
  };
  const infos = createInfoReader({ bridge, tokens, system: infoTo, clock });
  const answers = createAnswers({ bridge, infos, tokens, opener, clock, log, settings });
  const requests = createLinkRequestStore({ sql: main, appendAudit });
  const forPresses: PressDeps = {
    ...deps,
    ...{ facts: createEventFacts(main, deps.messagesWait), keyring, metrics: deps.groupMetrics },
    may: (role, command) => ROLE_PERMISSIONS[role].has(COMMAND_PERMISSIONS[command]),
  };
  const links: ReceivedTokenDeps['links'] = {
    async useToken(use, say) {
      const used = await requests.useToken(use, say);
      if (used.outcome?.is === 'linked' || used.outcome?.is === 'unlinked') deps.messagesWait();
      return used;
    },
  };
  const react = createReactions({ ...forPresses, links, hints: deps.hints });
  const intake = createEventIntake({ react, lanesOf, say: answers.say, system, clock, log });
  const poller = createPoller({
    ...bridgePoll({ bridge, infos, opener, clock, settings }),
    ...{ intake, system, clock, log },
  });
  const receiver = createPushReceiver({ ...deps, intake, opener, settings });
  const learned = (id: PublicId, access: number, info: ConnectionInfo, at: Micros): void => {
    const read = { ok: true, info, wrong: null, tokenless: null } as const;
    const message: InfoRead = { type: 'info_read', access, read, at };
    infoTo.tell(connectionAddress(id), message);
  };
  const bots = createChannelBots({ ...deps, main, forPresses, links, opener, tokens, learned });
  const chat = createChatClient(deps.caller);
  const serverInfos = createServerInfoReader({ chat, clock, learned });
  const actions = createActionReceiver({
    ...{ ...forPresses, chat, opener, links, recorder: deps.recorder, ingestUrl: deps.ingestUrl },
    ...{ hints: deps.hints },
    tokens: createInteractiveTokens({ system, clock }),
    settings: (id) => readChatServerSettings(main, id),
  });
  return {
    bridge,
    infos,
    infoTo,
    chatServer: { chat, infos: serverInfos },
    channelBot: bots,
    tokens,
    opener,
    callbacks: [
      { callback: CHANNELS.bridge.callback, receiver },
      { callback: CHANNELS.chat_server.callback, receiver: actions },
      bots.callback,
    ],
    perform: createConnectionPerformer({
      log,
      poll(effect) {
        // One that this replica does not know yet has no settings of a bridge: its poll is asked for again.
        const connection = deps.directory.current().connectionsById.get(effect.connectionId);
        (connection?.type === 'channel_bot' ? bots : poller).poll(effect);
      },
    }),
    stop() {
      poller.stop();
      bots.stop();
    },
  };
}
