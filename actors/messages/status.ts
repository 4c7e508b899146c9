/** What a status looks like in a messenger, and which buttons it has (messages §3). */
import type { ButtonCommand } from '../../runtime/secrets/button-data.ts';
import type { GroupStatus } from '../model.ts';

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
export const REMINDER_BUTTONS = ['still_on_it', 'unacknowledge'] as const satisfies readonly ButtonCommand[];
