/** Outgoing webhooks: from a committed turn of a Destination to a request and back. */
import type { WebhookSend } from '../../actors/destination/effects.ts';
import { destinationAddress } from '../../actors/destination/messages.ts';
import type { DeliveryMetrics } from '../../actors/destination/metrics.ts';
import { createWebhookBodies, type WebhookBodies } from '../../actors/destination/webhook-bodies.ts';
import { createWebhookSender } from '../../actors/destination/webhook-sender.ts';
import { createWebhookSettings, type WebhookSettingsSource } from '../../storage/destination-rows.ts';
import { readWebhookBody } from '../../storage/webhook-events.ts';
import { type ActorSystem, shardOf } from '../actor/index.ts';
import { type Clock, systemMonotonic } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OutboundCaller } from '../outbound/caller.ts';
import { createPauseWatch } from '../pause-watch.ts';
import type { Database } from './database.ts';

export interface DeliveryDeps {
  readonly database: Database;
  readonly caller: OutboundCaller;
  readonly deliveryMetrics: DeliveryMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
}

export interface Delivery {
  readonly bodies: WebhookBodies;
  readonly settings: WebhookSettingsSource;
  send(effect: WebhookSend): void;
  /** Whether a call of a Destination of the shard is under way. */
  isCalling(shard: number): boolean;
  /** Begins no further call and waits for those under way. */
  finish(): Promise<void>;
}

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { main, keyring } = deps.database;
  const bodies = createWebhookBodies();
  const settings = createWebhookSettings(main, deps.clock);
  const sender = createWebhookSender({
    caller: deps.caller,
    system: deps.system,
    pauses: createPauseWatch(deps.clock, systemMonotonic),
    keyring,
    clock: deps.clock,
    log: deps.log,
    deliveryMetrics: deps.deliveryMetrics,
    settings: settings.events,
    body: async (eventId) => bodies.get(eventId) ?? readWebhookBody(main, eventId),
  });
  const isCalling = (shard: number): boolean => {
    for (const id of sender.calling()) if (shardOf(destinationAddress(id)) === shard) return true;
    return false;
  };
  return { bodies, settings, send: sender.send, isCalling, finish: sender.finish };
}
