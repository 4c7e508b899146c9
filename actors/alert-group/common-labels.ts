/** What many label sets have in common (Alert Group chapter §4.3 rule 4). */
import type { Labels } from '../model.ts';

/**
 * The pairs of `common` that `labels` has, too. Returns `common` itself when nothing falls away.
 */
export function intersect(common: Labels, labels: Labels): Labels {
  const kept = Object.entries(common).filter(
    ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
  );
  return kept.length === Object.keys(common).length ? common : Object.fromEntries(kept);
}

/** The pairs that all sets share; `{}` for none. */
export function commonOf(sets: Iterable<Labels>): Labels {
  let common: Labels | null = null;
  for (const labels of sets) common = common === null ? labels : intersect(common, labels);
  return common ?? {};
}
