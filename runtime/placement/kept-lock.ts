import { atMost, type Clock, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';

/**
 * Retakes a lock that was lost with its session, until it is held. Meanwhile only the next start of a process in the other
 * mode depends on it (operations §5.1).
 * @param lock is held
 * @returns the way to give it back for good
 */
export function keepLock(lock: SessionLock, clock: Clock, log: Log): () => Promise<void> {
  let timer: Timer | null = null;
  let isReleased = false;
  let taking: Promise<void> = Promise.resolve();

  const watch = (): void => {
    void lock.lost().then(() => {
      taking = retake();
    });
  };
  const retake = async (): Promise<void> => {
    if (isReleased) return;
    try {
      if (await lock.acquire()) return isReleased ? await lock.release() : watch();
    } catch (error) {
      log('database_unavailable', { error: String(error) });
    }
    if (isReleased) return;
    timer = clock.after(SECOND, () => {
      taking = retake();
    });
  };
  watch();
  return async () => {
    isReleased = true;
    timer?.cancel();
    // An attempt in flight may be opening a session; it closes that itself.
    await atMost(clock, SECOND, taking);
    await lock.release();
  };
}

/** The advisory lock that ensures the single process of an installation is alone (operations §5.1). */
export interface SessionLock {
  /** Tries once to take the lock, on a session of its own. False while any session holds it, so release before retaking. */
  acquire(): Promise<boolean>;
  /** Resolves when the session that holds the lock has ended, for whatever reason but {@link release}. */
  lost(): Promise<void>;
  /** Gives the lock back. */
  release(): Promise<void>;
}
