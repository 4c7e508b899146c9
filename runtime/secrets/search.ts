/** Looks for many sequences in one walk; the work grows with what is walked through, whatever is looked for. */

/** Every sequence is at least as long. */
export const SHORTEST_SOUGHT = 4;

const SIEVE_BITS = 15;

export class Search {
  readonly #sought: readonly Int32Array[];
  /** Of each, made when it is needed: how much of its beginning ends at each of its places. */
  readonly #overlaps: Int32Array[] = [];
  /** By their last four units. */
  readonly #byEnd = new Map<number, number[]>();
  /** One bit says for most places of a text that nothing ends there. */
  readonly #sieve = new Int32Array(1 << (SIEVE_BITS - 5));

  /** @param sought each of four units or more */
  constructor(sought: readonly Int32Array[]) {
    this.#sought = sought;
    for (const [which, units] of sought.entries()) {
      const end = units.subarray(-SHORTEST_SOUGHT).reduce(withNext, 0);
      this.#byEnd.set(end, [...(this.#byEnd.get(end) ?? []), which]);
      const bit = bitOf(end);
      this.#sieve[bit >> 5] = (this.#sieve[bit >> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  /** @param found told of every place where a sequence stands, also within others */
  within(units: Int32Array, found: (which: number, first: number, last: number) => void): void {
    /** By sequence: it begins nowhere before this place without having been found. */
    const passed = new Int32Array(this.#sought.length);
    let end = 0;
    for (let at = 0; at < units.length; at++) {
      end = withNext(end, units[at] ?? 0);
      const bit = bitOf(end);
      if ((((this.#sieve[bit >> 5] ?? 0) >> (bit & 31)) & 1) === 0) continue;
      for (const which of this.#byEnd.get(end) ?? []) {
        const first = at + 1 - (this.#sought[which]?.length ?? 0);
        if (first < (passed[which] ?? 0)) continue;
        passed[which] = this.#follow(which, units, first, found);
      }
    }
  }

  /** Knuth, Morris and Pratt, for as long as any beginning of the sequence goes on. @returns where none does */
  #follow(
    which: number,
    units: Int32Array,
    from: number,
    found: (which: number, first: number, last: number) => void,
  ): number {
    const sought = this.#sought[which] ?? new Int32Array();
    this.#overlaps[which] ??= overlapsOf(sought);
    const overlaps = this.#overlaps[which];
    let matched = 0;
    for (let at = from; at < units.length; at++) {
      const unit = units[at];
      while (matched > 0 && sought[matched] !== unit) matched = overlaps[matched - 1] ?? 0;
      if (sought[matched] === unit) matched++;
      if (matched === 0) return at + 1;
      if (matched < sought.length) continue;
      found(which, at + 1 - matched, at);
      matched = overlaps[matched - 1] ?? 0;
    }
    return units.length;
  }
}

function overlapsOf(sought: Int32Array): Int32Array {
  const overlaps = new Int32Array(sought.length);
  let matched = 0;
  for (let at = 1; at < sought.length; at++) {
    while (matched > 0 && sought[matched] !== sought[at]) matched = overlaps[matched - 1] ?? 0;
    if (sought[matched] === sought[at]) matched++;
    overlaps[at] = matched;
  }
  return overlaps;
}

/** Of the last four units: what lies further back is shifted out. */
function withNext(end: number, unit: number): number {
  return (end << 8) ^ unit;
}

function bitOf(end: number): number {
  return Math.imul(end, 0x9e3779b1) >>> (32 - SIEVE_BITS);
}
