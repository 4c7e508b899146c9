import { describe, expect, it } from 'vitest';
import { LONGEST_ROUTE_PATH, routePathOf } from './rows.ts';

describe('the route path of a groupKey', () => {
  it.each([
    ['{}/{team="db"}:{alertname="DiskFull"}', '{}/{team="db"}'],
    ['{}:{}', '{}'],
    ['{}/{url="http://x:1"}:{alertname="a:b"}', '{}/{url="http://x:1"}'],
    ['{}/{a=~"x\\":{\\\\"}:{b="}:"}', '{}/{a=~"x\\":{\\\\"}'],
    ['a:b:c', 'a:b'],
    ['one-key-for-all', 'one-key-for-all'],
    ['{a:b}', '{a:b}'],
    ['', ''],
  ])('%s', (groupKey, path) => {
    expect(routePathOf(groupKey)).toBe(path);
  });

  it('is not kept when it is too long', () => {
    expect(routePathOf(`${'x'.repeat(LONGEST_ROUTE_PATH)}:{}`)).toHaveLength(LONGEST_ROUTE_PATH);
    expect(routePathOf(`${'x'.repeat(LONGEST_ROUTE_PATH + 1)}:{}`)).toBeNull();
  });
});
