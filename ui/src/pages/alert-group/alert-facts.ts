/** Which labels tell the Alerts of a group apart. */
import type { AlertGroup, AlertItem, Labels } from '../../api/shapes.ts';
import { labelMatcher } from '../alert-group-list/filters.ts';

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

/** When the Alerts of a group began, where that is worth a line of its own. */
const SAME_MS = 60_000;

/**
 * The earliest start of its Alerts by their senders, when it differs by more than a minute from the receipt of the
 * first one (`started_at`); null otherwise.
 */
export function beganApart({
  started_at: received,
  alerts_started_at: began,
}: Pick<AlertGroup, 'started_at' | 'alerts_started_at'>): string | null {
  if (began === null) return null;
  return Math.abs(Date.parse(received) - Date.parse(began)) > SAME_MS ? began : null;
}
