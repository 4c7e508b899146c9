/** Which labels tell the Alerts of a group apart. */
import type { AlertItem, Labels } from '../../api/shapes.ts';
import { labelMatcher } from '../alert-group-list/label-matcher.ts';

/** The labels of an Alert that not all Alerts share, by name. */
export function distinguishingLabels(
  alert: AlertItem,
  common: Labels,
): readonly (readonly [string, string])[] {
  return Object.entries(alert.labels)
    .filter(([name, value]) => common[name] !== value)
    .sort(([one], [other]) => one.localeCompare(other));
}

/** The annotations of an Alert that not all Alerts share, by name. */
export function ownAnnotations(alert: AlertItem, common: Labels): readonly (readonly [string, string])[] {
  return Object.entries(alert.annotations)
    .filter(([name, value]) => common[name] !== value)
    .sort(([one], [other]) => one.localeCompare(other));
}

/** Whether any label name or value of an Alert contains the text, whatever its case. */
export function alertContains(alert: AlertItem, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return Object.entries(alert.labels).some(([name, value]) =>
    `${name}=${value}`.toLowerCase().includes(wanted),
  );
}

/** Every label of an Alert, by name. */
export function everyLabel(alert: AlertItem): readonly (readonly [string, string])[] {
  return Object.entries(alert.labels).sort(([one], [other]) => one.localeCompare(other));
}

/** The labels of an Alert as matchers, the way Alertmanager's tools take them: `{a="b", c="d"}`. */
export function asMatchers(alert: AlertItem): string {
  return `{${everyLabel(alert)
    .map(([name, value]) => labelMatcher(name, value, false))
    .join(', ')}}`;
}
