/** Ways from older shapes of a feed's persisted snapshot to the present one. */

/** 2: `verifiedAt` in the context. 3: `openedBy`. */
export const SCHEMA = 3;

/** @throws for a schema that no version stored */
export function migrateFeed(persisted: unknown, from: number): unknown {
  if (from !== 1 && from !== 2) throw new Error(`no feed was ever stored with schema ${from}`);
  const stored = persisted as { readonly context: object };
  const added = from === 1 ? { verifiedAt: null, openedBy: null } : { openedBy: null };
  return { ...stored, context: { ...stored.context, ...added } };
}
