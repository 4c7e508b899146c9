/** What a group shows of its Alerts: title, labels, severity, links (alert-groups §4.3, messages §9). */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Directory } from '../../directory.ts';
import { type Labels, SEVERITY_LEVELS, type SeverityLevel } from '../../model.ts';
import type { TemplateAlert } from '../../templates/data.ts';
import { safeUrl } from '../../text.ts';
import { type GroupAlert, type GroupRows, keyOf } from '../rows.ts';

export interface Portrait extends AlertLinks {
  readonly title: string;
  /** The Alerts share no alertname; the title is derived from the key and does not change. */
  readonly titledByKey: boolean;
  readonly summary: string | null;
  /** Key of the Alert that the summary is from; null without one. Absent in what was stored before it was kept. */
  readonly summaryFrom?: string | null;
  /** Of every Alert that ever was in the group; only shrinks. */
  readonly commonLabels: Labels;
  /** Of the latest annotations. */
  readonly commonAnnotations: Labels;
  /** In order of first appearance. */
  readonly integrationIds: readonly PublicId[];
  /** The highest among firing Alerts; kept at its last value while none fires. */
  readonly severityLevel: SeverityLevel;
  /** The earliest `startsAt` of its Alerts, by their senders' clocks. Absent in what was stored before it was known. */
  readonly alertsStartedAt?: Micros;
  readonly firingCount: number;
  readonly resolvedCount: number;
}

export interface PortraitFrame {
  readonly groupLabels: Labels;
  readonly routeName: string;
}

/** The Portrait of a group with at least one Alert, after `before` (null at its start). */
export function portrayed(before: Portrait | null, rows: GroupRows, frame: PortraitFrame): Portrait {
  const alerts = [...rows.values()].sort((left, right) => left.position - right.position);
  const firing = alerts.filter(({ state }) => state === 'firing');
  const level = highestLevel(firing.map(({ report }) => report.severityLevel));
  return {
    ...titleOf(before, alerts, frame),
    ...summaryOf(before, rows, firing),
    commonLabels: alerts.reduce(
      (common, { report }) => intersect(common, report.labels),
      before?.commonLabels ?? alerts[0]?.report.labels ?? {},
    ),
    commonAnnotations: commonOf(alerts.map(({ report }) => report.annotations)),
    integrationIds: [...new Set(alerts.map(({ integrationId }) => integrationId))],
    severityLevel: level ?? before?.severityLevel ?? 'info',
    alertsStartedAt: alerts.reduce(
      (earliest, { startsAt }) => Math.min(earliest, startsAt),
      // An Alert that fires again has a later start, and the group began when it began.
      before?.alertsStartedAt ?? Number.POSITIVE_INFINITY,
    ),
    firingCount: firing.length,
    resolvedCount: alerts.length - firing.length,
    ...linksOf(alerts),
  };
}

/** The summary stays with its Alert while that one fires and has one; it is chosen anew while others fire. */
function summaryOf(
  before: Portrait | null,
  rows: GroupRows,
  firing: readonly GroupAlert[],
): Pick<Portrait, 'summary' | 'summaryFrom'> {
  if (before && firing.length === 0)
    return { summary: before.summary, summaryFrom: before.summaryFrom ?? null };
  const last = rows.get(before?.summaryFrom ?? '');
  const candidates = firing.filter(({ report }) => report.annotations.summary);
  const from = candidates.find((alert) => alert === last) ?? longestFiring(candidates);
  return { summary: from?.report.annotations.summary ?? null, summaryFrom: from ? keyOf(from) : null };
}

/** The one with the earliest start, of equal ones the first; undefined for none. */
export function longestFiring<Alert extends { readonly startsAt: Micros }>(alerts: readonly Alert[]) {
  return alerts.toSorted((left, right) => left.startsAt - right.startsAt)[0];
}

/** A title derived from the key never changes; one from the alertname holds while all Alerts share it. */
function titleOf(
  before: Portrait | null,
  alerts: readonly GroupAlert[],
  { groupLabels, routeName }: PortraitFrame,
): Pick<Portrait, 'title' | 'titledByKey'> {
  if (before?.titledByKey) return { title: before.title, titledByKey: true };
  const alertname = sharedAlertname(alerts.map(({ report }) => report.labels));
  if (alertname !== null) return { title: cutTitle(alertname), titledByKey: false };
  return { title: titleFromKey(groupLabels, routeName), titledByKey: true };
}

/** The pairs of `common` that `labels` also has. Returns `common` itself when it loses none. */
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

/** Code points (alert-groups §4.3). */
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

/** The title of a group whose Alerts share no alertname: its key, or the Route's name when the key is empty. */
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

/** The highest of some levels; null for none. */
export function highestLevel(levels: Iterable<SeverityLevel>): SeverityLevel | null {
  let best: number = SEVERITY_LEVELS.length;
  for (const level of levels) best = Math.min(best, SEVERITY_LEVELS.indexOf(level));
  return SEVERITY_LEVELS.at(best) ?? null;
}

export function isHigher(level: SeverityLevel, than: SeverityLevel): boolean {
  return SEVERITY_LEVELS.indexOf(level) < SEVERITY_LEVELS.indexOf(than);
}

/** Urgent with the settings of now: the Route is, or the level is critical and that counts as Urgent. */
export function isUrgent(directory: Directory, routeId: string, level: SeverityLevel): boolean {
  if (directory.routesById.get(routeId)?.urgent) return true;
  return level === 'critical' && directory.organization.criticalIsUrgent;
}

/** Links that the Alerts themselves carry (messages §9): Runbook, Dashboard, Source. */
export interface AlertLinks {
  readonly runbookUrl: string | null;
  readonly dashboardUrl: string | null;
  readonly sourceUrl: string | null;
}

/** The first safe URL of each kind, in the order of the Alerts; the Source is that of a firing Alert. */
function linksOf(alerts: readonly GroupAlert[]): AlertLinks {
  return {
    runbookUrl: firstSafe(alerts, ({ report }) => report.annotations.runbook_url),
    dashboardUrl: firstSafe(alerts, ({ report }) => report.annotations.dashboard_url),
    sourceUrl: firstSafe(alerts, ({ report, state }) => (state === 'firing' ? report.generatorUrl : null)),
  };
}

/** The same of Alerts as templates read them. */
export function templateLinks(alerts: readonly TemplateAlert[]): AlertLinks {
  return {
    runbookUrl: firstSafe(alerts, ({ annotations }) => annotations.runbook_url),
    dashboardUrl: firstSafe(alerts, ({ annotations }) => annotations.dashboard_url),
    sourceUrl: firstSafe(alerts, ({ status, generatorUrl }) => (status === 'firing' ? generatorUrl : null)),
  };
}

function firstSafe<Alert>(
  alerts: readonly Alert[],
  urlOf: (alert: Alert) => string | null | undefined,
): string | null {
  for (const alert of alerts) {
    const url = urlOf(alert);
    const safe = url ? safeUrl(url) : null;
    if (safe) return safe;
  }
  return null;
}
