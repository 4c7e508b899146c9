/** What a status looks like in a messenger, and which buttons it has (messages §3). */
import type { ButtonCommand } from '../../runtime/secrets/signed-tokens.ts';
import type { GroupStatus } from '../model.ts';
import type { GroupMessage, MessageSettings } from './input.ts';
import { cutPoints } from './neutral.ts';
import { durationText, text } from './texts/texts.ts';

export type MessageStatus = GroupStatus | 'storm';

interface StatusStyle {
  readonly emoji: string;
  readonly color: `#${string}`;
}

export const STATUS_STYLES = {
  firing: { emoji: '🔴', color: '#d32f2f' },
  acknowledged: { emoji: '🟠', color: '#f57c00' },
  snoozed: { emoji: '⚪', color: '#9e9e9e' },
  resolved: { emoji: '🟢', color: '#388e3c' },
  storm: { emoji: '⛈', color: '#d32f2f' },
} as const satisfies Record<MessageStatus, StatusStyle>;

/** The colour of a Storm summary once the Storm is over. */
export const STORM_OVER_COLOR = STATUS_STYLES.resolved.color;

/** In order; `snooze` stands for one button per duration of the Route. */
export const STATUS_BUTTONS = {
  firing: ['acknowledge', 'resolve', 'snooze'],
  acknowledged: ['unacknowledge', 'resolve', 'snooze'],
  snoozed: ['acknowledge', 'unsnooze', 'resolve'],
  resolved: [],
} as const satisfies Record<GroupStatus, readonly ButtonCommand[]>;

/** Of a Reminder, and of a message about Reminders that were skipped. */
const REMINDER_BUTTONS = ['still_on_it', 'unacknowledge'] as const satisfies readonly ButtonCommand[];

/** Buttons under a message (messages §3). */
export interface MessageButton {
  readonly command: ButtonCommand;
  /** Of a Snooze; 0 for every other Command. */
  readonly seconds: number;
  readonly text: string;
  /** What a press brings back, signed for this message. */
  readonly data: string;
}

/** Signs what a button says; the subject is bound by whoever makes the function (`runtime/secrets/signed-tokens.ts`). */
export type SignButton = (command: ButtonCommand, seconds: number) => string;

const LONGEST_TEXT = 64;

/** The buttons of a Root message. None without a signer: the messenger has no buttons. */
export function rootButtons(
  { status }: Pick<GroupMessage, 'status'>,
  settings: MessageSettings,
  sign: SignButton | null,
): MessageButton[] {
  return sign === null ? [] : made(STATUS_BUTTONS[status], settings, sign);
}

export function reminderButtons(settings: MessageSettings, sign: SignButton | null): MessageButton[] {
  return sign === null ? [] : made(REMINDER_BUTTONS, settings, sign);
}

/** `Ack`, or `Snooze 1 h`: what a button says, and what an answer says was done. */
export function commandText(
  command: ButtonCommand,
  seconds: number,
  language: MessageSettings['language'],
): string {
  return text(language, `button.${command}`, { d: durationText(seconds, language) });
}

/** Rows of a channel bot's keyboard: up to four Snooze buttons in one, two others in one. */
export function keyboardRows(buttons: readonly MessageButton[]): MessageButton[][] {
  const isSnooze = ({ command }: MessageButton) => command === 'snooze';
  return [
    ...chunks(
      buttons.filter((button) => !isSnooze(button)),
      2,
    ),
    ...chunks(buttons.filter(isSnooze), 4),
  ];
}

function made(
  commands: readonly ButtonCommand[],
  { language, snoozeDurationsSeconds }: MessageSettings,
  sign: SignButton,
): MessageButton[] {
  return commands.flatMap((command) =>
    (command === 'snooze' ? snoozeDurationsSeconds : [0]).map((seconds) => ({
      command,
      seconds,
      text: cutPoints(commandText(command, seconds, language), LONGEST_TEXT),
      data: sign(command, seconds),
    })),
  );
}

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, row) =>
    items.slice(row * size, (row + 1) * size),
  );
}
