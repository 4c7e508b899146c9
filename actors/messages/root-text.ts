/** Puts the parts of a Root message together, as many of them as fit (messages §4, §6). */
import type { AlertsDraft } from './alert-lines.ts';
import type { MessageFormat } from './formats/format.ts';
import type { RootContent, RootDraft } from './parts.ts';
import type { MessageScene } from './scene.ts';
import { type GivingUp, mostThatFits, shorten, UNCUT } from './shorten.ts';

/** What a messenger puts around the parts. */
export interface RootFrame {
  /** Part 1 around the laid-out title; null where it has a place of its own. */
  readonly heading: ((title: string) => string) | null;
  /** Mentions of a Loud post, where they belong into this text. */
  readonly mentions: readonly string[];
  readonly mentionsPlace: 'before_footer' | 'last';
}

/** How much of each part is kept. */
interface Kept extends Readonly<Record<string, number>> {
  readonly alertLines: number;
  readonly annotations: number;
  readonly commonLabels: number;
  readonly groupLabels: number;
  readonly distinctLines: number;
  readonly links: number;
  readonly summary: number;
  readonly templateLines: number;
  /** The last ones: notices go from the first. */
  readonly notices: number;
  readonly statusPoints: number;
  readonly titlePoints: number;
  readonly footerPoints: number;
  readonly mentions: number;
}

/** After the Alert lines, which come first. */
const ORDER: GivingUp<Kept> = [
  ['annotations', 0],
  ['commonLabels', 0],
  ['groupLabels', 0],
  ['distinctLines', 0],
  ['links', 0],
  ['summary', 0],
  ['templateLines', 0],
  ['notices', 0],
  ['statusPoints', 1],
  ['titlePoints', 1],
  ['footerPoints', 1],
  ['mentions', 0],
];

/** The text of a Root message within its limit. */
export function rootText(
  { format, limit }: MessageScene,
  draft: RootDraft,
  frame: RootFrame,
): { readonly text: string; readonly truncated: boolean } {
  const full = everything(draft, frame);
  const textOf = (kept: Kept) => laidOut(format, draft, frame, kept);
  const fits = (kept: Kept) => format.length(textOf(kept)) <= limit;
  const whole = textOf(full);
  if (format.length(whole) <= limit) return { text: whole, truncated: false };
  const kept = shorten(fewerAlertLines(full, distinctInstead(draft.content), fits), ORDER, fits);
  return { text: textOf(kept), truncated: true };
}

/** As many Alert lines as fit; without room for one, the values in which the Alerts differ; else neither. */
function fewerAlertLines(full: Kept, instead: number, fits: (kept: Kept) => boolean): Kept {
  if (full.alertLines === 0) return full;
  if (full.alertLines > 1 && fits({ ...full, alertLines: 1 })) {
    const alertLines = mostThatFits(1, full.alertLines, (amount) => fits({ ...full, alertLines: amount }));
    return { ...full, alertLines };
  }
  const told = { ...full, alertLines: 0, distinctLines: instead };
  return instead > 0 && fits(told) ? told : { ...full, alertLines: 0 };
}

function everything({ content, links, notices }: RootDraft, { mentions }: RootFrame): Kept {
  const own = content.kind === 'parts' ? content : null;
  const alerts = own?.alerts ?? null;
  return {
    alertLines: alerts?.lines.length ?? 0,
    annotations: own?.commonAnnotations.length ?? 0,
    commonLabels: own?.commonLabels.length ?? 0,
    groupLabels: own?.groupLabels.length ?? 0,
    distinctLines: alerts?.lines.length === 0 ? alerts.distinct.length : 0,
    links: links.length,
    summary: own?.summary ? 1 : 0,
    templateLines: content.kind === 'template' ? content.printed.lines : 0,
    notices: notices.length,
    statusPoints: UNCUT,
    titlePoints: UNCUT,
    footerPoints: UNCUT,
    mentions: mentions.length,
  };
}

function distinctInstead(content: RootContent): number {
  return content.kind === 'parts' ? (content.alerts?.distinct.length ?? 0) : 0;
}

function laidOut(format: MessageFormat, draft: RootDraft, frame: RootFrame, kept: Kept): string {
  const mentions = frame.mentions.slice(0, kept.mentions).join(' ');
  const notices = draft.notices.slice(draft.notices.length - kept.notices);
  const footer = draft.footer(kept.footerPoints) ?? '';
  const parts = [
    frame.heading?.(draft.title(kept.titlePoints)) ?? '',
    ...contentParts(format, draft.content, kept),
    [draft.openLink, ...draft.links.slice(0, kept.links)].join(' · '),
    format.lines(notices),
    ...(frame.mentionsPlace === 'last' ? [footer, mentions] : [mentions, footer]),
  ];
  return format.parts(parts.filter((part) => part !== ''));
}

function contentParts(format: MessageFormat, content: RootContent, kept: Kept): string[] {
  if (content.kind === 'template') return [content.printed.text(kept.templateLines)];
  const labels = [
    content.groupLabels.slice(0, kept.groupLabels),
    content.commonLabels.slice(0, kept.commonLabels),
    content.commonAnnotations.slice(0, kept.annotations),
  ];
  return [
    content.statusLine(kept.statusPoints),
    content.remark ?? '',
    ...format.labels(labels.filter((lines) => lines.length > 0)),
    kept.summary > 0 ? (content.summary ?? '') : '',
    ...(content.alerts ? alertParts(format, content.alerts, kept) : []),
  ];
}

function alertParts(format: MessageFormat, alerts: AlertsDraft, kept: Kept): string[] {
  const { count, lines, lineTotal, distinct, all } = alerts;
  const counted = count === null ? [] : [count];
  if (lines.length === 0 || kept.distinctLines > 0)
    return [format.lines([...counted, ...distinct.slice(0, kept.distinctLines), all])];
  const listed = lines.slice(0, kept.alertLines);
  const bullets = listed.length > 0 ? [format.bullets(listed)] : [];
  const left = lineTotal - listed.length;
  return [...counted, ...bullets, ...(left > 0 ? [alerts.cut(left)] : [])];
}
