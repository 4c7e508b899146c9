/** Calls a person who looks elsewhere to what has just begun to fire (ui §1.12). It replaces no messenger. */
import type { AlertGroupsApi } from '../api/alert-groups.ts';
import type { Query } from '../api/client.ts';
import { isQueryRefused } from '../api/problem.ts';
import type { AlertGroup, SavedView } from '../api/shapes.ts';
import { countQuery, parseFilters, shownStatuses } from '../pages/alert-group-list/filters.ts';
import type { PreferencesContext } from '../state/preferences.svelte.ts';
import { createResource } from '../state/resource.svelte.ts';

export type AttentionChoice = Pick<PreferencesContext, 'attention' | 'attentionRoutes' | 'attentionViews'>;

/** So many are looked at: of more that came at once, the newest. */
const LOOKED_AT = 50;
/** Saved views that are looked at: each costs a request. */
export const MOST_VIEWS = 10;

export interface AttentionDeps {
  readonly api: Pick<AlertGroupsApi, 'list'>;
  choice(): AttentionChoice;
  /** Those that the person sees. */
  views(): readonly Pick<SavedView, 'id' | 'query'>[];
  /** Whether nobody can see this tab. */
  isHidden(): boolean;
  /** Newest first; at least one. */
  call(news: readonly AlertGroup[]): void;
  /** Which views cannot be watched, because the service refuses their filters. Told after each look. */
  refused(views: readonly string[]): void;
}

export interface Attention {
  /** What there is now is no news: the next look only remembers it. */
  forget(): void;
  look(): Promise<void>;
}

/** What is read: everything, or what one of the chosen views shows of it. */
interface Watched {
  readonly view: string | null;
  readonly query: Query;
}

export function createAttention({
  api,
  choice,
  views,
  isHidden,
  call,
  refused,
}: AttentionDeps): Attention {
  /** The highest #N that was there at the last look; null before the first. Each group is told once. */
  let last: number | null = null;

  return {
    forget() {
      last = null;
    },
    async look() {
      const answers = await Promise.all(
        watchedOf(choice(), views()).map(async ({ view, query }) => {
          const wanted = { ...query, status: ['firing'], sort: '-started_at' };
          return { view, ...(await api.list(wanted, { cursor: null, limit: LOOKED_AT })) };
        }),
      );
      const found = new Map<number, AlertGroup>();
      const refusedViews: string[] = [];
      for (const answer of answers) {
        if (answer.ok) for (const group of answer.value.items) found.set(group.number, group);
        else if (answer.view !== null && isQueryRefused(answer.problem)) refusedViews.push(answer.view);
        else return;
      }
      refused(refusedViews);
      const before = last;
      last = Math.max(before ?? 0, ...found.keys());
      if (before === null || !isHidden()) return;
      const news = [...found.values()]
        .filter((group) => group.number > before && isWanted(group, choice()))
        .sort((one, other) => other.number - one.number);
      if (news.length > 0) call(news);
    },
  };
}

function watchedOf(
  { attention, attentionViews }: AttentionChoice,
  views: readonly Pick<SavedView, 'id' | 'query'>[],
): readonly Watched[] {
  if (attention !== 'views') return [{ view: null, query: {} }];
  return views
    .filter(({ id }) => attentionViews.includes(id))
    .slice(0, MOST_VIEWS)
    .map(({ id, query }) => ({ id, filters: parseFilters(query).filters }))
    .filter(({ filters }) => shownStatuses(filters).includes('firing'))
    .map(({ id, filters }) => ({ view: id, query: countQuery(filters, Date.now()) }));
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
    case 'views':
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
