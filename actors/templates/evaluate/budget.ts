/** How much a render may do (templates §9). Counting steps ends the same template at the same place everywhere. */
import { type Micros, type Monotonic, SECOND } from '../../../runtime/clock.ts';
import { Refusal } from '../refusal.ts';

/** Steps are some hundred nanoseconds of work each. */
const MOST_STEPS = 2_000_000;
const MOST_VISITED = 100_000;
const MOST_CALLS = 10_000;
const MOST_NESTED_CALLS = 100;
const LONGEST: Micros = 2 * SECOND;
/** Steps between two looks at the clock. */
const UNWATCHED = 1_000;

export class Budget {
  readonly #monotonic: Monotonic | null;
  readonly #started: Micros;
  #steps = 0;
  #lookAt = UNWATCHED;
  #visited = 0;
  #calls = 0;

  constructor(monotonic: Monotonic | null) {
    this.#monotonic = monotonic;
    this.#started = monotonic?.() ?? 0;
  }

  /** @throws {Refusal} when the render took too long */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps < this.#lookAt) return;
    this.#lookAt = this.#steps + UNWATCHED;
    const isLate = this.#monotonic !== null && this.#monotonic() - this.#started > LONGEST;
    if (isLate || this.#steps > MOST_STEPS) throw new Refusal('the render took too long', 'action');
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
