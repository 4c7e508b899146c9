/** Messages in the form of a channel bot: one HTML text and a keyboard (messages §4, channel-bot §6 to §8). */
import { html, isLinkable, limitTags, visibleText } from './formats/html.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageMention,
  type MessageSettings,
  type TemplateFailure,
} from './input.ts';
import { channelBotMention } from './mentions.ts';
import { numbered } from './parts.ts';
import { type ReplyCall, type ReplyEvent, replyButtons } from './replies.ts';
import { replyText } from './reply-text.ts';
import { desiredHash, draftRoot, type RootCall, rootTexts } from './root.ts';
import { quietScene } from './scene.ts';
import { keyboardRows, type MessageButton, rootButtons, STATUS_STYLES } from './status.ts';
import { type StormSummary, stormParts, withMentions } from './storm.ts';
import { text } from './texts/texts.ts';

/** UTF-16 units of visible text. */
export const CHANNEL_BOT_LIMIT = 4_096;

export interface ChannelBotText {
  /** HTML with known tags only. */
  readonly text: string;
  /** The same without markup, for a messenger that refused it. */
  readonly plainText: string;
  /** The whole keyboard, by rows: an edit that leaves it out removes it. */
  readonly keyboard: readonly (readonly MessageButton[])[];
}

export interface ChannelBotMessage extends ChannelBotText {
  /** Identifies the desired state (delivery §1): equal for the first post and for every edit to the same state. */
  readonly hash: string;
  readonly truncated: boolean;
  /** Set when the Fallback is shown in place of a template. */
  readonly failure: TemplateFailure | null;
}

/** A Root message or a test message. @param limit UTF-16 units of visible text */
export function channelBotRoot(
  group: GroupMessage,
  settings: MessageSettings,
  call: RootCall,
  limit: number = CHANNEL_BOT_LIMIT,
): ChannelBotMessage {
  const scene = quietScene(html, group, settings, Math.min(limit, CHANNEL_BOT_LIMIT));
  const { draft, failure } = draftRoot(scene, call.notes);
  const { emoji, color } = STATUS_STYLES[group.status];
  const page = groupPage(settings, group.id);
  const mark = call.kind === 'test' ? `${text(settings.language, 'test.mark')}: ` : '';
  const frame = {
    heading: (title: string) => `${emoji} ${mark}${html.bold(linked(title, page))}`,
    mentions: [...new Set((call.mentions ?? []).map(channelBotMention))],
    mentionsPlace: 'before_footer',
  } as const;
  const laidOut = rootTexts(scene, draft, call.notes, frame);
  const buttons = rootButtons(group, settings, call.sign);
  return {
    ...channelBotText(laidOut.text, buttons, page),
    hash: desiredHash({ texts: [limitTags(laidOut.desired, page)], color, buttons }),
    truncated: laidOut.truncated,
    failure,
  };
}

/**
 * A Thread reply.
 * @param under the address of the message that it is about, where it cannot be below it: then it begins with a line
 *   that leads there
 */
export function channelBotReply(
  event: ReplyEvent,
  group: GroupMessage,
  settings: MessageSettings,
  call: ReplyCall,
  {
    limit = CHANNEL_BOT_LIMIT,
    under = null,
  }: { readonly limit?: number; readonly under?: string | null } = {},
): ChannelBotText & { readonly failure: TemplateFailure | null } {
  const written = { mentions: call.mentions, write: channelBotMention, place: 'first_line' } as const;
  const scene = quietScene(html, group, settings, limit);
  const heading = under === null ? '' : `${linked(numbered(scene, HEADING_POINTS), under)}\n`;
  const laidOut = replyText(html, event, group, settings, written, limit - html.length(heading));
  const buttons = replyButtons(event, settings, call);
  return {
    ...channelBotText(heading + laidOut.text, buttons, groupPage(settings, group.id)),
    failure: laidOut.failure,
  };
}

/** Of a title above a reply, in code points. */
const HEADING_POINTS = 200;

/** A Storm summary. @param mentions of its first, Loud post; null for edits and its end */
export function channelBotStorm(
  storm: StormSummary,
  settings: MessageSettings,
  mentions: readonly MessageMention[] | null,
): Omit<ChannelBotMessage, 'failure' | 'truncated'> {
  const { emoji, color, title, link, body } = stormParts(html, storm, settings);
  const parts = [`${emoji} ${html.bold(linked(title(CHANNEL_BOT_LIMIT), link))}`, ...body];
  const written = [...new Set((mentions ?? []).map(channelBotMention))];
  const desired = html.parts(parts);
  return {
    ...channelBotText(withMentions(html, parts, written, CHANNEL_BOT_LIMIT), [], link),
    hash: desiredHash({ texts: [desired], color, buttons: [] }),
  };
}

/** A heading. Its address stands in the line of links as well, and is read there where it cannot be a link. */
function linked(title: string, page: string): string {
  return isLinkable(page) ? html.anchor(title, page) : title;
}

function channelBotText(laidOut: string, buttons: readonly MessageButton[], page: string): ChannelBotText {
  const limited = limitTags(laidOut, page);
  return { text: limited, plainText: visibleText(limited), keyboard: keyboardRows(buttons) };
}
