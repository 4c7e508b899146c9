/** A bound on waiting for the database: its pool has none of its own (operations §5.6). */
import { UnavailableError } from '../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../runtime/clock.ts';

const LONGEST: Micros = 5 * SECOND;

/** What `work` gives, unless that takes 5 s. @throws {UnavailableError} it does; the work itself goes on */
export async function within<Result>(clock: Clock, work: Promise<Result>): Promise<Result> {
  let timer = { cancel: (): void => undefined };
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(LONGEST, () => reject(new UnavailableError('no answer from the database in time')));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
