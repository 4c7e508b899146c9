/**
 * Posts of a channel and their copies in its discussion group (channel-bot §8.1).
 *
 * The messenger forwards every post into the group, and tells so by an update. Whoever handles updates records the
 * copy in the commit that notes the update as handled ({@link CopySeen} of the actor); whoever sends a reply looks for it
 * ({@link Copies} of its ports). So it does not matter which of the two comes first, nor on which replica.
 */
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
