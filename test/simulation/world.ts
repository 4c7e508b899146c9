import type { Clock, Micros, Timer } from '../../runtime/clock.ts';
import { type Random, seededRandom } from './random.ts';

/** An ordinary run that is sound has a tenth of them. */
const MOST_EVENTS = 20_000;

interface Event {
  readonly at: Micros;
  /** Decides between events of the same instant. */
  readonly tie: number;
  readonly run: () => void;
  isCancelled: boolean;
}

/** Virtual time, and everything that will happen in it. Nothing in a run happens but through here. */
export class World {
  readonly random: Random;
  readonly clock: Clock;
  #now: Micros = 1_000_000_000_000_000;
  readonly #start = this.#now;
  readonly #events: Event[] = [];
  readonly #trace: string[] | null;
  readonly #mostEvents: number;
  #happened = 0;

  constructor(seed: number, isTraced: boolean, mostEvents = MOST_EVENTS) {
    this.#mostEvents = mostEvents;
    this.random = seededRandom(seed);
    this.#trace = isTraced ? [] : null;
    this.clock = { now: () => this.#now, after: (delay, run) => this.after(delay, run) };
  }

  get now(): Micros {
    return this.#now;
  }

  get trace(): readonly string[] {
    return this.#trace ?? [];
  }

  /** Adds a line to the trace; the text is made only when someone will read it. */
  note(text: () => string): void {
    this.#trace?.push(`${((this.#now - this.#start) / 1e6).toFixed(6).padStart(11)} ${text()}`);
  }

  after(delay: Micros, run: () => void): Timer {
    const at = this.#now + Math.max(0, Math.round(delay));
    const event: Event = { at, tie: this.random.next(), run, isCancelled: false };
    push(this.#events, event);
    return {
      cancel() {
        event.isCancelled = true;
      },
    };
  }

  /** Resolves after a random time within the bounds, µs. */
  pause(low: Micros, high: Micros): Promise<void> {
    return new Promise((resolve) => this.after(this.random.between(low, high), resolve));
  }

  /** How many events have happened. */
  get events(): number {
    return this.#happened;
  }

  /**
   * Lets things happen until the answer is true, nothing is left, or the time has come. A run that never rests ends,
   * too: after so many events as the constructor was told.
   */
  async runUntil(isOver: () => boolean, latest: Micros): Promise<void> {
    await drained();
    while (!isOver() && this.#happened < this.#mostEvents) {
      const event = pop(this.#events);
      if (event === undefined) return;
      if (event.isCancelled) continue;
      if (event.at > latest) {
        push(this.#events, event);
        this.#now = latest;
        return;
      }
      this.#happened++;
      this.#now = Math.max(this.#now, event.at);
      event.run();
      await drained();
    }
  }
}

/** Waits until all promises that can settle have. */
function drained(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}

/** Adds to a binary heap with the earliest event on top. */
function push(heap: Event[], event: Event): void {
  let index = heap.push(event) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): Event | undefined {
  const top = heap[0];
  const last = heap.pop();
  if (top === undefined || last === undefined || heap.length === 0) return top;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
  return top;
}
