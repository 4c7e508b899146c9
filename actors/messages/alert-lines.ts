/** Part 7 of a Root message: how its Alerts are listed (messages §2.1). */
import { naturalOrder } from '../natural-order.ts';
import { labelValue } from '../route/matcher.ts';
import type { MessageFormat } from './formats/format.ts';
import { type GroupMessage, groupPage, type MessageAlert, type MessageSettings } from './input.ts';
import { text } from './texts/texts.ts';

/** Alerts that get a line each; more are told by the values in which they differ (`message.alerts_listed`). */
export const ALERTS_LISTED = 10;
const DISTINCT_LABELS = 10;
const DISTINCT_VALUES = 10;

export interface AlertsDraft {
  /** `Alerts: 1 firing, 1 resolved`; null for a single Alert. */
  readonly count: string | null;
  /** One line per Alert; empty when they are told by their values. */
  readonly lines: readonly string[];
  /** Alerts that would have a line if there were room for all. */
  readonly lineTotal: number;
  /** One line per label in which the Alerts differ. */
  readonly distinct: readonly string[];
  /** Says that `n` lines are left out, and leads to all Alerts. */
  cut(n: number): string;
  /** Link to the page with all of them. */
  readonly all: string;
}

/**
 * @param lineOf a line template's text for an Alert; null for the built-in line
 */
export function draftAlerts(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  alerts: readonly MessageAlert[],
  lineOf: ((alert: MessageAlert) => string) | null,
): AlertsDraft | null {
  const names = differingNames(alerts, notListed(group, settings));
  const line = lineOf ?? builtInLine(format, settings, alerts, names);
  const listed = alerts.length === 1 && !lineOf ? [] : alerts.slice(0, ALERTS_LISTED);
  const lines = alerts.length > ALERTS_LISTED ? [] : linesOf(format, listed, line);
  if (alerts.length <= 1 && lines.length === 0) return null;
  return {
    ...alertsFrame(format, group, settings),
    count: alerts.length === 1 ? null : countLine(group, settings),
    lines,
    lineTotal: lines.length,
    distinct: distinctLines(format, settings, alerts, names),
  };
}

/** What every listing of Alerts has. */
export function alertsFrame(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
): Pick<AlertsDraft, 'all' | 'cut'> {
  const { language } = settings;
  const total = group.firingCount + group.resolvedCount;
  const all = format.anchor(text(language, 'alerts.all', { n: total }), groupPage(settings, group.id));
  return { all, cut: (n) => `${text(language, 'alerts.cut', { n })} · ${all}` };
}

export function countLine(group: GroupMessage, { language }: MessageSettings): string {
  return text(language, 'alerts.count', { f: group.firingCount, r: group.resolvedCount });
}

/** Some labels of an Alert as `alertname name: value, name: value`; its alertname or fingerprint when it has none. */
export function labelsLine(format: MessageFormat, alert: MessageAlert, names: readonly string[]): string {
  const { labels, fingerprint } = alert;
  const pairs = names
    .filter((name) => name !== 'alertname' && labelValue(labels, name) !== '')
    .map((name) => `${format.value(name)}: ${format.value(labelValue(labels, name))}`);
  const alertname = format.value(labelValue(labels, 'alertname'));
  const shown = [names.includes('alertname') ? alertname : '', pairs.join(', ')].filter(Boolean).join(' ');
  return shown || alertname || format.value(fingerprint);
}

/** Lines, resolved ones struck through; empty ones are left out. */
export function linesOf(
  format: MessageFormat,
  alerts: readonly MessageAlert[],
  line: (alert: MessageAlert) => string,
): string[] {
  const lines = alerts.map((alert) =>
    alert.state === 'resolved' ? format.struck(line(alert)) : line(alert),
  );
  return lines.filter((each) => each !== '');
}

/** Names whose value is not the same for all Alerts, `alertname` first. */
export function differingNames(alerts: readonly MessageAlert[], left: ReadonlySet<string>): string[] {
  const seen = new Map<string, { readonly value: string; count: number; same: boolean }>();
  for (const { labels } of alerts) {
    for (const [name, value] of Object.entries(labels)) {
      if (value === '' || left.has(name)) continue;
      const known = seen.get(name);
      if (!known) seen.set(name, { value, count: 1, same: true });
      else {
        known.count++;
        known.same &&= known.value === value;
      }
    }
  }
  const differing = [...seen].filter(([, { count, same }]) => !same || count < alerts.length);
  return alertnameFirst(differing.map(([name]) => name));
}

export function alertnameFirst(names: readonly string[]): string[] {
  const others = names.filter((name) => name !== 'alertname').sort();
  return names.includes('alertname') ? ['alertname', ...others] : others;
}

function notListed({ groupLabels }: GroupMessage, { severityLabel }: MessageSettings): Set<string> {
  return new Set([severityLabel, 'environment', 'prometheus', ...Object.keys(groupLabels)]);
}

function builtInLine(
  format: MessageFormat,
  { severityEmoji }: MessageSettings,
  alerts: readonly MessageAlert[],
  names: readonly string[],
): (alert: MessageAlert) => string {
  const levelsDiffer = new Set(alerts.map(({ severityLevel }) => severityLevel)).size > 1;
  return (alert) => {
    const line = labelsLine(format, alert, names);
    return levelsDiffer ? `${format.value(severityEmoji[alert.severityLevel])} ${line}` : line;
  };
}

function distinctLines(
  format: MessageFormat,
  { language }: MessageSettings,
  alerts: readonly MessageAlert[],
  names: readonly string[],
): string[] {
  return names.slice(0, DISTINCT_LABELS).map((name) => {
    const present = alerts.map(({ labels }) => labelValue(labels, name)).filter(Boolean);
    const values = [...new Set(present)].sort(naturalOrder);
    const shown = values.slice(0, DISTINCT_VALUES).map((value) => format.value(value));
    const more = values.length - shown.length;
    const tail = more > 0 ? ` ${text(language, 'alerts.more', { n: more })}` : '';
    return format.pair(name, shown.join(', ') + tail);
  });
}
