/** How many Alert Groups fire now: the counter in the navigation and in the document title (ui §1.2). */
import type { AlertGroupsApi } from '../api/alert-groups.ts';
import { createResource } from '../state/resource.svelte.ts';

export interface FiringCount {
  readonly value: number | null;
  read(): Promise<void>;
}

export function createFiringCount(api: AlertGroupsApi): FiringCount {
  const counts = createResource(() => api.counts({}));
  return {
    get value() {
      return counts.value?.firing ?? null;
    },
    read: counts.read,
  };
}
