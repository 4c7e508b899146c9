/** What every part of one message is laid out with. */
import type { MessageFormat } from './formats/format.ts';
import type { GroupMessage, MessageSettings } from './input.ts';
import { mentionOf, plainMention, type WriteTarget } from './mentions.ts';

export interface MessageScene {
  readonly format: MessageFormat;
  readonly group: GroupMessage;
  readonly settings: MessageSettings;
  /** As the format counts. */
  readonly limit: number;
  /** Mentions of a template as they stand in its output. */
  readonly write: WriteTarget;
}

/** A scene in which nobody is mentioned: names are plain. */
export function quietScene(
  format: MessageFormat,
  group: GroupMessage,
  settings: MessageSettings,
  limit: number,
): MessageScene {
  const write: WriteTarget = (target) => plainMention(format)(mentionOf(target, group.owner));
  return { format, group, settings, limit, write };
}

/** Characters that a format may need for one that counts: `&quot;`. */
const MOST_PER_COUNTED = 6;

/**
 * Builds texts in order, and stops once they are too long to fit all together: what is left out could not be shown, and
 * building it could take long.
 */
export function builtWithin<Item>(
  { limit }: MessageScene,
  items: readonly Item[],
  build: (item: Item, index: number) => string,
): string[] {
  const built: string[] = [];
  let length = 0;
  for (const [index, item] of items.entries()) {
    if (length > limit * MOST_PER_COUNTED) break;
    const text = build(item, index);
    built.push(text);
    length += text.length;
  }
  return built;
}
