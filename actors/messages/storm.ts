/** A Storm summary (messages §7.2). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { MessageFormat } from './formats/format.ts';
import { type MessageSettings, routePage } from './input.ts';
import { cutPoints, mostThatFits, oneLine } from './neutral.ts';
import { STATUS_STYLES, STORM_OVER_COLOR } from './status.ts';
import { text } from './texts/texts.ts';

export interface StormSummary {
  readonly routeId: PublicId;
  readonly routeName: string;
  /** Alert Groups that started in the Storm, and how many of them are Urgent. */
  readonly newGroups: number;
  readonly urgentGroups: number;
  /** Once the Storm is over: its Alert Groups that are still open. Null while it lasts. */
  readonly stillOpen: number | null;
}

export interface StormParts {
  readonly emoji: string;
  readonly color: string;
  /** In the format. @param points the most that the Route's name may have */
  title(points: number): string;
  /** The list of the Route's Alert Groups. */
  readonly link: string;
  readonly body: readonly string[];
}

export function stormParts(
  format: MessageFormat,
  storm: StormSummary,
  settings: MessageSettings,
): StormParts {
  const { language } = settings;
  const link = routePage(settings, storm.routeId);
  const { newGroups, urgentGroups, stillOpen } = storm;
  return {
    emoji: STATUS_STYLES.storm.emoji,
    color: stillOpen === null ? STATUS_STYLES.storm.color : STORM_OVER_COLOR,
    title: (points) =>
      text(language, 'storm.title', { route: format.value(cutPoints(oneLine(storm.routeName), points)) }),
    link,
    body: [
      stillOpen === null
        ? text(language, 'storm.body', { k: newGroups, u: urgentGroups })
        : text(language, 'storm.over', { m: stillOpen }),
      format.anchor(text(language, 'link.open'), link),
    ],
  };
}

/** What a summary says, and behind it as many of its Mentions as there is room for. @param limit as the format counts */
export function withMentions(
  format: MessageFormat,
  body: readonly string[],
  mentions: readonly string[],
  limit: number,
): string {
  const textOf = (most: number) =>
    format.parts(most === 0 ? body : [...body, mentions.slice(0, most).join(' ')]);
  const fits = (most: number) => format.length(textOf(most)) <= limit;
  const all = mentions.length;
  return textOf(fits(all) ? all : mostThatFits(0, all, fits));
}
