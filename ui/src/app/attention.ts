/** Calls a person who looks elsewhere to what has just begun to fire (ui §1.12). It replaces no messenger. */
import type { AlertGroupsApi } from '../api/alert-groups.ts';
import type { AlertGroup } from '../api/shapes.ts';
import type { PreferencesContext } from '../state/preferences.svelte.ts';
import { createResource } from '../state/resource.svelte.ts';

export type AttentionChoice = Pick<PreferencesContext, 'attention' | 'attentionRoutes' | 'sound'>;

/** So many are looked at: of more that came at once, the newest. */
const LOOKED_AT = 50;

export interface AttentionDeps {
  readonly api: Pick<AlertGroupsApi, 'list'>;
  choice(): AttentionChoice;
  /** Whether nobody can see this tab. */
  isHidden(): boolean;
  /** Newest first; at least one. */
  call(news: readonly AlertGroup[]): void;
}

export interface Attention {
  /** What there is now is no news: the next look only remembers it. */
  forget(): void;
  look(): Promise<void>;
}

export function createAttention({ api, choice, isHidden, call }: AttentionDeps): Attention {
  /** The highest #N that was there at the last look; null before the first. Each group is told once. */
  let last: number | null = null;

  return {
    forget() {
      last = null;
    },
    async look() {
      const answer = await api.list(
        { status: ['firing'], sort: '-started_at' },
        { cursor: null, limit: LOOKED_AT },
      );
      if (!answer.ok) return;
      const before = last;
      last = Math.max(before ?? 0, ...answer.value.items.map((group) => group.number));
      if (before === null || !isHidden()) return;
      const news = answer.value.items.filter((group) => group.number > before && isWanted(group, choice()));
      if (news.length > 0) call(news);
    },
  };
}

/** That a group begins to fire is always Loud; what follows is not told here. */
function isWanted(group: AlertGroup, { attention, attentionRoutes }: AttentionChoice): boolean {
  switch (attention) {
    case 'off':
      return false;
    case 'urgent':
      return group.urgent;
    case 'routes':
      return attentionRoutes.includes(group.route.id);
    case 'all':
      return true;
  }
}

/** How many Alert Groups fire now: the counter in the navigation and in the document title (ui §1.2). */
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
