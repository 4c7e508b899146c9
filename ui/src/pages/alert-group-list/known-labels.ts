/** Label names and values of the rows that are loaded: what a matcher can be completed with (ui §3). */
import type { AlertGroup } from '../../api/shapes.ts';
import { labelMatcher } from './filters.ts';

export type KnownLabels = ReadonlyMap<string, ReadonlySet<string>>;

const MOST = 30;
/** Nobody completes longer values, and some are a megabyte. */
const LONGEST = 200;

/** Every label name with its values, names and values each in order. */
export function knownLabels(groups: readonly AlertGroup[]): KnownLabels {
  const known = new Map<string, Set<string>>();
  for (const group of groups) {
    for (const [name, value] of Object.entries(group.common_labels)) {
      if (value.length > LONGEST) continue;
      const values = known.get(name) ?? new Set();
      known.set(name, values.add(value));
    }
  }
  const inOrder = [...known].sort(([one], [other]) => one.localeCompare(other));
  return new Map(inOrder.map(([name, values]) => [name, new Set([...values].sort())]));
}

/** Whole matchers that begin like the text typed so far. */
export function completions(known: KnownLabels, typed: string): readonly string[] {
  const wanted = typed.trim().replaceAll('"', '').toLowerCase();
  const found: string[] = [];
  for (const [name, values] of known) {
    for (const value of values) {
      if (!`${name}=${value}`.toLowerCase().startsWith(wanted)) continue;
      found.push(labelMatcher(name, value, false));
      if (found.length === MOST) return found;
    }
  }
  return found;
}
