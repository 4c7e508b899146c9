/** Waits of the outbound client that end once: by an answer, by a failure, or because their time is over. */
import type { Clock, Micros } from '../clock.ts';
import { OutboundFailure } from './failure.ts';

export interface Settle<T> {
  done(value: T): void;
  fail(error: Error): void;
}

/**
 * Runs `begin` and settles once: by its answer, its failure, or `budget` (µs) running out; losers are cleaned up.
 * @param begin gives back what cleans up behind a wait that came to nothing
 * @throws {OutboundFailure} connect_timeout with the text `timedOut`
 */
export function within<T>(
  budget: Micros,
  clock: Clock,
  timedOut: string,
  begin: (settle: Settle<T>) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    const finish = (settleIt: () => void): void => {
      if (settled) return;
      settled = true;
      timer.cancel();
      settleIt();
    };
    const timer = clock.after(Math.max(0, budget), () =>
      finish(() => {
        abandon();
        reject(new OutboundFailure('connect_timeout', timedOut));
      }),
    );
    const abandon = begin({
      done: (value) => finish(() => resolve(value)),
      fail: (error) =>
        finish(() => {
          abandon();
          reject(error);
        }),
    });
  });
}
