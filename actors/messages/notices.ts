/** Part 9 of a Root message: what people should know besides its status (messages §2.2). */
import { type DeliveryNotes, type GroupMessage, groupPage, type MessageSettings } from './input.ts';
import type { MessageScene } from './scene.ts';
import { counted, text } from './texts/texts.ts';
import { shortTime } from './times.ts';

export function draftNotices(scene: MessageScene, notes: DeliveryNotes): string[] {
  return [...groupNotices(scene.group, scene.settings), ...noteLines(scene, notes)];
}

function groupNotices(group: GroupMessage, { language }: MessageSettings): string[] {
  const { status, resolution, firingCount, unclaimed, reopenCount, firingAgainAfter } = group;
  const notices: string[] = [];
  if (resolution?.by === 'person' && firingCount > 0)
    notices.push(counted(language, 'notice.still_firing', { n: firingCount }));
  if (unclaimed) notices.push(text(language, 'notice.unclaimed'));
  if (reopenCount > 0) notices.push(text(language, 'notice.reopened', { n: reopenCount }));
  if (firingAgainAfter !== null && status !== 'resolved')
    notices.push(text(language, 'notice.again', { n: firingAgainAfter }));
  return notices;
}

function noteLines(
  { format, group, settings }: MessageScene,
  { late, deletedAt, continued, final }: DeliveryNotes,
): string[] {
  const { language, zone } = settings;
  const lines: string[] = [];
  if (late !== null)
    lines.push(
      text(language, 'notice.late', { a: shortTime(late.began, zone), b: shortTime(late.ended, zone) }),
    );
  if (deletedAt !== null) lines.push(text(language, 'notice.deleted', { t: shortTime(deletedAt, zone) }));
  if (continued) lines.push(text(language, 'notice.continued'));
  if (final) {
    const link = format.anchor(`#${group.number}`, groupPage(settings, group.id));
    lines.push(text(language, 'notice.final', { link }));
  }
  return lines;
}
