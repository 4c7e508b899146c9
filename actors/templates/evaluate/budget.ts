/** How much a render may do (templates §9). Counting steps ends the same template at the same place everywhere. */
import { type Micros, type Monotonic, SECOND } from '../../../runtime/clock.ts';
import { Refusal } from '../failure.ts';
import type { Effort } from '../types.ts';

/**
 * Steps are some thirty nanoseconds of work each, a hundred where they are dear, and not much more ever: nobody else
 * gets a turn while a template is rendered, so that is how long everybody waits for the worst one.
 */
const MOST_STEPS = 1_000_000;
const MOST_VISITED = 100_000;
const MOST_CALLS = 10_000;
const MOST_NESTED_CALLS = 100;
const LONGEST: Micros = 2 * SECOND;
/** Steps between two looks at the clock. */
const UNWATCHED = 1_000;

export class Budget {
  readonly #monotonic: Monotonic | null;
  readonly #effort: Effort;
  readonly #started: Micros;
  #lookAt: number;
  #visited = 0;
  #calls = 0;

  /** @param effort of the renders that nobody else gets a turn between */
  constructor(monotonic: Monotonic | null, effort: Effort) {
    this.#monotonic = monotonic;
    this.#effort = effort;
    this.#started = monotonic?.() ?? 0;
    this.#lookAt = effort.steps + UNWATCHED;
  }

  /** @param advice what to do about it, put behind the message @throws {Refusal} when the render took too long */
  spend(steps: number, advice = ''): void {
    const done = this.#effort.steps + steps;
    this.#effort.steps = done;
    if (done < this.#lookAt) return;
    this.#lookAt = done + UNWATCHED;
    const isLate = this.#monotonic !== null && this.#monotonic() - this.#started > LONGEST;
    if (isLate || done > MOST_STEPS) throw new Refusal(`the render took too long${advice}`, 'action');
  }

  /** Counts one step of a range. @throws {Refusal} */
  visit(): void {
    this.spend(2);
    if (++this.#visited > MOST_VISITED) throw new Refusal(`more than ${MOST_VISITED} items`, 'action');
  }

  /** Counts the call of a template. @param depth calls that are open, this one included @throws {Refusal} */
  call(depth: number): void {
    this.spend(5);
    if (depth > MOST_NESTED_CALLS) {
      throw new Refusal(`calls nested deeper than ${MOST_NESTED_CALLS}`, 'action');
    }
    if (++this.#calls > MOST_CALLS) throw new Refusal(`more than ${MOST_CALLS} calls`, 'action');
  }
}
