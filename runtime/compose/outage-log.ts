/** Outages of the database in the log (operations §9). */
import { type Clock, SECOND } from '../clock.ts';
import type { Log } from '../log.ts';

/**
 * A log that tells of an outage once, however many notice it, and of its end.
 * @param ask resolves when the database answers
 */
export function tellOutagesOnce(log: Log, ask: () => Promise<unknown>, clock: Clock): Log {
  let isOut = false;
  const askAgain = () => {
    clock.after(SECOND, () => {
      ask().then(() => {
        isOut = false;
        log('database_restored');
      }, askAgain);
    });
  };
  return (event, fields) => {
    if (event === 'database_unavailable') {
      if (isOut) return;
      isOut = true;
      askAgain();
    }
    log(event, fields);
  };
}
