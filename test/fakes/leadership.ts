import type { Leadership } from '../../runtime/placement/leadership.ts';

export interface SettableLeadership extends Leadership {
  /** Takes or loses the lead, or tells once more. */
  set(isLeader: boolean): void;
}

/** A lead that a test gives and takes. */
export function settableLeadership(isLeader = false): SettableLeadership {
  const listeners = new Set<() => void>();
  let leads = isLeader;
  return {
    get isLeader() {
      return leads;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(next) {
      leads = next;
      for (const listener of [...listeners]) listener();
    },
  };
}
