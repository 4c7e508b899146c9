/** The parts of a Root message, each already in its format but not yet put together (messages §2). */
import type { Labels } from '../model.ts';
import { labelValue } from '../route/matcher.ts';
import { type AlertsDraft, alertsFrame, asItStands, draftAlerts, pairsLine } from './alert-lines.ts';
import { draftFooter } from './footer.ts';
import { type DeliveryNotes, groupPage, type MessageAlert, type MessageLink } from './input.ts';
import { cutPoints, oneLine } from './neutral.ts';
import { draftNotices } from './notices.ts';
import { safeUrl } from './safe-url.ts';
import { builtWithin, type MessageScene } from './scene.ts';
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

const STATUS_LABELS = ['cluster', 'environment'] as const;

function statusLine({ format, group, settings }: MessageScene, points: number): string {
  const { language, severityEmoji, zone } = settings;
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
