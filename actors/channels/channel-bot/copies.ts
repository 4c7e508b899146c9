/**
 * Posts of a channel and their copies in its discussion group (channel-bot §8.1).
 *
 * The messenger forwards every post into the group, and tells so by an update. Whoever handles updates records the
 * copy in the commit that notes the update as handled ({@link CopySeen}); whoever sends a reply looks for it
 * ({@link Copies}). So it does not matter which of the two comes first, nor on which replica.
 */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';

/**
 * Record of the actor of a Connection: post `postId` of channel `channelId` has the copy `copyId` in group `groupId`.
 * The first one of a post counts. Ids are those of the messenger, as decimal text. Kept as long as messages are.
 */
export interface CopySeen {
  readonly type: 'connection.copy_seen';
  readonly connectionId: PublicId;
  readonly channelId: string;
  readonly postId: string;
  readonly groupId: string;
  readonly copyId: string;
  readonly at: Micros;
}

export type Copy = Pick<CopySeen, 'groupId' | 'copyId'>;

export interface Copies {
  /** Null: no copy of the post is known. */
  find(post: Pick<CopySeen, 'connectionId' | 'channelId' | 'postId'>): Promise<Copy | null>;
}

/** Messages are known to the service by chat and number, for both exist in every chat anew: `-1001234567890/57`. */
export function messageIdOf(chatId: string | number, messageId: string | number): string {
  return `${chatId}/${messageId}`;
}

/** @throws for a text that {@link messageIdOf} did not make */
export function messageRefOf(id: string): { readonly chatId: string; readonly messageId: string } {
  const [, chatId, messageId] = /^(-?\d+)\/(\d+)$/.exec(id) ?? [];
  if (chatId === undefined || messageId === undefined) throw new Error(`not an id of a message: ${id}`);
  return { chatId, messageId };
}
