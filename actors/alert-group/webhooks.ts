/** Lifecycle events for events-mode webhooks: recorded with the change, announced to the Destination (webhooks §3.2). */
import type { PublicId } from '../../runtime/public-id.ts';
import { newEventId } from '../destination/event-id.ts';
import { destinationAddress, type EventRecorded } from '../destination/messages.ts';
import type { DestinationConfig, Directory } from '../directory.ts';
import type { WebhookEventRecorded } from '../effects.ts';
import type { GroupView, LifecycleEvent } from '../lifecycle.ts';
import { resolveMentions } from './mentions.ts';

/** A lifecycle event and the Routes whose Destinations hear of it: the present one, and one that was just left. */
export interface Announcement {
  readonly event: LifecycleEvent;
  readonly routeIds: readonly PublicId[];
}

/** The events-mode webhooks of some Routes, each once. */
export function webhooksOf(routeIds: readonly PublicId[], directory: Directory): DestinationConfig[] {
  const ids = new Set(routeIds.flatMap((id) => directory.routesById.get(id)?.destinationIds ?? []));
  return [...ids].flatMap((id) => {
    const destination = directory.destinationsById.get(id);
    return destination?.type === 'webhook' && destination.mode === 'events' ? [destination] : [];
  });
}

export interface Announced {
  readonly record: WebhookEventRecorded;
  readonly send: { readonly to: ReturnType<typeof destinationAddress>; readonly message: EventRecorded };
}

/** One event for one Destination. */
export function announce(
  event: LifecycleEvent,
  destination: DestinationConfig,
  group: GroupView,
  number: number | null,
  directory: Directory,
  random: (size: number) => Uint8Array,
): Announced {
  const eventId = newEventId(random);
  return {
    record: {
      type: 'webhook.recorded',
      eventId,
      destinationId: destination.id,
      event,
      group,
      number,
      mentions: resolveMentions(event, destination, directory),
    },
    send: {
      to: destinationAddress(destination.id),
      message: {
        type: 'event_recorded',
        eventId,
        groupId: group.id,
        sequence: event.sequence,
        event: event.name,
        urgent: group.urgent,
        occurredAt: event.at,
      },
    },
  };
}
