/** Title and summary of an Alert Group (Alert Group chapter §4.3). */
import type { Labels } from '../model.ts';

const TITLE_LIMIT = 500;

/** The alertname that all the labels share; null when one differs or is missing. */
export function sharedAlertname(labelSets: Iterable<Labels>): string | null {
  let shared: string | null = null;
  for (const labels of labelSets) {
    const name = labels.alertname ?? '';
    if (name === '' || (shared !== null && name !== shared)) return null;
    shared = name;
  }
  return shared;
}

/** The title of a group whose Alerts share no alertname: its key, or the Route's name when the key says nothing. */
export function titleFromKey(groupLabels: Labels, routeName: string): string {
  const pairs = Object.entries(groupLabels).filter(([, value]) => value !== '');
  return cutTitle(pairs.map(([name, value]) => `${name}=${value}`).join(', ') || routeName);
}

/** The key with its labels in the order of a Group key; one that has other names by now is left as it is. */
export function inKeyOrder(groupLabels: Labels, groupKey: readonly string[]): Labels {
  const isWhole = groupKey.length === Object.keys(groupLabels).length;
  if (!isWhole || !groupKey.every((name) => Object.hasOwn(groupLabels, name))) return groupLabels;
  return Object.fromEntries(groupKey.map((name) => [name, groupLabels[name] ?? '']));
}

/** At most 500 code points; a longer title ends with "…". */
export function cutTitle(title: string): string {
  if (title.length <= TITLE_LIMIT) return title;
  const points = [...title];
  return points.length <= TITLE_LIMIT ? title : `${points.slice(0, TITLE_LIMIT - 1).join('')}…`;
}

/** The first non-empty `summary` annotation; null without one. */
export function firstSummary(annotationSets: Iterable<Labels>): string | null {
  for (const { summary } of annotationSets) if (summary) return summary;
  return null;
}
