/** Bounds on waiting: the pool of the database has none of its own (operations §5.6). */
import { UnavailableError } from '../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../runtime/clock.ts';

const LONGEST: Micros = 5 * SECOND;

/** What `work` gives, unless that takes too long. @throws {UnavailableError} it does; the work itself goes on */
export async function within<Result>(
  clock: Clock,
  work: Promise<Result>,
  longest = LONGEST,
): Promise<Result> {
  let timer = { cancel: (): void => undefined };
  const late = new Promise<never>((_, reject) => {
    timer = clock.after(longest, () => reject(new UnavailableError('no answer in time')));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
