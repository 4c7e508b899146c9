import { atMost } from '../at-most.ts';
import { type Clock, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { SessionLock } from './session-lock.ts';

/**
 * Takes a lock that went with its session again, until it is held. Nothing depends on it meanwhile but the next start of
 * a process in the other mode (operations §5.1).
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
    // It may be about to open a session, which it closes itself then.
    await atMost(clock, SECOND, taking);
    await lock.release();
  };
}
