/** Deliveries of the last 24 hours by Destination, read again from time to time while they are shown. */
import type { ApiClient } from '../api/client.ts';
import type { Problem } from '../api/problem.ts';
import type { DeliveryFigures } from '../api/shapes.ts';
import { createDeliveriesApi } from '../api/statistics.ts';
import { createResource } from './resource.svelte.ts';

const READ_EVERY_MS = 30_000;

export interface ShownDeliveryHours {
  /** Null until they are read: then nobody knows whether anything was sent. */
  readonly items: readonly DeliveryFigures[] | null;
  /** Why they were not read the last time. */
  readonly problem: Problem | null;
  /** Null until they are read, and for a Destination that is not there. */
  of(destinationId: string): DeliveryFigures | null;
  read(): Promise<void>;
  /** Reads them now and again. @returns a function that ends it */
  keep(): () => void;
}

export function createDeliveryHours(client: ApiClient): ShownDeliveryHours {
  const hours = createResource(createDeliveriesApi(client).hours);
  return {
    get items() {
      return hours.value?.items ?? null;
    },
    get problem() {
      return hours.problem;
    },
    of: (id) => hours.value?.items.find(({ destination }) => destination.id === id) ?? null,
    read: () => hours.read(),
    keep() {
      void hours.read();
      const timer = setInterval(() => void hours.read(), READ_EVERY_MS);
      return () => clearInterval(timer);
    },
  };
}
