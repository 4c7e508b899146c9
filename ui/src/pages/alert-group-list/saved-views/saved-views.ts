/** Views that the version before kept in the browser move to the person who signs in first (ui §3). Loaded on demand. */
import type { SavedViewsApi } from '../../../api/configuration.ts';
import type { SavedView } from '../../../api/shapes.ts';
import { filtersToQuery, parseFilters } from '../filters.ts';

/** What the version before kept of one view. */
export interface OldView {
  readonly name: string;
  /** The query string of the list. */
  readonly query: string;
  readonly start: boolean;
}

const KEY = 'tocsin.views';
const LONGEST_NAME = 200;
/** Names that are tried for a view whose own name is taken: `name (2)` and so on. */
const MOST_NAMES = 9;

export type ViewStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** What is stored; foreign or broken content counts as nothing, and parameters that say nothing are left out. */
export function readOldViews(storage: Pick<Storage, 'getItem'>): readonly OldView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.flatMap(asView) : [];
  } catch {
    // Closed storage or foreign content: there are no views.
    return [];
  }
}

/**
 * Saves each of them as the person's own; one that is there already is not saved twice. What the service does not take
 * stays in the browser and is offered again with the next read.
 * @returns the ids of those that were saved, by the name they had
 */
export async function takeOverViews(
  storage: ViewStorage,
  api: Pick<SavedViewsApi, 'list' | 'create' | 'choose'>,
  userId: string,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const listed = await api.list();
  if (!listed.ok) return ids;
  const hasDefault = listed.value.items.some((view) => view.is_default);
  const left: OldView[] = [];
  for (const old of readOldViews(storage)) {
    const kept = ownLike(listed.value.items, old, userId) ?? (await keep(api, old, userId));
    if (kept === null) {
      left.push(old);
      continue;
    }
    ids.set(old.name, kept.id);
    if (old.start && !hasDefault) await api.choose(kept.id);
  }
  if (left.length > 0) storage.setItem(KEY, JSON.stringify(left));
  else storage.removeItem(KEY);
  return ids;
}

/** @returns null when the service does not take it */
async function keep(
  api: Pick<SavedViewsApi, 'list' | 'create'>,
  old: OldView,
  userId: string,
): Promise<SavedView | null> {
  for (let turn = 1; turn <= MOST_NAMES; turn += 1) {
    const mark = turn === 1 ? '' : ` (${turn})`;
    const name = old.name.slice(0, LONGEST_NAME - mark.length) + mark;
    const answer = await api.create({ name, query: old.query, shared: false });
    if (answer.ok) return answer.value;
    if (answer.problem.code !== 'name_taken') return null;
    // Another tab may be saving the same ones.
    const listed = await api.list();
    const same = listed.ok ? ownLike(listed.value.items, { ...old, name }, userId) : null;
    if (same) return same;
  }
  return null;
}

function ownLike(items: readonly SavedView[], { name, query }: OldView, userId: string): SavedView | null {
  const isLike = (view: SavedView) => view.owner.id === userId && view.name === name && view.query === query;
  return items.find(isLike) ?? null;
}

function asView(value: unknown): OldView[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, query, start } = value as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || typeof query !== 'string') return [];
  return [{ name, query: filtersToQuery(parseFilters(query).filters).toString(), start: start === true }];
}
