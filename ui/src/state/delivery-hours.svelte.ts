/** Deliveries of the last 24 hours by Destination, read again from time to time while they are shown. */
import type { ApiClient } from '../api/client.ts';
import type { DeliveryFigures } from '../api/shapes.ts';
import { createDeliveriesApi } from '../api/statistics.ts';
import { createResource } from './resource.svelte.ts';

const READ_EVERY_MS = 30_000;

export interface ShownDeliveryHours {
  readonly items: readonly DeliveryFigures[];
  /** Null until they are read, and for a Destination that is not there. */
  of(destinationId: string): DeliveryFigures | null;
  read(): Promise<void>;
  /** Reads them now and again. @returns a function that ends it */
  keep(): () => void;
}

export function createDeliveryHours(client: ApiClient): ShownDeliveryHours {
  const hours = createResource(createDeliveriesApi(client).hours);
  const items = $derived(hours.value?.items ?? []);
  return {
    get items() {
      return items;
    },
    of: (id) => items.find(({ destination }) => destination.id === id) ?? null,
    read: () => hours.read(),
    keep() {
      void hours.read();
      const timer = setInterval(() => void hours.read(), READ_EVERY_MS);
      return () => clearInterval(timer);
    },
  };
}
