/** Label names and values: what a matcher and the search text can be completed with (ui §3). */
import type { AlertGroup, GroupFolds } from '../../api/shapes.ts';
import { labelMatcher } from './filters.ts';

/** How many rows have each value, names and values each with the most frequent first. */
export type KnownLabels = ReadonlyMap<string, ReadonlyMap<string, number>>;

const MOST = 30;
/** Nobody completes longer values, and some are a megabyte. */
const LONGEST = 200;

export function knownLabels(groups: readonly AlertGroup[]): KnownLabels {
  const known = new Map<string, Map<string, number>>();
  for (const group of groups) {
    for (const [name, value] of Object.entries(group.common_labels)) {
      if (value.length > LONGEST) continue;
      const values = known.get(name) ?? new Map<string, number>();
      known.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  const rows = (values: ReadonlyMap<string, number>) =>
    [...values.values()].reduce((sum, one) => sum + one, 0);
  const named = [...known].map(([name, values]) => ({ name, values, rows: rows(values) }));
  named.sort((one, other) => other.rows - one.rows || one.name.localeCompare(other.name));
  return new Map(named.map(({ name, values }) => [name, byFrequency(values)]));
}

/** @param folds Alert Groups by the label of that name */
export function foldedLabels(name: string, folds: Pick<GroupFolds, 'items'>): KnownLabels {
  const values = folds.items.flatMap(({ value, alert_group_count: groups }) =>
    value === null || value.length > LONGEST ? [] : [[value, groups] as const],
  );
  return new Map([[name, new Map(values)]]);
}

/** Labels of `first`, and those of `more` after them. A value that both have is as frequent as `first` says. */
export function withMore(first: KnownLabels, more: KnownLabels): KnownLabels {
  const all = new Map(more);
  for (const [name, values] of first) {
    all.set(
      name,
      new Map([...values, ...[...(more.get(name) ?? [])].filter(([value]) => !values.has(value))]),
    );
  }
  return all;
}

function byFrequency(values: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map([...values].sort(([one, rows], [other, more]) => more - rows || (one < other ? -1 : 1)));
}

/** Whole matchers that begin like the text typed so far. */
export function completions(known: KnownLabels, typed: string): readonly string[] {
  const wanted = typed.trim().replaceAll('"', '').toLowerCase();
  const found: string[] = [];
  for (const [name, values] of known) {
    for (const value of values.keys()) {
      if (!`${name}=${value}`.toLowerCase().startsWith(wanted)) continue;
      found.push(labelMatcher(name, value, false));
      if (found.length === MOST) return found;
    }
  }
  return found;
}
