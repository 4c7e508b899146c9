import { describe, expect, it } from 'vitest';
import { HOUR, SECOND } from '../../runtime/clock.ts';
import { type LearnedRoute, medianOf, staleAfter, withSample } from './rows.ts';

describe('the learned repeat interval', () => {
  it.each([
    [[600], 600],
    [[600, 300], 450],
    [[1, 2, 3, 4], 3],
    [[300, 900, 300], 300],
    [[9, 1, 8, 2, 7, 3, 6, 4, 5], 5],
  ])('of %j is %d', (samples, interval) => {
    expect(medianOf(samples)).toBe(interval);
  });

  it('is that of the last nine samples', () => {
    let route: LearnedRoute | undefined;
    for (let gap = 1; gap <= 20; gap++) route = withSample(route, { path: '{}', gap, at: gap });
    expect(route).toEqual({
      path: '{}',
      samples: [12, 13, 14, 15, 16, 17, 18, 19, 20],
      interval: 16,
      heardAt: 20,
    });
  });

  it('gives three of it until an Alert is stale, and 25 hours while nothing is learned', () => {
    expect(staleAfter(600 * SECOND)).toBe(1_800 * SECOND);
    expect(staleAfter(null)).toBe(25 * HOUR);
  });
});
