import { describe, expect, it } from 'vitest';
import { HOUR, SECOND } from '../../runtime/clock.ts';
import { type LearnedRoute, staleAfter, withSample } from './rows.ts';

describe('the learned repeat interval', () => {
  it('is the longest of the last nine samples', () => {
    let route: LearnedRoute | undefined;
    const gaps = [21, 22, 13, 14, 20, 16, 15, 18, 19, 17, 12];
    for (const [at, gap] of gaps.entries()) route = withSample(route, { path: '{}', gap, at });
    expect(route).toEqual({
      path: '{}',
      samples: [13, 14, 20, 16, 15, 18, 19, 17, 12],
      interval: 20,
      heardAt: 10,
    });
  });

  it('gives three of it until an Alert is stale, and 25 hours while nothing is learned', () => {
    expect(staleAfter(600 * SECOND)).toBe(1_800 * SECOND);
    expect(staleAfter(null)).toBe(25 * HOUR);
  });

  it('gives 15 minutes at least, as an interval of 5 minutes does', () => {
    expect(staleAfter(300 * SECOND)).toBe(900 * SECOND);
    expect(staleAfter(75 * SECOND)).toBe(900 * SECOND);
  });
});
