/** Calls a person who looks elsewhere to what has come to fire (ui §1.12). It replaces no messenger. */
import type { AlertGroupsApi } from '../api/alert-groups.ts';
import type { Query } from '../api/client.ts';
import { isQueryRefused } from '../api/problem.ts';
import type { AlertGroup, SavedView } from '../api/shapes.ts';
import { countQuery, parseFilters, shownStatuses } from '../pages/alert-group-list/filters.ts';
import { readRows } from '../state/pages.svelte.ts';
import type { PreferencesContext } from '../state/preferences.svelte.ts';
import { createResource } from '../state/resource.svelte.ts';

export type AttentionChoice = Pick<PreferencesContext, 'attention' | 'attentionRoutes' | 'attentionViews'>;

/** So many are looked at, in each view: of more that fire, those that changed last. */
const LOOKED_AT = 100;
const MOST_REQUESTS = 2;
/** Saved views that are looked at: each costs a request, or two where the service ends its first page early. */
export const MOST_VIEWS = 10;

export interface AttentionDeps {
  readonly api: Pick<AlertGroupsApi, 'list'>;
  choice(): AttentionChoice;
  /** Those that the person sees. */
  views(): readonly View[];
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

type View = Pick<SavedView, 'id' | 'query'>;

/** What is read: all that was chosen, or what one of the chosen views shows of it. */
interface Watched {
  readonly view: View | null;
  readonly query: Query;
}

/** What fires among what was chosen. */
interface Found {
  readonly groups: ReadonlyMap<string, AlertGroup>;
  /** Whether those are all. */
  readonly isWhole: boolean;
  /** Which views were read. What others show was no news to them. */
  readonly views: string;
  readonly refused: readonly string[];
}

export function createAttention({ api, choice, views, isHidden, call, refused }: AttentionDeps): Attention {
  /** What the last look found, with the highest #N up to then; null before the first. Nothing older is kept. */
  let before: (Found & { readonly last: number }) | null = null;
  /** Counts what was forgotten: a look that began before says nothing. */
  let forgotten = 0;
  /** The look that is on its way, and whether to look once more after it. */
  let looking: Promise<void> | null = null;
  let again = false;

  async function lookOnce(): Promise<void> {
    const turn = forgotten;
    const found = await find(api, watchedOf(choice(), views()));
    if (found === null || turn !== forgotten) return;
    refused(found.refused);
    const numbers = [...found.groups.values()].map(({ number }) => number);
    const last = Math.max(before?.last ?? 0, ...numbers);
    const news = before === null || before.views !== found.views ? [] : newsOf(before, found);
    before = { ...found, last };
    if (news.length > 0 && isHidden()) call(news);
  }

  async function lookUntilNow(): Promise<void> {
    do {
      again = false;
      await lookOnce();
    } while (again);
  }

  return {
    forget() {
      before = null;
      forgotten += 1;
      again = false;
    },
    look() {
      again = true;
      looking ??= lookUntilNow().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
}

/**
 * What was not there, was opened again, or is Urgent and was not. Where more fired than were read, one that was not
 * among those may have fired all the time: only a new #N is news then.
 */
function newsOf(before: Found & { readonly last: number }, { groups }: Found): readonly AlertGroup[] {
  const isNews = (group: AlertGroup) => {
    const then = before.groups.get(group.id);
    if (then === undefined) return before.isWhole || group.number > before.last;
    return group.reopen_count > then.reopen_count || (group.urgent && !then.urgent);
  };
  return [...groups.values()].filter(isNews).sort((one, other) => other.number - one.number);
}

/** @returns null when something was not answered: the next look makes up for it */
async function find(api: AttentionDeps['api'], watched: readonly Watched[]): Promise<Found | null> {
  const answers = await Promise.all(
    watched.map(async ({ view, query }) => {
      const wanted = { ...query, status: ['firing'], sort: '-last_changed_at' };
      const rows = await readRows(
        (page) => api.list(wanted, page),
        { cursor: null, limit: LOOKED_AT },
        MOST_REQUESTS,
      );
      return { view, rows };
    }),
  );
  const groups = new Map<string, AlertGroup>();
  const read: View[] = [];
  const refused: string[] = [];
  let isWhole = true;
  for (const { view, rows } of answers) {
    if (rows.ok) {
      for (const group of rows.value.items) groups.set(group.id, group);
      if (rows.value.next_cursor !== null) isWhole = false;
      if (view !== null) read.push(view);
    } else if (view !== null && isQueryRefused(rows.problem)) refused.push(view.id);
    else return null;
  }
  const views = read.map(({ id, query }) => `${id} ${query}`).join('\n');
  return { groups, isWhole, views, refused };
}

function watchedOf(
  { attention, attentionRoutes, attentionViews }: AttentionChoice,
  views: readonly View[],
): readonly Watched[] {
  const all = (query: Query) => [{ view: null, query }];
  switch (attention) {
    case 'off':
      return [];
    case 'urgent':
      return all({ urgent: true });
    case 'routes':
      return attentionRoutes.length > 0 ? all({ route: attentionRoutes }) : [];
    case 'all':
      return all({});
    case 'views':
      return views
        .filter(({ id }) => attentionViews.includes(id))
        .slice(0, MOST_VIEWS)
        .map((view) => ({ view, filters: parseFilters(view.query).filters }))
        .filter(({ filters }) => shownStatuses(filters).includes('firing'))
        .map(({ view, filters }) => ({ view, query: countQuery(filters, Date.now()) }));
  }
}

/** How many Alert Groups fire now: the counter in the navigation and in the document title (ui §1.2). */
export interface FiringCount {
  readonly value: number | null;
  read(): Promise<void>;
}

export function createFiringCount(api: Pick<AlertGroupsApi, 'counts'>): FiringCount {
  const counts = createResource(() => api.counts({}));
  return {
    get value() {
      return counts.value?.firing ?? null;
    },
    read: counts.read,
  };
}
