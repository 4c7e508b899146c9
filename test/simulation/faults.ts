import type { Micros } from '../../runtime/clock.ts';
import type { Random } from './random.ts';

/** What can go wrong with one call of the store. */
export type CommitFault =
  | 'none'
  | 'unavailable'
  /** Stored, but the answer does not arrive. */
  | 'answer_lost'
  /** No answer in time; stored a while later unless something forbids it then. */
  | 'late'
  | 'conflict'
  /** An actor of the batch meets write conflicts for a while, whatever it tries. */
  | 'lasting_conflict'
  | 'fenced'
  | 'crash_before'
  | 'crash_after';

/** One commit that used up one message from outside and met a write conflict. */
export interface ConflictMet {
  /** Which message, in the hands of which owner. */
  readonly who: string;
  readonly at: Micros;
}

/** How often what happens, as probabilities of a call. */
export interface FaultRates {
  readonly commit: Readonly<Record<Exclude<CommitFault, 'none'>, number>>;
  readonly read: number;
  readonly slow: number;
}

/** Draws faults until it is told to be calm. */
export class Faults {
  readonly #rates: FaultRates;
  readonly #random: Random;
  #isCalm = false;
  /** By actor: until when it meets write conflicts. */
  readonly #obstructed = new Map<string, Micros>();
  readonly conflicts: ConflictMet[] = [];

  constructor(rates: FaultRates, random: Random) {
    this.#rates = rates;
    this.#random = random;
  }

  get isCalm(): boolean {
    return this.#isCalm;
  }

  calm(): void {
    this.#isCalm = true;
  }

  commit(): CommitFault {
    const roll = this.#random.next();
    if (this.#isCalm) return 'none';
    let sum = 0;
    for (const [fault, rate] of Object.entries(this.#rates.commit)) {
      sum += rate;
      if (roll < sum) return fault as CommitFault;
    }
    return 'none';
  }

  read(): boolean {
    return this.#random.chance(this.#rates.read) && !this.#isCalm;
  }

  slow(): boolean {
    return this.#random.chance(this.#rates.slow) && !this.#isCalm;
  }

  /** From now on the actor meets write conflicts, for up to 10 s. */
  obstruct(actor: string, now: Micros): void {
    this.#obstructed.set(actor, now + this.#random.between(0, 10e6));
  }

  isObstructed(actor: string, now: Micros): boolean {
    return !this.#isCalm && now < (this.#obstructed.get(actor) ?? 0);
  }
}

/** Rates for one run: from nothing at all to very rough. */
export function drawRates(random: Random): FaultRates {
  const level = random.pick([0, 0.01, 0.04, 0.1]);
  const rate = () => (random.chance(0.5) ? level * random.next() : 0);
  return {
    commit: {
      unavailable: rate(),
      answer_lost: rate(),
      late: rate(),
      conflict: rate(),
      lasting_conflict: rate() / 2,
      fenced: rate() / 4,
      crash_before: rate() / 4,
      crash_after: rate() / 4,
    },
    read: rate(),
    slow: rate(),
  };
}

/** Nothing goes wrong. */
export const SOUND: FaultRates = {
  commit: {
    ...{ unavailable: 0, answer_lost: 0, late: 0, conflict: 0 },
    ...{ lasting_conflict: 0, fenced: 0, crash_before: 0, crash_after: 0 },
  },
  read: 0,
  slow: 0,
};

/** The same without what moves shards: deaths and refusals by epoch. */
export function unmoving(rates: FaultRates): FaultRates {
  return { ...rates, commit: { ...rates.commit, fenced: 0, crash_before: 0, crash_after: 0 } };
}
