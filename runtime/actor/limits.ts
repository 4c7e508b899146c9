import { type Micros, SECOND } from '../clock.ts';

/** Bytes of the heap that a row of an actor takes, with all that belongs to it. */
const ROW_BYTES = 1_280;

/** The engine's bounds (operations §5.6) and waits. */
export interface EngineLimits {
  /** Turns after which a batch takes no further message from outside. */
  readonly turns: number;
  /** Turns after which a batch hands the rest of its cascades to the inbox. */
  readonly cascade: number;
  /** How long a batch that could commit waits for receivers that are being loaded, µs. */
  readonly closeWait: Micros;
  /** After a commit of so many turns the next one begins no sooner than `commitDistance` after it began, µs. */
  readonly busyTurns: number;
  readonly commitDistance: Micros;
  /** Requests that wait for an answer: altogether, and at one actor. */
  readonly asks: number;
  readonly asksPerActor: number;
  /** How long a request waits for its answer, µs (operations §5.2 rule 4). */
  readonly askTimeout: Micros;
  /** Actors in memory, by count and by the rows they hold. */
  readonly memory: { readonly actors: number; readonly weight: number };
  /** Actors loaded with one call of the store, and such calls under way together. */
  readonly loadPage: number;
  readonly loads: number;
  /** Rows read with one page, and inbox rows held in memory before reading stops. */
  readonly inboxPage: number;
  readonly inboxHeld: number;
  /** Receivers of one sender with inbox rows in memory: its further rows are passed over, so that others get their turns. */
  readonly inboxReceivers: number;
  /** Due wake-ups read with one page, and at most when those that come first have to wait. */
  readonly wakePage: number;
  readonly wakeLook: number;
  /** The longest wait until wake-ups are read again, µs: no timer notices that the wall clock is set forward. */
  readonly wakeReread: Micros;
  /** First wait before a failed call of the store is repeated, µs; it doubles up to `retryMost`. */
  readonly retryFirst: Micros;
  readonly retryMost: Micros;
  /** The longest pause before a message that met a write conflict is tried again, µs (ingestion §4.2). */
  readonly conflictMost: Micros;
  /** How long an actor that ignored its wake-up is left alone, µs. */
  readonly stuckWake: Micros;
}

export const DEFAULT_LIMITS: EngineLimits = {
  turns: 512,
  cascade: 2048,
  closeWait: 0.05 * SECOND,
  busyTurns: 8,
  commitDistance: 0.03 * SECOND,
  asks: 1000,
  asksPerActor: 100,
  askTimeout: 5 * SECOND,
  memory: { actors: 20_000, weight: 200_000 },
  loadPage: 500,
  loads: 4,
  inboxPage: 100,
  inboxHeld: 2000,
  inboxReceivers: 100,
  wakePage: 500,
  wakeLook: 32_000,
  wakeReread: 30 * SECOND,
  retryFirst: SECOND,
  retryMost: 30 * SECOND,
  conflictMost: 60 * SECOND,
  stuckWake: 60 * SECOND,
};

/** The default bounds, with no more rows in memory than fit into a third of the heap, whose limit is given in bytes. */
export function memoryWithin(heapLimit: number): EngineLimits['memory'] {
  const { actors, weight } = DEFAULT_LIMITS.memory;
  return { actors, weight: Math.min(weight, Math.floor(heapLimit / 3 / ROW_BYTES)) };
}

/** Waits between tries: doubling from the first to the most, until something succeeds. */
export class Backoff {
  readonly #limits: EngineLimits;
  #failures = 0;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  /** The wait before the next try, µs. */
  failed(): Micros {
    const wait = this.#limits.retryFirst * 2 ** Math.min(this.#failures, 30);
    this.#failures++;
    return Math.min(wait, this.#limits.retryMost);
  }

  succeeded(): void {
    this.#failures = 0;
  }
}
