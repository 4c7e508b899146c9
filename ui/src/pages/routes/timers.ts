/** The times that the numbers of a policy stand for (routes §3). All in seconds. */

/** The three notices of the ack timeout, counted from its start: F, 3F, 7F. */
export function ackNotices(first: number): readonly number[] {
  return [first, 3 * first, 7 * first];
}

/** The first intervals between Reminders: F, 2F, 4F … up to the cap, which then repeats. */
export function reminderIntervals(first: number, cap: number): readonly number[] {
  if (first <= 0) return [];
  const intervals: number[] = [];
  for (let next = first; intervals.length < 6; next *= 2) {
    intervals.push(Math.min(next, cap));
    if (next >= cap) break;
  }
  return intervals;
}
