/** What one person is told in private: answers to presses, and texts of Account links (messages §7.4). */
import type { ButtonCommand } from '../../runtime/secrets/signed-tokens.ts';
import { type MessageFormat, plain } from './formats/format.ts';
import { commonmark, markdown } from './formats/markdown.ts';
import { cutPoints, cutUnits, oneLine } from './neutral.ts';
import { commandText } from './status.ts';
import { type Language, text } from './texts/texts.ts';

/** Refusals that a press can meet. */
export const REFUSALS = [
  'already_resolved',
  'not_acknowledged',
  'not_snoozed',
  'not_owner',
  'no_reminder_pending',
] as const;
export type PressRefusal = (typeof REFUSALS)[number];

/** Whether there is a sentence for a refusal: the others meet no button. */
export function isPressRefusal(code: string): code is PressRefusal {
  return (REFUSALS as readonly string[]).includes(code);
}

export type PrivateAnswer =
  | { readonly say: 'not_linked' | 'link.help' }
  | {
      readonly say:
        | 'disabled'
        | 'not_permitted'
        | 'invalid'
        | 'expired'
        | 'too_old'
        | 'test'
        | 'failed'
        | 'unknown_result'
        | 'link.invalid'
        | 'link.taken'
        | 'link.none'
        | 'button.unlink';
    }
  | { readonly say: 'refused'; readonly code: PressRefusal }
  | {
      readonly say: 'done';
      readonly command: ButtonCommand /** Of a Snooze, else 0. */;
      readonly seconds: number;
    }
  | { readonly say: 'link.code'; readonly code: string; readonly minutes: number }
  | { readonly say: 'link.done' | 'link.removed'; readonly name: string; readonly login: string };

/** How a text reaches a person, how long it may be there, and what says how accounts of that messenger are linked. */
export const WAYS = {
  channel_bot_press: { format: plain, cut: cutUnits, most: 200, toLink: 'not_linked.channel_bot' },
  channel_bot_direct: { format: plain, cut: cutPoints, most: 2_000, toLink: 'not_linked.channel_bot' },
  chat_server_press: { format: markdown, cut: cutPoints, most: 1_000, toLink: 'not_linked.chat_server' },
  chat_server_direct: { format: markdown, cut: cutPoints, most: 2_000, toLink: 'not_linked.chat_server' },
  bridge_event: { format: plain, cut: cutPoints, most: 500, toLink: 'not_linked' },
  bridge_direct: { format: commonmark, cut: cutPoints, most: 2_000, toLink: 'not_linked' },
} as const satisfies Record<
  string,
  { format: MessageFormat; cut: (text: string, most: number) => string; most: number; toLink: string }
>;
export type Way = keyof typeof WAYS;

/** The text of an answer. @param language of the person, else of the Route, else English */
export function privateAnswer(
  answer: PrivateAnswer,
  way: Way,
  language: Language,
  publicUrl: string,
): string {
  const { format, cut, most, toLink } = WAYS[way];
  const value = (untrusted: string) => format.value(cutPoints(oneLine(untrusted), 200));
  const profile = `${publicUrl}/profile`;
  switch (answer.say) {
    case 'not_linked':
      return withLink(text(language, toLink, { link: '' }), profile, way);
    case 'link.help':
      return withLink(text(language, 'link.help', { link: '' }), profile, way);
    case 'refused':
      return cut(text(language, `refused.${answer.code}`), most);
    case 'done': {
      const command = commandText(answer.command, answer.seconds, language);
      return cut(text(language, 'done', { command }), most);
    }
    case 'link.code':
      return cut(text(language, 'link.code', { code: answer.code, m: answer.minutes }), most);
    case 'link.done':
    case 'link.removed': {
      const { say, name, login } = answer;
      return cut(text(language, say, { name: value(name), login: value(login) }), most);
    }
    default:
      return cut(text(language, answer.say), most);
  }
}

/** The address stands at the end and is never cut: the text before it is. */
function withLink(before: string, url: string, way: Way): string {
  const { cut, most } = WAYS[way];
  return cut(before, Math.max(1, most - url.length)) + url;
}
