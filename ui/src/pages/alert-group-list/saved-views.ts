/** Named sets of filters, order and label columns, kept in this browser; one may be where the list starts (ui §3). */
import { filtersToQuery, parseFilters } from './filters.ts';

export interface SavedView {
  readonly name: string;
  /** The query string of the list. */
  readonly query: string;
  readonly start: boolean;
}

const KEY = 'tocsin.views';
const MOST = 50;

export type ViewStore = Pick<Storage, 'getItem' | 'setItem'>;

/** What is stored; foreign or broken content counts as nothing, and parameters that say nothing are left out. */
export function readViews(storage: ViewStore): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored.flatMap(asView).slice(0, MOST) : [];
  } catch {
    // Closed storage or foreign content: there are no views.
    return [];
  }
}

/** @returns whether the browser kept them */
export function writeViews(storage: ViewStore, views: readonly SavedView[]): boolean {
  try {
    storage.setItem(KEY, JSON.stringify(views));
    return true;
  } catch {
    // A full or closed storage: the caller says so.
    return false;
  }
}

/** The views with one more; a view of the same name is replaced in its place. */
export function withView(views: readonly SavedView[], name: string, query: string): readonly SavedView[] {
  const present = views.find((view) => view.name === name);
  if (present !== undefined) return views.map((view) => (view === present ? { ...view, query } : view));
  return [...views, { name, query, start: false }].slice(-MOST);
}

/** The views with this one as the start, or with none when it was. */
export function withStart(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.map((view) => ({ ...view, start: view.name === name && !view.start }));
}

function asView(value: unknown): SavedView[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, query, start } = value as Record<string, unknown>;
  if (typeof name !== 'string' || name === '' || typeof query !== 'string') return [];
  return [{ name, query: filtersToQuery(parseFilters(query).filters).toString(), start: start === true }];
}
