import { expect, it } from 'vitest';
import { ackNotices, reminderIntervals } from './route-input.ts';

it('the ack timeout notifies at F, 3F and 7F', () => {
  expect(ackNotices(900)).toEqual([900, 2_700, 6_300]);
});

it.each([
  [14_400, 86_400, [14_400, 28_800, 57_600, 86_400]],
  [3_600, 3_600, [3_600]],
  [0, 60, []],
])('Reminders from %d up to %d', (first, cap, intervals) => {
  expect(reminderIntervals(first, cap)).toEqual(intervals);
});
