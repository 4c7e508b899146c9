/** Spreads live hints to what is shown, merging those of one object to at most one re-read a second (ui §1.6). */

export type HintType =
  | 'alert-group'
  | 'alert-groups'
  | 'integration'
  | 'route'
  | 'connection'
  | 'destination'
  | 'organization'
  | 'system-notices'
  | 'system-status'
  | 'account-links';

export interface Hint {
  readonly type: string;
  /** Null concerns every object of the type. */
  readonly id: string | null;
}

export type HintListener = (hint: Hint) => void;

interface Subscription {
  readonly type: string;
  /** Null listens to every object of the type. */
  readonly id: string | null;
  readonly listener: HintListener;
}

interface Timers {
  set(run: () => void, ms: number): unknown;
}

const MERGE_MS = 1_000;

export interface HintBoard {
  /** Calls `listener` for hints of the type, and of the object when `id` is given. @returns unsubscribe */
  on(type: HintType, id: string | null, listener: HintListener): () => void;
  arrived(hint: Hint): void;
  /** Everything shown may be old: calls every listener once. */
  invalidateAll(): void;
}

export function createHintBoard(timers: Timers): HintBoard {
  const subscriptions = new Set<Subscription>();
  /** Objects told within the last second; true when another hint came since. */
  const recent = new Map<string, boolean>();

  function tell(hint: Hint): void {
    for (const each of [...subscriptions]) {
      if (each.type !== hint.type) continue;
      if (each.id === null || hint.id === null || each.id === hint.id) call(each, hint);
    }
  }

  /** One that throws keeps the hint from nobody else. */
  function call({ listener }: Subscription, hint: Hint): void {
    try {
      listener(hint);
    } catch (error) {
      reportError(error);
    }
  }

  function open(key: string, hint: Hint): void {
    recent.set(key, false);
    timers.set(() => {
      const again = recent.get(key) === true;
      recent.delete(key);
      if (again) open(key, hint);
    }, MERGE_MS);
    tell(hint);
  }

  return {
    on(type, id, listener) {
      const subscription = { type, id, listener };
      subscriptions.add(subscription);
      return () => subscriptions.delete(subscription);
    },
    arrived(hint) {
      const key = `${hint.type}/${hint.id ?? ''}`;
      if (recent.has(key)) recent.set(key, true);
      else open(key, hint);
    },
    invalidateAll() {
      for (const each of [...subscriptions]) call(each, { type: each.type, id: null });
    },
  };
}

/** Reads the data of a `hint` event; null when it is something this client does not know. */
export function readHint(text: string): Hint | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not JSON: not a hint.
    return null;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return null;
  if (typeof value.type !== 'string') return null;
  const id = 'id' in value && typeof value.id === 'string' ? value.id : null;
  return { type: value.type, id };
}

/**
 * A function that runs at once and then at most every `ms`; calls in between are one more run at the end.
 * @param schedule `setTimeout` outside of tests
 */
export function paced(
  run: () => void,
  ms: number,
  schedule: (run: () => void, ms: number) => unknown = setTimeout,
): () => void {
  let resting = false;
  let again = false;

  function call(): void {
    if (resting) {
      again = true;
      return;
    }
    resting = true;
    schedule(() => {
      resting = false;
      if (!again) return;
      again = false;
      call();
    }, ms);
    // Last, because it may throw.
    run();
  }
  return call;
}
