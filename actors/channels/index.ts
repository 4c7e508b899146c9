/**
 * The registry of channels: one line each. Composition opens them, HTTP takes the shapes of their settings from here, and
 * the engine asks by the type of a Destination. Nobody else imports a channel's folder (docs/architecture.md).
 */
import type { Limiter } from '../destination/limiter.ts';
import type { DestinationConfig } from '../directory.ts';
import { createBridgeChannel } from './bridge/channel.ts';
import { BRIDGE } from './bridge/check.ts';
import type { ChannelType } from './channel.ts';
import { createChannelBotChannel } from './channel-bot/channel.ts';
import { CHANNEL_BOT } from './channel-bot/settings.ts';
import { createChatServerChannel } from './chat-server/channel.ts';
import { CHAT_SERVER } from './chat-server/settings.ts';
import { createEventsChannel, WEBHOOK_EVENTS } from './webhook-events/channel.ts';
import { createTemplateChannel } from './webhook-template/channel.ts';
import { WEBHOOK_TEMPLATE } from './webhook-template/check-configuration.ts';

export const CHANNELS = {
  bridge: { ...BRIDGE, open: createBridgeChannel },
  channel_bot: { ...CHANNEL_BOT, open: createChannelBotChannel },
  chat_server: { ...CHAT_SERVER, open: createChatServerChannel },
  webhook_template: { ...WEBHOOK_TEMPLATE, open: createTemplateChannel },
  webhook_events: { ...WEBHOOK_EVENTS, open: createEventsChannel },
} as const;

export type ChannelName = keyof typeof CHANNELS;
type Any = (typeof CHANNELS)[ChannelName];

/** Channels that are reached through a Connection. */
export type MessengerType = Extract<Any, { readonly settings: { readonly messenger: object } }>;
export const MESSENGERS = Object.values(CHANNELS).filter(isMessenger);

function isMessenger(channel: Any): channel is MessengerType {
  return channel.settings.messenger !== null;
}

const NAMES = Object.keys(CHANNELS) as ChannelName[];

/**
 * The channel of a type of Destination.
 * @param mode left out: the first channel of the type, for what all of them have in common
 * @throws for a type or mode that no channel has
 */
export function channelOf(type: DestinationConfig['type'], mode?: DestinationConfig['mode']): ChannelType {
  return CHANNELS[nameOf(type, ({ destination }) => mode === undefined || destination.mode === mode)];
}

/** A saved limiter, of a Destination of this type or of its Connection, counting as the other side counts. */
export function limiterFor(type: DestinationConfig['type'], limiter: Limiter): Limiter {
  return channelOf(type).settings.isSliding ? { ...limiter, sliding: true } : limiter;
}

/**
 * The channel by which a type of Destination gets messages, or events, whatever its mode is by now: what was begun in
 * another mode is finished as it was begun.
 * @throws for a type without such a channel
 */
export function channelFor(type: DestinationConfig['type'], gets: 'messages' | 'events'): ChannelName {
  return nameOf(type, ({ renderEvent }) => (renderEvent === null) === (gets === 'messages'));
}

function nameOf(type: DestinationConfig['type'], fits: (channel: ChannelType) => boolean): ChannelName {
  const found = NAMES.find((name) => CHANNELS[name].destination.type === type && fits(CHANNELS[name]));
  if (!found) throw new Error(`no channel delivers so to a Destination of type ${type}`);
  return found;
}
