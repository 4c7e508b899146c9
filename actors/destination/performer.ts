/** Performs what committed turns of Destinations asked for. */
import type { Log } from '../../runtime/log.ts';
import type { Directory } from '../directory.ts';
import type { HintBus } from '../effects.ts';
import type { DestinationHealthChanged, WebhookSend } from './effects.ts';

export interface DestinationPerformerDeps {
  readonly send: (effect: WebhookSend) => void;
  readonly log: Log;
  readonly hints: HintBus;
  readonly directory: { current(): Pick<Directory, 'routes'> };
}

export type DestinationPerformed = WebhookSend | DestinationHealthChanged;

/** The effect types it takes. */
export const DESTINATION_PERFORMS = ['webhook.send', 'destination.health_changed'] as const;

export function createDestinationPerformer(
  deps: DestinationPerformerDeps,
): (effect: DestinationPerformed) => void {
  return (effect) => {
    if (effect.type === 'webhook.send') deps.send(effect);
    else healthChanged(deps, effect);
  };
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
