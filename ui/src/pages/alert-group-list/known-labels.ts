/** Label names and values: what a matcher, the search text and the fields of names can be completed with (ui §3). */
import type { AlertGroup, GroupFolds } from '../../api/shapes.ts';

/** How many rows have each value, names and values each with the most frequent first. */
export type KnownLabels = ReadonlyMap<string, ReadonlyMap<string, number>>;

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
  const named = [...known].map(([name, values]) => ({ name, values, rows: sum(values) }));
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

/** How many Alert Groups each name has: of the loaded ones, or of all where the service was asked. */
export type LabelNames = ReadonlyMap<string, number>;

/** @param folds Alert Groups by the names of their labels */
export function foldedNames(folds: Pick<GroupFolds, 'items'>): LabelNames {
  return new Map(
    folds.items.flatMap(({ value, alert_group_count: groups }) => (value === null ? [] : [[value, groups]])),
  );
}

/** The names that were found, and those of the loaded rows after them. */
export function labelNames(found: LabelNames, known: KnownLabels): LabelNames {
  const rows = [...known].filter(([name]) => !found.has(name));
  return new Map([...found, ...rows.map(([name, values]) => [name, sum(values)] as const)]);
}

const sum = (values: ReadonlyMap<string, number>) => [...values.values()].reduce((all, one) => all + one, 0);

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
