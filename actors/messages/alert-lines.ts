/** Part 7 of a Root message: how its Alerts are listed (messages §2.1). */
import type { Labels } from '../model.ts';
import { labelValue } from '../route/matcher.ts';
import { naturalOrder } from '../text.ts';
import { groupPage, type MessageAlert } from './input.ts';
import { builtWithin, type MessageScene } from './scene.ts';
import { text } from './texts/texts.ts';

/** Alerts that get a line each; more are told by the values in which they differ (`message.alerts_listed`). */
export const ALERTS_LISTED = 10;
const DISTINCT_LABELS = 10;
const DISTINCT_VALUES = 10;
/** Characters by which values are put in order. */
const ORDERED_BY = 200;

export interface AlertsDraft {
  /** `Alerts: 1 firing, 1 resolved`; null for a single Alert. */
  readonly count: string | null;
  /** One line per Alert, as far as they could fit; empty when they are told by their values. */
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

/** @param lines those of a line template, resolved ones not yet struck through; null for the built-in ones */
export function draftAlerts(
  scene: MessageScene,
  alerts: readonly MessageAlert[],
  lines: ReadonlyMap<MessageAlert, string> | null,
): AlertsDraft | null {
  const names = differingNames(alerts, notListed(scene));
  const { lines: listed, lineTotal } = lines
    ? templateLines(scene, alerts, lines)
    : builtInLines(scene, alerts, names);
  if (alerts.length <= 1 && lineTotal === 0) return null;
  return {
    ...alertsFrame(scene),
    count: alerts.length === 1 ? null : countLine(scene),
    lines: listed,
    lineTotal,
    distinct: distinctLines(scene, alerts, names),
  };
}

/** What every listing of Alerts has. */
export function alertsFrame({ format, group, settings }: MessageScene): Pick<AlertsDraft, 'all' | 'cut'> {
  const { language } = settings;
  const total = group.firingCount + group.resolvedCount;
  const all = format.anchor(text(language, 'alerts.all', { n: total }), groupPage(settings, group.id));
  return { all, cut: (n) => `${text(language, 'alerts.cut', { n })} · ${all}` };
}

/** Some labels of an Alert as `alertname name: value, name: value`; its alertname or fingerprint when it has none. */
export function labelsLine(scene: MessageScene, alert: MessageAlert, names: readonly string[]): string {
  const { format } = scene;
  const { labels, fingerprint } = alert;
  const others = names.filter((name) => name !== 'alertname' && labelValue(labels, name) !== '');
  const alertname = format.value(labelValue(labels, 'alertname'));
  const shown = [names.includes('alertname') ? alertname : '', pairsLine(scene, labels, others)];
  return shown.filter(Boolean).join(' ') || alertname || format.value(fingerprint);
}

/** `name: value, name: value` */
export function pairsLine(scene: MessageScene, labels: Labels, names: readonly string[]): string {
  const { format } = scene;
  const pairOf = (name: string) => `${format.value(name)}: ${format.value(labelValue(labels, name))}`;
  return builtWithin(scene, names, pairOf).join(', ');
}

/** An Alert's line, struck through once it resolved. */
export function asItStands({ format }: MessageScene, { state }: MessageAlert, line: string): string {
  return state === 'resolved' ? format.struck(line) : line;
}

export function alertnameFirst(names: readonly string[]): string[] {
  const others = names.filter((name) => name !== 'alertname').sort();
  return names.includes('alertname') ? ['alertname', ...others] : others;
}

function countLine({ group, settings }: MessageScene): string {
  return text(settings.language, 'alerts.count', { f: group.firingCount, r: group.resolvedCount });
}

/** Names whose value is not the same for all Alerts, `alertname` first. */
function differingNames(alerts: readonly MessageAlert[], left: ReadonlySet<string>): string[] {
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

function notListed({ group, settings }: MessageScene): Set<string> {
  return new Set([settings.severityLabel, 'environment', 'prometheus', ...Object.keys(group.groupLabels)]);
}

type Lines = Pick<AlertsDraft, 'lines' | 'lineTotal'>;

/** An Alert for which the template printed nothing has no line. */
function templateLines(
  scene: MessageScene,
  alerts: readonly MessageAlert[],
  printed: ReadonlyMap<MessageAlert, string>,
): Lines {
  const lines = alerts.map((alert) => asItStands(scene, alert, printed.get(alert) ?? '')).filter(Boolean);
  return { lines, lineTotal: lines.length };
}

/** None for a single Alert, all of whose labels are common, and none beyond the number that gets lines. */
function builtInLines(scene: MessageScene, alerts: readonly MessageAlert[], names: readonly string[]): Lines {
  if (alerts.length <= 1 || alerts.length > ALERTS_LISTED) return { lines: [], lineTotal: 0 };
  const { format, settings } = scene;
  const levelsDiffer = new Set(alerts.map(({ severityLevel }) => severityLevel)).size > 1;
  const lines = builtWithin(scene, alerts, (alert) => {
    const line = labelsLine(scene, alert, names);
    const emoji = format.value(settings.severityEmoji[alert.severityLevel]);
    return asItStands(scene, alert, levelsDiffer ? `${emoji} ${line}` : line);
  });
  return { lines, lineTotal: alerts.length };
}

function distinctLines(
  scene: MessageScene,
  alerts: readonly MessageAlert[],
  names: readonly string[],
): string[] {
  const { format, settings } = scene;
  return builtWithin(scene, names.slice(0, DISTINCT_LABELS), (name) => {
    const values = new Set(alerts.map(({ labels }) => labelValue(labels, name)).filter(Boolean));
    const shown = [...values].sort(byBeginning).slice(0, DISTINCT_VALUES);
    const more = values.size - shown.length;
    const tail = more > 0 ? ` ${text(settings.language, 'alerts.more', { n: more })}` : '';
    return format.pair(name, shown.map((value) => format.value(value)).join(', ') + tail);
  });
}

function byBeginning(left: string, right: string): number {
  return naturalOrder(left.slice(0, ORDERED_BY), right.slice(0, ORDERED_BY));
}
