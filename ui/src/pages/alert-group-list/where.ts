/** Which labels say where a row's trouble is: those that tell it from the other rows in sight (ui §3). */
import type { AlertGroup } from '../../api/shapes.ts';

/** Label names with their values, in the order in which a row shows them. */
export type RowLabels = readonly (readonly [name: string, value: string])[];

const LEAST = 2;
const MOST = 3;
/** Names of one row that are considered, and characters of a value: both come from senders. */
const MOST_NAMES = 40;
const LONGEST = 100;

interface Row {
  readonly group: AlertGroup;
  readonly labels: ReadonlyMap<string, string>;
}

/**
 * The labels of every row by the group's id, at most three each. Rows with the same title show the same labels, the fewest
 * that tell them apart, so that they can be compared down the list; what all of them share is left out. A title that occurs
 * once shows how its row differs from all others.
 */
export function whereLabels(groups: readonly AlertGroup[]): ReadonlyMap<string, RowLabels> {
  const rows = groups.map((group) => ({ group, labels: considered(group) }));
  const kinds = new Map<string, Row[]>();
  for (const row of rows) {
    const kind = kinds.get(row.group.title);
    if (kind === undefined) kinds.set(row.group.title, [row]);
    else kind.push(row);
  }
  const valuesOfAll = valuesByName(rows);
  const shown = new Map<string, RowLabels>();
  for (const kind of kinds.values()) {
    const names = kind.length > 1 ? namesThatSeparate(kind) : [];
    for (const row of kind) {
      const own = names.filter((name) => row.labels.has(name));
      const picked = own.length > 0 ? own : namesOfOne(row, valuesOfAll, rows.length);
      shown.set(
        row.group.id,
        picked.map((name) => [name, row.labels.get(name) ?? ''] as const),
      );
    }
  }
  return shown;
}

/** The labels of the columns that were asked for, as far as the group has them. */
export function columnLabels(group: AlertGroup, columns: readonly string[]): RowLabels {
  return columns.flatMap((name) => {
    const value = group.label_values[name] ?? group.common_labels[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** Labels of the Group key first. The title and the mark of the severity say some of them already. */
function considered(group: AlertGroup): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const [name, value] of [
    ...Object.entries(group.group_labels),
    ...Object.entries(group.common_labels).sort(([one], [other]) => (one < other ? -1 : 1)),
  ]) {
    if (labels.size === MOST_NAMES) break;
    if (value === '' || value.length > LONGEST || value === group.severity_level) continue;
    if (name !== 'alertname' && value !== group.title) labels.set(name, value);
  }
  return labels;
}

function valuesByName(rows: readonly Row[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const counts = new Map<string, Map<string, number>>();
  for (const { labels } of rows) {
    for (const [name, value] of labels) {
      const values = counts.get(name) ?? new Map<string, number>();
      counts.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  return counts;
}

/** Takes the label that splits the rows the most until each stands alone: the first says most. */
function namesThatSeparate(rows: readonly Row[]): readonly string[] {
  const counts = valuesByName(rows);
  const variety = (name: string) => counts.get(name)?.size ?? 0;
  const left = new Set([...counts.keys()].filter((name) => isVaried(name, counts, rows.length)));
  const keyed = (name: string) => rows.filter(({ group }) => name in group.group_labels).length;
  const picked: string[] = [];
  let parts: readonly string[] = rows.map(() => '');
  while (picked.length < MOST && left.size > 0) {
    if (picked.length >= LEAST && new Set(parts).size === rows.length) break;
    const split = (name: string) => parts.map((part, row) => `${part}\n${rows[row]?.labels.get(name) ?? ''}`);
    const ranked = [...left].map((name) => ({ name, parts: new Set(split(name)).size, keyed: keyed(name) }));
    ranked.sort(
      (one, other) =>
        other.parts - one.parts || other.keyed - one.keyed || variety(other.name) - variety(one.name),
    );
    const best = ranked[0];
    if (best === undefined) break;
    parts = split(best.name);
    picked.push(best.name);
    left.delete(best.name);
  }
  return picked;
}

/** Of a row without a namesake: the Group key first, then what most other rows have with another value. */
function namesOfOne(
  row: Row,
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  rows: number,
): readonly string[] {
  const names = [...row.labels.keys()];
  const varied = names.filter((name) => isVaried(name, counts, rows));
  const others = (name: string) =>
    [...(counts.get(name) ?? [])].reduce(
      (sum, [value, count]) => sum + (value === row.labels.get(name) ? 0 : count),
      0,
    );
  const rank = (name: string) => (name in row.group.group_labels ? rows : 0) + others(name);
  return (varied.length > 0 ? varied : names).sort((one, other) => rank(other) - rank(one)).slice(0, MOST);
}

/** Whether not all rows have it with one value. */
function isVaried(
  name: string,
  counts: ReadonlyMap<string, ReadonlyMap<string, number>>,
  rows: number,
): boolean {
  const values = counts.get(name);
  return values !== undefined && (values.size > 1 || [...values.values()][0] !== rows);
}
