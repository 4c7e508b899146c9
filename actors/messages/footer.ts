/** Part 10 of a Root message: who has it, or how it ended (messages §3). */
import { cutPoints, oneLine } from './neutral.ts';
import type { MessageScene } from './scene.ts';
import { text } from './texts/texts.ts';
import { fullTime } from './times.ts';

/** Null while firing. @param points the most that a name may have */
export function draftFooter({ format, group, settings }: MessageScene, points: number): string | null {
  const { status, owner, snooze, resolution } = group;
  const { language, zone } = settings;
  const person = (name: string) => format.value(cutPoints(oneLine(name), points));
  switch (status) {
    case 'firing':
      return null;
    case 'acknowledged':
      return owner === null ? null : text(language, 'footer.owner', { user: person(owner) });
    case 'snoozed': {
      if (snooze === null) return null;
      const user = person(snooze.by);
      if (snooze.until === null) return text(language, 'footer.snoozed_open', { user });
      return text(language, 'footer.snoozed', { user, time: format.value(fullTime(snooze.until, zone)) });
    }
    case 'resolved':
      if (resolution === null) return null;
      return resolution.by === 'person'
        ? text(language, 'footer.by_user', { user: person(resolution.name) })
        : text(language, 'footer.by_system', { reason: text(language, `reason.${resolution.reason}`) });
  }
}
