import type { Clock, Micros } from '../../runtime/clock.ts';

/** Something took longer than its bound; it may still happen. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * What `work` comes to, as long as that is within `limit` µs.
 * @throws {LateError} afterwards
 */
export function within<T>(clock: Clock, limit: Micros, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limit, () => reject(new LateError(`no answer within ${limit / 1000} ms`)));
    work.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
