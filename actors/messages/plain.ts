/** What requests of template-mode webhooks say in plain text (webhooks §4.3). */
import type { MessageFormat } from './formats/format.ts';
import { plain } from './formats/plain.ts';
import type { GroupMessage, MessageSettings, TemplateFailure } from './input.ts';
import { plainMention } from './mentions.ts';
import type { ReplyEvent } from './replies.ts';
import { replyText } from './reply-text.ts';
import { text } from './texts/texts.ts';

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
