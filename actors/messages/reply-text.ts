/** Puts a Thread reply together, with its Mentions and within its limit (messages §6, §7.1). */
import type { MentionTarget } from '../templates/index.ts';
import { type MessageFormat, plain } from './formats/format.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageMention,
  type MessageSettings,
  type TemplateFailure,
} from './input.ts';
import { mentionKey, mentionOf, plainMention, type WriteMention } from './mentions.ts';
import { type GivingUp, shorten, UNCUT } from './neutral.ts';
import { builtInNotice, draftReply, isOvertaken, type ReplyDraft, type ReplyEvent } from './replies.ts';
import { type MessageScene, quietScene } from './scene.ts';
import { text } from './texts/texts.ts';

/** How a messenger mentions people in a reply. */
export interface ReplyMentions {
  /** Empty for a Quiet reply. */
  readonly mentions: readonly MessageMention[];
  readonly write: WriteMention;
  readonly place: 'first_line' | 'last_line';
}

interface Kept extends Readonly<Record<string, number>> {
  readonly bullets: number;
  readonly lines: number;
  readonly points: number;
  readonly mentions: number;
}

const ORDER: GivingUp<Kept> = [
  ['bullets', 0],
  ['lines', 1],
  ['points', 1],
  ['mentions', 0],
];

/** The text within `limit`, as the format counts: lines go from the end, the first line and the Mentions stay. */
export function replyText(
  format: MessageFormat,
  event: ReplyEvent,
  group: GroupMessage,
  settings: MessageSettings,
  named: ReplyMentions,
  limit: number,
): { readonly text: string; readonly failure: TemplateFailure | null } {
  const quiet = quietScene(format, group, settings, limit);
  const loud = { ...quiet, write: (target: MentionTarget) => named.write(mentionOf(target, group.owner)) };
  const scene = named.mentions.length > 0 ? loud : quiet;
  const draft = draftReply(event, scene);
  const output = shortened(draft, scene, named);
  const { failure } = draft;
  // A template whose first line alone is too long cannot be cut inside its markup.
  const isTemplate = event.event === 'ack_timeout' && !isOvertaken(event);
  if (!isTemplate || format.length(output) <= limit) return { text: output, failure };
  return { text: shortened(builtInNotice(event.last, scene), scene, named), failure };
}

function shortened(draft: ReplyDraft, scene: MessageScene, named: ReplyMentions): string {
  const alreadyThere = new Set(draft.mentioned.map(mentionKey));
  const others = named.mentions.filter((mention) => !alreadyThere.has(mentionKey(mention)));
  const written = [...new Set(others.map(named.write))];
  const textOf = (kept: Kept) => {
    const mentions = written.slice(0, kept.mentions).join(' ');
    return laidOut(draft, scene, kept, mentions, named.place);
  };
  const full = {
    bullets: draft.bullets.length,
    lines: draft.headLines,
    points: UNCUT,
    mentions: written.length,
  };
  return textOf(shorten<Kept>(full, ORDER, (kept) => scene.format.length(textOf(kept)) <= scene.limit));
}

function laidOut(
  draft: ReplyDraft,
  { format, group, settings }: MessageScene,
  kept: Kept,
  mentions: string,
  place: ReplyMentions['place'],
): string {
  const head = draft.head(kept.points, kept.lines);
  const intro = place === 'first_line' ? afterFirstLine(head, mentions) : head;
  const bullets = draft.bullets.slice(0, kept.bullets);
  const parts = [
    bullets.length > 0 ? format.under(intro, format.bullets(bullets)) : intro,
    moreAlerts(format, group, settings, draft.bulletTotal - bullets.length),
    moreLines(settings, draft.headLines - kept.lines),
    ...draft.tail,
    place === 'last_line' ? mentions : '',
  ];
  return format.parts(parts.filter((part) => part !== ''));
}

function afterFirstLine(head: string, mentions: string): string {
  if (mentions === '') return head;
  const end = head.indexOf('\n');
  return end < 0 ? `${head} ${mentions}` : `${head.slice(0, end)} ${mentions}${head.slice(end)}`;
}

function moreAlerts(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  n: number,
): string {
  if (n === 0) return '';
  return format.anchor(text(settings.language, 'reply.more', { n }), groupPage(settings, group.id));
}

function moreLines({ language }: MessageSettings, n: number): string {
  return n === 0 ? '' : text(language, 'alerts.cut', { n });
}

/** Characters of a reply. */
const REPLY_LIMIT = 4_000;

/** Links show where they lead: nothing makes them clickable here. */
const format: MessageFormat = { ...plain, anchor: (content, url) => `${content}: ${url}` };

/** A Thread reply without its Mentions. */
export function plainReply(
  event: ReplyEvent,
  group: GroupMessage,
  settings: MessageSettings,
): { readonly text: string; readonly failure: TemplateFailure | null } {
  const nobody = { mentions: [], write: plainMention(format), place: 'first_line' } as const;
  return replyText(format, event, group, settings, nobody, REPLY_LIMIT);
}

/** That a message is not kept up to date any more. @param link the page that is */
export function plainFinalNotice(link: string, { language }: MessageSettings): string {
  return text(language, 'notice.final', { link });
}
