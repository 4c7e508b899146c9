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

/** How many rows have a label, and how many have each of its values. */
interface Spread {
  rows: number;
  readonly values: Map<string, number>;
}
type Spreads = ReadonlyMap<string, Readonly<Spread>>;

/**
 * The labels of every row by the group's id, at most three each. Rows with the same title show the same labels, the fewest
 * that tell them apart, so that they can be compared down the list; what all of them share is left out. A title that occurs
 * once shows how its row differs from all others.
 * @param before what the rows showed before: those that show the same keep the same array, and are not drawn anew
 */
export function whereLabels(
  groups: readonly AlertGroup[],
  before: ReadonlyMap<string, RowLabels> = new Map(),
): ReadonlyMap<string, RowLabels> {
  const rows = groups.map((group) => ({ group, labels: considered(group) }));
  const kinds = new Map<string, Row[]>();
  for (const row of rows) {
    const kind = kinds.get(row.group.title);
    if (kind === undefined) kinds.set(row.group.title, [row]);
    else kind.push(row);
  }
  const spreads = spreadsByName(rows);
  const shown = new Map<string, RowLabels>();
  for (const kind of kinds.values()) {
    const names = kind.length > 1 ? namesThatSeparate(kind) : [];
    for (const row of kind) {
      const own = names.filter((name) => row.labels.has(name));
      const picked = own.length > 0 ? own : namesOfOne(row, spreads, rows.length);
      const labels = picked.map((name) => [name, row.labels.get(name) ?? ''] as const);
      const earlier = before.get(row.group.id);
      shown.set(row.group.id, earlier !== undefined && areSame(earlier, labels) ? earlier : labels);
    }
  }
  return shown;
}

function areSame(one: RowLabels, other: RowLabels): boolean {
  return (
    one.length === other.length &&
    one.every(([name, value], index) => name === other[index]?.[0] && value === other[index]?.[1])
  );
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

function spreadsByName(rows: readonly Row[]): Spreads {
  const spreads = new Map<string, Spread>();
  for (const { labels } of rows) {
    for (const [name, value] of labels) {
      let spread = spreads.get(name);
      if (spread === undefined) {
        spread = { rows: 0, values: new Map() };
        spreads.set(name, spread);
      }
      spread.rows += 1;
      spread.values.set(value, (spread.values.get(value) ?? 0) + 1);
    }
  }
  return spreads;
}

/** Takes the label that splits the rows the most until each stands alone: the first says most. */
function namesThatSeparate(rows: readonly Row[]): readonly string[] {
  const spreads = spreadsByName(rows);
  const variety = (name: string) => spreads.get(name)?.values.size ?? 0;
  const left = new Set([...spreads.keys()].filter((name) => isVaried(name, spreads, rows.length)));
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
function namesOfOne(row: Row, spreads: Spreads, rows: number): readonly string[] {
  const varied = [...row.labels].filter(([name]) => isVaried(name, spreads, rows));
  const ranked = (varied.length > 0 ? varied : [...row.labels]).map(([name, value]) => {
    const spread = spreads.get(name);
    const others = (spread?.rows ?? 0) - (spread?.values.get(value) ?? 0);
    return { name, rank: (name in row.group.group_labels ? rows : 0) + others };
  });
  return ranked
    .sort((one, other) => other.rank - one.rank)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** Whether not all rows have it with one value. */
function isVaried(name: string, spreads: Spreads, rows: number): boolean {
  const spread = spreads.get(name);
  return spread !== undefined && (spread.values.size > 1 || spread.rows !== rows);
}
