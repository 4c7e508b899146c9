/** The parts of a Root message, each already in its format but not yet put together (messages §2). */
import type { Labels } from '../model.ts';
import { labelValue } from '../route/matcher.ts';
import { type AlertsDraft, alertsFrame, draftAlerts } from './alert-lines.ts';
import { draftFooter } from './footer.ts';
import type { MessageFormat } from './formats/format.ts';
import {
  type DeliveryNotes,
  type GroupMessage,
  groupPage,
  type MessageAlert,
  type MessageLink,
  type MessageSettings,
} from './input.ts';
import { cutPoints, oneLine } from './neutral.ts';
import { draftNotices } from './notices.ts';
import { safeUrl } from './safe-url.ts';
import type { PrintedText } from './template-text.ts';
import { text } from './texts/texts.ts';
import { fullTime } from './times.ts';

const MOST_LINKS = 20;
const LINK_TEXT_POINTS = 100;
const FALLBACK_ALERTS = 50;

/** Parts that give way are lists, cut from their ends, or functions of how many code points a value may have. */
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
export function draftFrame(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  notes: DeliveryNotes,
): Omit<RootDraft, 'content'> {
  const { language } = settings;
  return {
    title: (points) => numbered(format, group, points),
    openLink: format.anchor(text(language, 'link.open'), groupPage(settings, group.id)),
    links: linksOf(format, group.links, settings),
    notices: draftNotices(format, group, settings, notes),
    footer: (points) => draftFooter(format, group, settings, points),
  };
}

/** `#N title`, the title with at most `points` code points. */
export function numbered(format: MessageFormat, group: GroupMessage, points: number): string {
  return `#${group.number} ${titleText(format, group, points)}`;
}

export function titleText(format: MessageFormat, { title }: GroupMessage, points: number): string {
  return format.value(cutPoints(oneLine(title), points));
}

/** Parts 2 to 7 as Tocsin lays them out. @param lineOf text of a line template, or null */
export function builtInContent(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  alerts: readonly MessageAlert[],
  lineOf: ((alert: MessageAlert) => string) | null,
): RootContent {
  const { groupLabels, commonLabels, commonAnnotations } = group;
  const { severityLabel } = settings;
  const always = new Set(['alertname', severityLabel, ...STATUS_LABELS]);
  const rarely = new Set([...always, 'prometheus', ...Object.keys(groupLabels)]);
  const inStatus = STATUS_LABELS.filter((name) => labelValue(commonLabels, name) !== '');
  const besides = new Set(['alertname', severityLabel, ...inStatus]);
  return {
    kind: 'parts',
    statusLine: (points) => statusLine(format, group, settings, points),
    remark: null,
    groupLabels: pairs(format, groupLabels, (name) => !besides.has(name)),
    commonLabels: pairs(format, sorted(commonLabels), (name) => !rarely.has(name)),
    commonAnnotations: pairs(format, sorted(commonAnnotations), isPlainAnnotation),
    summary: summaryOf(format, group),
    alerts: draftAlerts(format, group, settings, alerts, lineOf),
  };
}

/** Parts 2 to 7 when a template failed: every label of every Alert, whatever they are (messages §8). */
export function fallbackContent(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  alerts: readonly MessageAlert[],
): RootContent {
  const { commonLabels } = group;
  const lineOf = (alert: MessageAlert, index: number) => {
    const remaining = Object.keys(alert.labels)
      .filter((name) => labelValue(commonLabels, name) === '')
      .sort();
    const name = text(settings.language, 'fallback.alert', { n: index + 1 });
    const pairsOf = remaining.map(
      (label) => `${format.value(label)}: ${format.value(alert.labels[label] ?? '')}`,
    );
    return remaining.length === 0 ? name : `${name}: ${pairsOf.join(', ')}`;
  };
  const listed = alerts.slice(0, FALLBACK_ALERTS);
  const lines = listed.map((alert, index) => lineOf(alert, index));
  return {
    kind: 'parts',
    statusLine: (points) => statusLine(format, group, settings, points),
    remark: text(settings.language, 'fallback.notice'),
    groupLabels: [],
    commonLabels: pairs(format, sorted(commonLabels), () => true),
    commonAnnotations: [],
    summary: null,
    alerts: {
      ...alertsFrame(format, group, settings),
      count: null,
      lines: listed.map((alert, index) =>
        alert.state === 'resolved' ? format.struck(lines[index] ?? '') : (lines[index] ?? ''),
      ),
      lineTotal: group.firingCount + group.resolvedCount,
      distinct: [],
    },
  };
}

const STATUS_LABELS = ['cluster', 'environment'] as const;

function statusLine(
  format: MessageFormat,
  group: GroupMessage,
  { language, severityEmoji, zone }: MessageSettings,
  points: number,
): string {
  const { severityLevel, urgent, commonLabels, startedAt } = group;
  const labels = STATUS_LABELS.map((name) => [name, oneLine(labelValue(commonLabels, name))] as const);
  return [
    `${format.value(severityEmoji[severityLevel])} ${text(language, `severity.${severityLevel}`)}`,
    ...(urgent ? [text(language, 'urgent')] : []),
    ...labels
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${format.value(cutPoints(value, points))}`),
    text(language, 'started', { time: format.value(fullTime(startedAt, zone)) }),
  ].join(' · ');
}

function pairs(format: MessageFormat, labels: Labels, isShown: (name: string) => boolean): string[] {
  return Object.entries(labels)
    .filter(([name]) => isShown(name))
    .map(([name, value]) => [name, format.value(value)] as const)
    .filter(([, content]) => content !== '')
    .map(([name, content]) => format.pair(name, content));
}

function sorted(labels: Labels): Labels {
  return Object.fromEntries(Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1)));
}

function isPlainAnnotation(name: string): boolean {
  return !['summary', 'description', 'dashboard_url'].includes(name) && !name.startsWith('runbook');
}

function summaryOf(format: MessageFormat, { summary }: GroupMessage): string | null {
  return format.italic(format.value(summary ?? '')) || null;
}

function linksOf(
  format: MessageFormat,
  links: readonly MessageLink[],
  { language }: MessageSettings,
): string[] {
  const safe = links.flatMap((link) => {
    const url = safeUrl(link.url);
    return url === null ? [] : [{ link, url }];
  });
  return safe.slice(0, MOST_LINKS).map(({ link, url }) => {
    const content =
      link.kind === 'link_rule'
        ? format.value(cutPoints(oneLine(link.name), LINK_TEXT_POINTS))
        : text(language, `link.${link.kind}`);
    return format.anchor(content, url);
  });
}
