/** Replacements: an Alert that takes the place of another instance (ingestion §7, seed 2 §2.6). */
import type { Labels } from '../model.ts';
import { sameLabels } from './rows.ts';

/**
 * Finds what an arriving Alert replaces among the Alerts that fired before.
 * @returns for an arriving Alert's labels the first Instance label whose value differs, or null when it replaces none
 */
export function replacementFinder(
  firingBefore: Iterable<Labels>,
  instanceLabels: readonly string[],
): (arriving: Labels) => string | null {
  const byRest = new Map<string, Labels[]>();
  for (const labels of firingBefore) {
    const rest = withoutInstance(labels, instanceLabels);
    const known = byRest.get(rest);
    if (known) known.push(labels);
    else byRest.set(rest, [labels]);
  }
  return (arriving) => {
    const candidates = byRest.get(withoutInstance(arriving, instanceLabels)) ?? [];
    const replaced = candidates.find((labels) => !sameLabels(labels, arriving));
    if (!replaced) return null;
    return instanceLabels.find((name) => (replaced[name] ?? '') !== (arriving[name] ?? '')) ?? null;
  };
}

function withoutInstance(labels: Labels, instanceLabels: readonly string[]): string {
  const rest = Object.entries(labels).filter(([name]) => !instanceLabels.includes(name));
  return JSON.stringify(rest.sort(([left], [right]) => (left < right ? -1 : 1)));
}
