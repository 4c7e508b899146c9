/** A Root message as it is shown before it is sent: in one piece, with its buttons as a last line (templates §10). */
import { rootButtons } from './buttons.ts';
import { commonmark } from './formats/commonmark.ts';
import type { MessageFormat } from './formats/format.ts';
import { html } from './formats/html.ts';
import { markdown } from './formats/markdown.ts';
import { plain } from './formats/plain.ts';
import {
  type GroupMessage,
  groupPage,
  type MessageSettings,
  NO_NOTES,
  type TemplateFailure,
} from './input.ts';
import { previewMention } from './mentions.ts';
import { draftRoot } from './root.ts';
import { rootText } from './root-text.ts';
import { STATUS_STYLES } from './status.ts';

export const FORMATS = { markdown, html, commonmark, plain } as const satisfies Record<string, MessageFormat>;
export type FormatName = keyof typeof FORMATS;

export interface RootPreview {
  readonly text: string;
  readonly truncated: boolean;
  readonly failure: TemplateFailure | null;
}

/** @param limit as the format counts; null for none. The line of buttons is not counted */
export function previewRoot(
  format: FormatName,
  group: GroupMessage,
  settings: MessageSettings,
  limit: number | null,
): RootPreview {
  const marks = FORMATS[format];
  const most = limit ?? Number.POSITIVE_INFINITY;
  const scene = { format: marks, group, settings, limit: most, write: previewMention(marks) };
  const { draft, failure } = draftRoot(scene, NO_NOTES);
  const page = groupPage(settings, group.id);
  const heading = (title: string) =>
    `${STATUS_STYLES[group.status].emoji} ${marks.bold(marks.anchor(title, page))}`;
  const frame = { heading, mentions: [], mentionsPlace: 'last' } as const;
  const { text, truncated } = rootText(scene, draft, frame);
  const buttons = rootButtons(group, settings, () => '').map((button) => `[${button.text}]`);
  const parts = buttons.length === 0 ? [text] : [text, buttons.join(' ')];
  return { text: marks.parts(parts), truncated, failure };
}
