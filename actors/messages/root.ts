/** A Root message before it takes a messenger's form: its draft, by Tocsin's own layout, a template or the Fallback. */
import { createHash } from 'node:crypto';
import type { AlertsDraft } from './alert-lines.ts';
import { type MessageFormat, plain } from './formats/format.ts';
import { html } from './formats/html.ts';
import { commonmark, markdown } from './formats/markdown.ts';
import {
  ALERTS_CONSIDERED,
  byPlace,
  type DeliveryNotes,
  type GroupMessage,
  groupPage,
  type MessageAlert,
  type MessageMention,
  type MessageSettings,
  NO_NOTES,
  type TemplateFailure,
} from './input.ts';
import { previewMention } from './mentions.ts';
import { type GivingUp, mostThatFits, shorten, UNCUT } from './neutral.ts';
import {
  builtInContent,
  draftFrame,
  draftNotices,
  fallbackContent,
  type RootContent,
  type RootDraft,
} from './parts.ts';
import type { MessageScene } from './scene.ts';
import { type MessageButton, rootButtons, type SignButton, STATUS_STYLES } from './status.ts';
import { renderLines, renderTemplateText } from './template-text.ts';

/** What differs from one call to the messenger to the next. */
export interface RootCall {
  /** `test` marks the message as one; its buttons are to be signed for a test message. */
  readonly kind: 'root' | 'test';
  readonly notes: DeliveryNotes;
  /** Of a Loud post; null for a Quiet one and for an edit. */
  readonly mentions: readonly MessageMention[] | null;
  /** Null when the messenger has no buttons, and for a final edit. */
  readonly sign: SignButton | null;
}

export interface DraftedRoot {
  readonly draft: RootDraft;
  /** Why the Fallback is shown; null when it is not. */
  readonly failure: TemplateFailure | null;
  /** Whom a root_message template mentions, as far as it names everyone or a group. */
  readonly mentioned: readonly MessageMention[];
}

export function draftRoot(scene: MessageScene, notes: DeliveryNotes): DraftedRoot {
  const alerts = [...scene.group.alerts].sort(byPlace).slice(0, ALERTS_CONSIDERED);
  const { content, failure = null, mentioned = [] } = contentOf(scene, alerts);
  return { draft: { ...draftFrame(scene, notes), content }, failure, mentioned };
}

/** The laid-out text, and the one that identifies the desired state: without notes and Mentions. */
export function rootTexts(
  scene: MessageScene,
  draft: RootDraft,
  notes: DeliveryNotes,
  frame: RootFrame,
): { readonly text: string; readonly desired: string; readonly truncated: boolean } {
  const { text, truncated } = rootText(scene, draft, frame);
  if (!hasNotes(notes) && frame.mentions.length === 0) return { text, desired: text, truncated };
  const notices = draftNotices(scene, NO_NOTES);
  const desired = rootText(scene, { ...draft, notices }, { ...frame, mentions: [] }).text;
  return { text, desired, truncated };
}

function hasNotes({ late, deletedAt, continued, final }: DeliveryNotes): boolean {
  return late !== null || deletedAt !== null || continued || final;
}

interface DraftedContent {
  readonly content: RootContent;
  readonly failure?: TemplateFailure;
  readonly mentioned?: readonly MessageMention[];
}

function contentOf(scene: MessageScene, alerts: readonly MessageAlert[]): DraftedContent {
  const { rootMessage, line } = scene.settings.templates;
  const fallback = (failure: TemplateFailure): DraftedContent => ({
    content: fallbackContent(scene, alerts),
    failure,
  });
  if (rootMessage !== null) {
    const rendered = renderTemplateText(rootMessage, scene);
    if (!rendered.ok) return fallback({ template: 'root_message', error: rendered.error });
    return {
      content: { kind: 'template', printed: rendered.printed },
      mentioned: rendered.mentioned.filter(({ type }) => type !== 'user'),
    };
  }
  if (line === null) return { content: builtInContent(scene, alerts, null) };
  const rendered = renderLines(line, scene, alerts);
  if (!rendered.ok) return fallback({ template: 'line', error: rendered.error });
  return { content: builtInContent(scene, alerts, rendered.lines) };
}

/** What of a message a messenger would show otherwise: texts, colour, buttons. Mentions and notes are left out. */
export interface DesiredState {
  readonly texts: readonly string[];
  readonly color: string;
  readonly buttons: readonly Pick<MessageButton, 'text' | 'data'>[];
}

/** SHA-256 as base64url. Equal states have equal hashes, whoever works them out. */
export function desiredHash({ texts, color, buttons }: DesiredState): string {
  const shown = [texts, color, buttons.map(({ text, data }) => [text, data])];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}

/** What a messenger puts around the parts. */
interface RootFrame {
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
function rootText(
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

/** A Root message as it is shown before it is sent: in one piece, with its buttons as a last line (templates §10). */
export const FORMATS = { markdown, html, commonmark, plain } as const satisfies Record<string, MessageFormat>;
export type FormatName = keyof typeof FORMATS;

export interface RootPreview {
  readonly text: string;
  readonly truncated: boolean;
  readonly failure: TemplateFailure | null;
}

/** @param limit as the format counts; null for none. The line of buttons is not counted */
export function previewRoot(
  format: FormatName,
  group: GroupMessage,
  settings: MessageSettings,
  limit: number | null,
): RootPreview {
  const marks = FORMATS[format];
  const most = limit ?? Number.POSITIVE_INFINITY;
  const scene = { format: marks, group, settings, limit: most, write: previewMention(marks) };
  const { draft, failure } = draftRoot(scene, NO_NOTES);
  const page = groupPage(settings, group.id);
  const heading = (title: string) =>
    `${STATUS_STYLES[group.status].emoji} ${marks.bold(marks.anchor(title, page))}`;
  const frame = { heading, mentions: [], mentionsPlace: 'last' } as const;
  const { text, truncated } = rootText(scene, draft, frame);
  const buttons = rootButtons(group, settings, () => '').map((button) => `[${button.text}]`);
  const parts = buttons.length === 0 ? [text] : [text, buttons.join(' ')];
  return { text: marks.parts(parts), truncated, failure };
}
