/** Giving up parts of a message, in a given order and no more than it must, until it fits (messages §6). */

/** How much of each part is kept: lines, links, Mentions, or code points of a value. */
export type Amounts = Readonly<Record<string, number>>;

/** Code points of a value that is not cut: none has more bytes. */
export const UNCUT = 4_096;

/** What is given up, first to last, and how little may be left of it. */
export type GivingUp<Kept extends Amounts> = readonly (readonly [part: keyof Kept, least: number])[];

/** The most of `full` that fits; the least of everything when nothing does. */
export function shorten<Kept extends Amounts>(
  full: Kept,
  order: GivingUp<Kept>,
  fits: (kept: Kept) => boolean,
): Kept {
  if (fits(full)) return full;
  let kept = full;
  for (const [part, least] of order) {
    const before = kept;
    const now = before[part] ?? 0;
    const lowest = { ...before, [part]: Math.min(least, now) };
    if (fits(lowest)) {
      const most = mostThatFits(Math.min(least, now), now, (amount) => fits({ ...before, [part]: amount }));
      return { ...before, [part]: most };
    }
    kept = lowest;
  }
  return kept;
}

/** The greatest amount from `low`, which fits, up to below `high`, which does not. */
export function mostThatFits(low: number, high: number, fits: (amount: number) => boolean): number {
  let [fitting, failing] = [low, high];
  while (failing - fitting > 1) {
    const middle = Math.floor((fitting + failing) / 2);
    if (fits(middle)) fitting = middle;
    else failing = middle;
  }
  return fitting;
}
