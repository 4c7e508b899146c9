/**
 * Messages in the form of a chat server: one line, and the details in an attachment (messages §4, chat-server §4,
 * §5).
 */
import { markdown } from './formats/markdown.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageMention,
  type MessageSettings,
  type TemplateFailure,
} from './input.ts';
import { chatServerMention } from './mentions.ts';
import { mentionless, oneLine, shorten, UNCUT } from './neutral.ts';
import { numbered } from './parts.ts';
import { type ReplyCall, type ReplyEvent, replyButtons } from './replies.ts';
import { replyText } from './reply-text.ts';
import { desiredHash, draftRoot, type RootCall, rootTexts } from './root.ts';
import { quietScene } from './scene.ts';
import { type MessageButton, rootButtons, STATUS_STYLES } from './status.ts';
import { type StormSummary, stormParts } from './storm.ts';
import { text } from './texts/texts.ts';

/** Code points of a post on a server that does not say otherwise; no post is longer. */
export const CHAT_SERVER_LIMIT = 16_383;

export interface ChatServerMessage {
  /** The line above the attachment; Mentions of a Loud post stand at its end and nowhere else. */
  readonly message: string;
  readonly attachment: {
    readonly fallback: string;
    readonly color: string;
    readonly title: string;
    readonly titleLink: string;
    readonly text: string;
    readonly footer: string;
    readonly footerIcon: string;
  };
  readonly buttons: readonly MessageButton[];
  /** Identifies the desired state (delivery §1): equal for the first post and for every edit to the same state. */
  readonly hash: string;
  readonly truncated: boolean;
  /** Set when the Fallback is shown in place of a template. */
  readonly failure: TemplateFailure | null;
}

/** A Root message or a test message. @param limit code points of `message` and of the attachment's text each */
export function chatServerRoot(
  group: GroupMessage,
  settings: MessageSettings,
  call: RootCall,
  limit: number = CHAT_SERVER_LIMIT,
): ChatServerMessage {
  const scene = quietScene(markdown, group, settings, Math.min(limit, CHAT_SERVER_LIMIT));
  const { draft, failure, mentioned } = draftRoot(scene, call.notes);
  const frame = { heading: null, mentions: [], mentionsPlace: 'last' } as const;
  const body = rootTexts(scene, draft, call.notes, frame);
  const mark = call.kind === 'test' ? `${text(settings.language, 'test.mark')}: ` : '';
  const { emoji, color } = STATUS_STYLES[group.status];
  const line = (points: number) => `${emoji} ${mark}${numbered(scene, points)}`;
  const title = `${mark}#${group.number} ${mentionless(oneLine(group.title))}`;
  const titleLink = groupPage(settings, group.id);
  const buttons = rootButtons(group, settings, call.sign);
  const mentions = call.mentions === null ? [] : [...call.mentions, ...mentioned];
  return {
    message: lineWithMentions(line, mentions, limit),
    attachment: { fallback: title, color, title, titleLink, text: body.text, ...signature(settings) },
    buttons,
    hash: desiredHash({
      texts: [lineWithMentions(line, [], limit), title, titleLink, body.desired],
      color,
      buttons,
    }),
    truncated: body.truncated,
    failure,
  };
}

export interface ChatServerReply {
  readonly message: string;
  readonly buttons: readonly MessageButton[];
  readonly failure: TemplateFailure | null;
}

/** A Thread reply. @param limit code points */
export function chatServerReply(
  event: ReplyEvent,
  group: GroupMessage,
  settings: MessageSettings,
  call: ReplyCall,
  limit: number = CHAT_SERVER_LIMIT,
): ChatServerReply {
  const written = { mentions: call.mentions, write: chatServerMention, place: 'first_line' } as const;
  const { text: message, failure } = replyText(markdown, event, group, settings, written, limit);
  return { message, buttons: replyButtons(event, settings, call), failure };
}

/** A Storm summary. @param mentions of its first, Loud post; null for edits and its end */
export function chatServerStorm(
  storm: StormSummary,
  settings: MessageSettings,
  mentions: readonly MessageMention[] | null,
  limit: number = CHAT_SERVER_LIMIT,
): Omit<ChatServerMessage, 'failure' | 'truncated'> {
  const { emoji, color, title, link, body } = stormParts(markdown, storm, settings);
  const line = (points: number) => `${emoji} ${title(points)}`;
  const plainTitle = mentionless(text(settings.language, 'storm.title', { route: oneLine(storm.routeName) }));
  const details = markdown.parts(body);
  return {
    message: lineWithMentions(line, mentions ?? [], limit),
    attachment: {
      fallback: plainTitle,
      color,
      title: plainTitle,
      titleLink: link,
      text: details,
      ...signature(settings),
    },
    buttons: [],
    hash: desiredHash({
      texts: [lineWithMentions(line, [], limit), plainTitle, link, details],
      color,
      buttons: [],
    }),
  };
}

function signature({ version, publicUrl }: MessageSettings) {
  return { footer: `Tocsin ${version}`, footerIcon: `${publicUrl}/tocsin-mark-256.png` };
}

/** One line with Mentions at its end, each once; the title is shortened first. */
function lineWithMentions(
  line: (points: number) => string,
  mentions: readonly MessageMention[],
  limit: number,
): string {
  const written = [...new Set(mentions.map(chatServerMention))];
  const textOf = ({ points, mentions: most }: { points: number; mentions: number }) =>
    [line(points), ...written.slice(0, most)].join(' ');
  const full = { points: UNCUT, mentions: written.length };
  return textOf(
    shorten(
      full,
      [
        ['points', 1],
        ['mentions', 0],
      ],
      (kept) => markdown.length(textOf(kept)) <= limit,
    ),
  );
}
