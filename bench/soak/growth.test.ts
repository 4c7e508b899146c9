import { expect, test } from 'vitest';
import { growthOf } from './growth.ts';

const points = (...figures: number[]) => figures.map((figure, minute) => [minute * 60, figure] as const);

test('growth is that of the line through the second half, as a share of its mean', () => {
  expect(growthOf(points(1, 2, 3, 4, 100, 100, 100, 100))).toBe(0);
  expect(growthOf(points(9, 9, 9, 100, 110, 120))).toBeCloseTo(20 / 110);
  expect(growthOf(points(9, 9, 9, 120, 110, 100))).toBeCloseTo(-20 / 110);
  expect(growthOf(points(9, 9, 9, 9, 100, 120, 100, 120))).toBeCloseTo(12 / 110);
});

test('too few points are no answer', () => {
  expect(growthOf(points())).toBeNaN();
  expect(growthOf(points(1, 2))).toBeNaN();
});
