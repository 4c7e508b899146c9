/** Performs what committed turns of Destinations asked for. */
import type { Log } from '../../runtime/log.ts';
import type { Directory } from '../directory.ts';
import type { HintBus } from '../effects.ts';
import type { DestinationHealthChanged, WebhookSend } from './effects.ts';
import type { DestinationProbe, MessageSend } from './messages/calls.ts';
import type { DeliveryHappened } from './messages/effects.ts';

export interface DestinationPerformerDeps {
  readonly send: (effect: WebhookSend) => void;
  readonly sendMessage: (effect: MessageSend | DestinationProbe) => void;
  readonly log: Log;
  readonly hints: HintBus;
  readonly directory: { current(): Pick<Directory, 'routes'> };
}

export type DestinationPerformed =
  | WebhookSend
  | MessageSend
  | DestinationProbe
  | DeliveryHappened
  | DestinationHealthChanged;

/** The effect types it takes. */
export const DESTINATION_PERFORMS = [
  'webhook.send',
  'message.send',
  'message.probe',
  'delivery.happened',
  'destination.health_changed',
] as const satisfies readonly DestinationPerformed['type'][];

export function createDestinationPerformer(
  deps: DestinationPerformerDeps,
): (effect: DestinationPerformed) => void {
  return (effect) => {
    switch (effect.type) {
      case 'webhook.send':
        return deps.send(effect);
      case 'message.send':
      case 'message.probe':
        return deps.sendMessage(effect);
      case 'delivery.happened':
        return happened(deps, effect);
      case 'destination.health_changed':
        return healthChanged(deps, effect);
    }
  };
}

/** What a message came to changes nothing that its Alert Group shows but the state of its deliveries. */
function happened(
  { log, hints }: DestinationPerformerDeps,
  { destinationId: destination, groupId, event }: DeliveryHappened,
): void {
  if (event === 'possible_duplicate') log('delivery_possible_duplicate', { destination, group: groupId });
  if (groupId !== null) hints.send({ type: 'alert-group', id: groupId });
}

function healthChanged(
  { log, hints, directory }: DestinationPerformerDeps,
  effect: DestinationHealthChanged,
): void {
  const { destinationId: id, change, reason } = effect;
  if (change !== 'template_error') log(change, { destination: id, reason });
  hints.send({ type: 'destination', id });
  hints.send({ type: 'system-status', id: null });
  for (const route of directory.current().routes) {
    if (route.destinationIds.includes(id)) hints.send({ type: 'route', id: route.id });
  }
}
