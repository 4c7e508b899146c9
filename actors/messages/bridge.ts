/** Messages in the form of a bridge: the envelope and the replies of its protocol (bridge §3.5). */
import { commonmark } from './formats/markdown.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageMention,
  type MessageSettings,
  type TemplateFailure,
} from './input.ts';
import { type BridgeMention, bridgeMentions } from './mentions.ts';
import { cutPoints, mentionless, oneLine } from './neutral.ts';
import { type ReplyCall, type ReplyEvent, replyButtons } from './replies.ts';
import { replyText } from './reply-text.ts';
import { desiredHash, draftRoot, type RootCall, rootTexts } from './root.ts';
import { quietScene } from './scene.ts';
import { type MessageButton, type MessageStatus, rootButtons, STATUS_STYLES } from './status.ts';
import { type StormSummary, stormParts, withMentions } from './storm.ts';
import { text } from './texts/texts.ts';

/** What a bridge's Info says about messages. */
export interface BridgeLimits {
  /** Code points. */
  readonly maxBodyLength: number;
  readonly maxButtons: number;
  /** Code points. */
  readonly maxButtonText: number;
}

export interface BridgeButton {
  readonly text: string;
  readonly data: string;
  readonly style: 'default' | 'primary';
}

/** The envelope of an edit. A post adds `channel_id`, `kind`, `mentions` and `notify`. */
export interface BridgeEnvelope {
  readonly status: MessageStatus;
  readonly color: string;
  readonly emoji: string;
  readonly title: string;
  readonly link: { readonly url: string; readonly text: string };
  readonly body: string;
  readonly buttons: readonly BridgeButton[];
}

export interface BridgeMessage {
  readonly envelope: BridgeEnvelope;
  /** Those that the body's markers refer to. */
  readonly mentions: readonly BridgeMention[];
  /** Identifies the desired state (delivery §1): equal for the first post and for every edit to the same state. */
  readonly hash: string;
  readonly truncated: boolean;
  /** Set when the Fallback is shown in place of a template. */
  readonly failure: TemplateFailure | null;
}

const TITLE_LIMIT = 512;

/** A Root message or a test message. */
export function bridgeRoot(
  group: GroupMessage,
  settings: MessageSettings,
  call: RootCall,
  limits: BridgeLimits,
): BridgeMessage {
  const scene = quietScene(commonmark, group, settings, limits.maxBodyLength);
  const { draft, failure } = draftRoot(scene, call.notes);
  const marks = bridgeMentions();
  const frame = {
    heading: null,
    mentions: [...new Set((call.mentions ?? []).map(marks.write))],
    mentionsPlace: 'last',
  } as const;
  const laidOut = rootTexts(scene, draft, call.notes, frame);
  const mark = call.kind === 'test' ? ` · ${text(settings.language, 'test.mark')}` : '';
  const title = plainTitle(`#${group.number} ${oneLine(group.title)}`, mark);
  const envelope = {
    status: group.status,
    ...STATUS_STYLES[group.status],
    title,
    link: linkTo(groupPage(settings, group.id), settings),
    body: laidOut.text,
    buttons: bridgeButtons(rootButtons(group, settings, call.sign), limits),
  };
  return {
    envelope,
    mentions: marks.usedIn(laidOut.text),
    hash: envelopeHash({ ...envelope, body: laidOut.desired }),
    truncated: laidOut.truncated,
    failure,
  };
}

export interface BridgeReply {
  readonly body: string;
  readonly buttons: readonly BridgeButton[];
  readonly mentions: readonly BridgeMention[];
  readonly failure: TemplateFailure | null;
}

/** A Thread reply. */
export function bridgeReply(
  event: ReplyEvent,
  group: GroupMessage,
  settings: MessageSettings,
  call: ReplyCall,
  limits: BridgeLimits,
): BridgeReply {
  const marks = bridgeMentions();
  const written = { mentions: call.mentions, write: marks.write, place: 'last_line' } as const;
  const { text: body, failure } = replyText(
    commonmark,
    event,
    group,
    settings,
    written,
    limits.maxBodyLength,
  );
  const buttons = bridgeButtons(replyButtons(event, settings, call), limits);
  return { body, buttons, mentions: marks.usedIn(body), failure };
}

/** A Storm summary. @param mentions of its first, Loud post; null for edits and its end */
export function bridgeStorm(
  storm: StormSummary,
  settings: MessageSettings,
  mentions: readonly MessageMention[] | null,
  { maxBodyLength }: Pick<BridgeLimits, 'maxBodyLength'>,
): Omit<BridgeMessage, 'failure' | 'truncated'> {
  const { emoji, color, link, body } = stormParts(commonmark, storm, settings);
  const marks = bridgeMentions();
  const written = [...new Set((mentions ?? []).map(marks.write))];
  const desired = commonmark.parts(body);
  const envelope = {
    status: 'storm',
    color,
    emoji,
    title: plainTitle(text(settings.language, 'storm.title', { route: oneLine(storm.routeName) }), ''),
    link: linkTo(link, settings),
    body: withMentions(commonmark, body, written, maxBodyLength),
    buttons: [],
  } as const;
  return {
    envelope,
    mentions: marks.usedIn(envelope.body),
    hash: envelopeHash({ ...envelope, body: desired }),
  };
}

function plainTitle(title: string, mark: string): string {
  return cutPoints(mentionless(title), TITLE_LIMIT - [...mark].length) + mark;
}

function linkTo(url: string, { language }: MessageSettings): BridgeEnvelope['link'] {
  return { url, text: text(language, 'link.open') };
}

function bridgeButtons(buttons: readonly MessageButton[], limits: BridgeLimits): BridgeButton[] {
  return buttons.slice(0, limits.maxButtons).map(({ command, text: name, data }) => ({
    text: cutPoints(name, limits.maxButtonText),
    data,
    style: command === 'acknowledge' || command === 'still_on_it' ? 'primary' : 'default',
  }));
}

function envelopeHash({ status, color, emoji, title, link, body, buttons }: BridgeEnvelope): string {
  return desiredHash({ texts: [status, emoji, title, link.url, link.text, body], color, buttons });
}
