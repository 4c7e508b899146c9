/** The parts of a Root message, each already in its format but not yet put together (messages §2). */
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import type { Labels } from '../model.ts';
import { labelValue } from '../route/matcher.ts';
import { safeUrl } from '../text.ts';
import { type AlertsDraft, alertsFrame, asItStands, draftAlerts, pairsLine } from './alert-lines.ts';
import {
  type DeliveryNotes,
  type GroupMessage,
  groupPage,
  type MessageAlert,
  type MessageLink,
  type MessageSettings,
} from './input.ts';
import { cutPoints, oneLine } from './neutral.ts';
import { builtWithin, type MessageScene } from './scene.ts';
import type { PrintedText } from './template-text.ts';
import { counted, fullTime, shortTime, text } from './texts/texts.ts';

const MOST_LINKS = 20;
const LINK_TEXT_POINTS = 100;
const FALLBACK_ALERTS = 50;

/** Parts that shrink to fit: lists are cut from their ends, functions take the most code points a value may have. */
export interface RootDraft {
  /** `#N title`. */
  title(points: number): string;
  readonly content: RootContent;
  readonly openLink: string;
  /** Links behind the one to Tocsin. */
  readonly links: readonly string[];
  readonly notices: readonly string[];
  /** Null without a footer. */
  footer(points: number): string | null;
}

/** Parts 2 to 7: laid out by Tocsin, or the lines that a template printed. */
export type RootContent =
  | {
      readonly kind: 'parts';
      statusLine(points: number): string;
      /** Said right under the status line. */
      readonly remark: string | null;
      readonly groupLabels: readonly string[];
      readonly commonLabels: readonly string[];
      readonly commonAnnotations: readonly string[];
      readonly summary: string | null;
      readonly alerts: AlertsDraft | null;
    }
  | { readonly kind: 'template'; readonly printed: PrintedText };

/** Everything but the content. */
export function draftFrame(scene: MessageScene, notes: DeliveryNotes): Omit<RootDraft, 'content'> {
  const { format, group, settings } = scene;
  return {
    title: (points) => numbered(scene, points),
    openLink: format.anchor(text(settings.language, 'link.open'), groupPage(settings, group.id)),
    links: linksOf(scene),
    notices: draftNotices(scene, notes),
    footer: (points) => draftFooter(scene, points),
  };
}

/** `#N title`, the title with at most `points` code points. */
export function numbered(scene: MessageScene, points: number): string {
  return `#${scene.group.number} ${titleText(scene, points)}`;
}

export function titleText({ format, group }: MessageScene, points: number): string {
  return format.value(cutPoints(oneLine(group.title), points));
}

/** Parts 2 to 7 as Tocsin lays them out. @param lines of Alerts, by a line template; null for the built-in ones */
export function builtInContent(
  scene: MessageScene,
  alerts: readonly MessageAlert[],
  lines: ReadonlyMap<MessageAlert, string> | null,
): RootContent {
  const { groupLabels, commonLabels, commonAnnotations } = scene.group;
  const { severityLabel } = scene.settings;
  const inStatus = STATUS_LABELS.filter((name) => labelValue(commonLabels, name) !== '');
  const besideStatus = new Set(['alertname', severityLabel, ...inStatus]);
  const besideKey = new Set([
    ...['alertname', severityLabel, 'prometheus', ...STATUS_LABELS],
    ...Object.keys(groupLabels),
  ]);
  return {
    kind: 'parts',
    statusLine: (points) => statusLine(scene, points),
    remark: null,
    groupLabels: pairs(scene, Object.entries(groupLabels), (name) => !besideStatus.has(name)),
    commonLabels: pairs(scene, sorted(commonLabels), (name) => !besideKey.has(name)),
    commonAnnotations: pairs(scene, sorted(commonAnnotations), isPlainAnnotation),
    summary: summaryOf(scene),
    alerts: draftAlerts(scene, alerts, lines),
  };
}

/** Parts 2 to 7 when a template failed: every label of every Alert, whatever they are (messages §8). */
export function fallbackContent(scene: MessageScene, alerts: readonly MessageAlert[]): RootContent {
  const { commonLabels, firingCount, resolvedCount } = scene.group;
  const { language } = scene.settings;
  const isShared = (name: string) => labelValue(commonLabels, name) !== '';
  const lineOf = (alert: MessageAlert, index: number) => {
    const name = text(language, 'fallback.alert', { n: index + 1 });
    const remaining = Object.keys(alert.labels).filter((label) => !isShared(label));
    const line =
      remaining.length === 0 ? name : `${name}: ${pairsLine(scene, alert.labels, remaining.sort())}`;
    return asItStands(scene, alert, line);
  };
  return {
    kind: 'parts',
    statusLine: (points) => statusLine(scene, points),
    remark: text(language, 'fallback.notice'),
    groupLabels: [],
    commonLabels: pairs(scene, sorted(commonLabels), () => true),
    commonAnnotations: [],
    summary: null,
    alerts: {
      ...alertsFrame(scene),
      count: null,
      lines: builtWithin(scene, alerts.slice(0, FALLBACK_ALERTS), lineOf),
      lineTotal: firingCount + resolvedCount,
      distinct: [],
    },
  };
}

/** Start and receipt that lie no further apart are shown as one. */
const SAME_START: Micros = MINUTE;
const STATUS_LABELS = ['cluster', 'environment'] as const;

function statusLine({ format, group, settings }: MessageScene, points: number): string {
  const { language, severityEmoji, zone } = settings;
  const { severityLevel, urgent, commonLabels } = group;
  const labels = STATUS_LABELS.map((name) => [name, oneLine(labelValue(commonLabels, name))] as const);
  return [
    `${format.value(severityEmoji[severityLevel])} ${text(language, `severity.${severityLevel}`)}`,
    ...(urgent ? [text(language, 'urgent')] : []),
    ...labels
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${format.value(cutPoints(value, points))}`),
    ...startTimes(group).map(([key, at]) => text(language, key, { time: format.value(fullTime(at, zone)) })),
  ].join(' · ');
}

/** One instant, or the start by the senders and the receipt where they lie apart (alert-groups §4.3). */
function startTimes({
  startedAt,
  alertsStartedAt,
}: MessageScene['group']): readonly (readonly ['started' | 'began' | 'received', Micros])[] {
  if (alertsStartedAt === null || Math.abs(startedAt - alertsStartedAt) <= SAME_START)
    return [['started', startedAt]];
  return [
    ['began', alertsStartedAt],
    ['received', startedAt],
  ];
}

function pairs(
  scene: MessageScene,
  labels: readonly (readonly [name: string, value: string])[],
  isShown: (name: string) => boolean,
): string[] {
  const shown = labels.filter(([name, value]) => isShown(name) && oneLine(value) !== '');
  return builtWithin(scene, shown, ([name, value]) => scene.format.pair(name, scene.format.value(value)));
}

function sorted(labels: Labels): [name: string, value: string][] {
  return Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));
}

function isPlainAnnotation(name: string): boolean {
  return !['summary', 'description', 'dashboard_url'].includes(name) && !name.startsWith('runbook');
}

function summaryOf({ format, group }: MessageScene): string | null {
  return format.italic(format.value(group.summary ?? '')) || null;
}

function linksOf({ format, group, settings }: MessageScene): string[] {
  const safe = group.links.flatMap((link) => {
    const url = safeUrl(link.url);
    return url === null ? [] : [{ link, url }];
  });
  const nameOf = (link: MessageLink) =>
    link.kind === 'link_rule'
      ? format.value(cutPoints(oneLine(link.name), LINK_TEXT_POINTS))
      : text(settings.language, `link.${link.kind}`);
  return safe.slice(0, MOST_LINKS).map(({ link, url }) => format.anchor(nameOf(link), url));
}

/** Null while firing. @param points the most that a name may have */
/** Part 10: who has it, or how it ended; null while it fires. */
export function draftFooter({ format, group, settings }: MessageScene, points: number): string | null {
  const { status, owner, snooze, resolution } = group;
  const { language, zone } = settings;
  const person = (name: string) => format.value(cutPoints(oneLine(name), points));
  switch (status) {
    case 'firing':
      return null;
    case 'acknowledged':
      return owner === null ? null : text(language, 'footer.owner', { user: person(owner) });
    case 'snoozed': {
      if (snooze === null) return null;
      const user = person(snooze.by);
      if (snooze.until === null) return text(language, 'footer.snoozed_open', { user });
      return text(language, 'footer.snoozed', { user, time: format.value(fullTime(snooze.until, zone)) });
    }
    case 'resolved':
      if (resolution === null) return null;
      return resolution.by === 'person'
        ? text(language, 'footer.by_user', { user: person(resolution.name) })
        : text(language, 'footer.by_system', { reason: text(language, `reason.${resolution.reason}`) });
  }
}

/** Part 9 of a Root message: what people should know besides its status (messages §2.2). */
export function draftNotices(scene: MessageScene, notes: DeliveryNotes): string[] {
  return [...groupNotices(scene.group, scene.settings), ...noteLines(scene, notes)];
}

function groupNotices(group: GroupMessage, { language }: MessageSettings): string[] {
  const { status, resolution, firingCount, unclaimed, reopenCount, firingAgainAfter } = group;
  const notices: string[] = [];
  if (resolution?.by === 'person' && firingCount > 0)
    notices.push(counted(language, 'notice.still_firing', { n: firingCount }));
  if (unclaimed) notices.push(text(language, 'notice.unclaimed'));
  if (reopenCount > 0) notices.push(text(language, 'notice.reopened', { n: reopenCount }));
  if (firingAgainAfter !== null && status !== 'resolved')
    notices.push(text(language, 'notice.again', { n: firingAgainAfter }));
  return notices;
}

function noteLines(
  { format, group, settings }: MessageScene,
  { late, deletedAt, continued, final }: DeliveryNotes,
): string[] {
  const { language, zone } = settings;
  const lines: string[] = [];
  if (late !== null)
    lines.push(
      text(language, 'notice.late', { a: shortTime(late.began, zone), b: shortTime(late.ended, zone) }),
    );
  if (deletedAt !== null) lines.push(text(language, 'notice.deleted', { t: shortTime(deletedAt, zone) }));
  if (continued) lines.push(text(language, 'notice.continued'));
  if (final) {
    const link = format.anchor(`#${group.number}`, groupPage(settings, group.id));
    lines.push(text(language, 'notice.final', { link }));
  }
  return lines;
}
