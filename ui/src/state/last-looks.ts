/**
 * Up to which Timeline entry the signed-in person saw each Alert Group in this browser (ui §4 rule 14): the `sequence`
 * of the entry, so that no clock takes part. Of one person at a time; nothing of what an entry says is kept.
 */

const KEY = 'tocsin.looks';
/** Alert Groups that are remembered, those looked at last. */
export const MOST_LOOKS = 200;

export type LookStore = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

type Look = readonly [groupId: string, sequence: number];

/** The `sequence` of the newest entry that was seen; null when the Alert Group was not looked at, or is forgotten. */
export function lastLook(storage: LookStore, userId: string, groupId: string): number | null {
  return read(storage, userId).find(([id]) => id === groupId)?.[1] ?? null;
}

/** Remembers a look; the looks of another person, and the oldest beyond {@link MOST_LOOKS}, are dropped. */
export function keepLook(storage: LookStore, userId: string, groupId: string, sequence: number): void {
  const others = read(storage, userId).filter(([id]) => id !== groupId);
  const looks: readonly Look[] = [...others, [groupId, sequence]];
  try {
    storage.setItem(KEY, JSON.stringify({ userId, looks: looks.slice(-MOST_LOOKS) }));
  } catch {
    // A full or closed storage: the next visit names no changes.
  }
}

export function forgetLooks(storage: LookStore): void {
  storage.removeItem(KEY);
}

function read(storage: LookStore, userId: string): readonly Look[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return [];
    const { userId: of, looks } = stored as Record<string, unknown>;
    return of === userId && Array.isArray(looks) ? looks.filter(isLook) : [];
  } catch {
    // Closed storage or foreign content: nothing was seen.
    return [];
  }
}

function isLook(value: unknown): value is Look {
  return Array.isArray(value) && typeof value[0] === 'string' && Number.isSafeInteger(value[1]);
}
