/**
 * The registry of channels: one line each. Composition opens them, HTTP takes the shapes of their settings from here, and
 * the engine asks by the type of a Destination. Nobody else imports a channel's folder (docs/architecture.md).
 */
import type { DestinationConfig } from '../directory.ts';
import { createBridgeChannel } from './bridge/channel.ts';
import { BRIDGE } from './bridge/check.ts';
import type { ChannelType } from './channel.ts';
import { createEventsChannel, WEBHOOK_EVENTS } from './webhook-events/channel.ts';
import { createTemplateChannel } from './webhook-template/channel.ts';
import { WEBHOOK_TEMPLATE } from './webhook-template/check-configuration.ts';

export const CHANNELS = {
  bridge: { ...BRIDGE, open: createBridgeChannel },
  webhook_template: { ...WEBHOOK_TEMPLATE, open: createTemplateChannel },
  webhook_events: { ...WEBHOOK_EVENTS, open: createEventsChannel },
} as const;

/**
 * The channel of a type of Destination.
 * @param mode left out: the first channel of the type, for what all of them have in common
 * @throws for a type or mode that no channel has
 */
export function channelOf(type: DestinationConfig['type'], mode?: string): ChannelType {
  const all: readonly ChannelType[] = Object.values(CHANNELS);
  const found = all.find(
    ({ destination }) => destination.type === type && (mode === undefined || destination.mode === mode),
  );
  if (!found) throw new Error(`no channel delivers to a Destination of type ${type}, mode ${mode}`);
  return found;
}
