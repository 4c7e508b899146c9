import type { Micros } from '../../runtime/clock.ts';

/** Remembers things for a while, oldest first out. */
export interface Recent<T> {
  add(key: string, value: T, now: Micros): void;
  has(key: string): boolean;
  values(): T[];
  delete(key: string): void;
}

export function createRecent<T>(keep: Micros): Recent<T> {
  const held = new Map<string, { readonly value: T; readonly at: Micros }>();
  return {
    add(key, value, now) {
      for (const [old, { at }] of held) {
        if (at > now - keep) break;
        held.delete(old);
      }
      held.set(key, { value, at: now });
    },
    has: (key) => held.has(key),
    values: () => [...held.values()].map((entry) => entry.value),
    delete: (key) => void held.delete(key),
  };
}

/** A set that forgets its oldest members beyond `most`. */
export interface BoundedSet {
  add(key: string): void;
  has(key: string): boolean;
  delete(key: string): boolean;
}

export function createBoundedSet(most: number, keys: Iterable<string> = []): BoundedSet {
  const held = new Set(keys);
  return {
    add(key) {
      held.add(key);
      if (held.size <= most) return;
      for (const oldest of held) {
        held.delete(oldest);
        return;
      }
    },
    has: (key) => held.has(key),
    delete: (key) => held.delete(key),
  };
}
