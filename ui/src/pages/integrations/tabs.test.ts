import { describe, expect, it } from 'vitest';
import {
  alertFiltersToQuery,
  alertQuery,
  parseAlertFilters,
  parseSnapshotState,
  tabOf,
  tabsOf,
} from './tabs.ts';

describe('tabs', () => {
  it('are those that the person may see', () => {
    expect(tabsOf({ builtin: false }, () => true)).toEqual([
      'overview',
      'alerts',
      'sender-routes',
      'tokens',
      'snapshots',
    ]);
    expect(tabsOf({ builtin: false }, () => false)).toEqual(['overview', 'sender-routes', 'tokens']);
  });

  it('of the built-in Integration know no sender and no tokens', () => {
    expect(tabsOf({ builtin: true }, () => true)).toEqual(['overview', 'alerts', 'snapshots']);
  });

  it.each([
    ['?tab=alerts', 'alerts'],
    ['?tab=snapshots', 'overview'],
    ['?tab=nonsense', 'overview'],
    ['', 'overview'],
  ])('%s opens %s where only Alerts may be read', (search, tab) => {
    expect(tabOf(search, ['overview', 'alerts'])).toBe(tab);
  });
});

describe('filters of Alerts', () => {
  it('survive the address', () => {
    const filters = {
      state: 'all',
      sort: 'starts_at',
      q: 'eu & us',
      labels: ['cluster="eu"', 'pod=~"api.*"'],
    } as const;
    expect(parseAlertFilters(`?${alertFiltersToQuery(filters)}`)).toEqual(filters);
  });

  it('that nobody chose are not in the address, and unknown ones count as not chosen', () => {
    const filters = parseAlertFilters('?state=nope&sort=nope');
    expect(filters).toEqual({ state: 'firing', sort: '-last_seen_at', q: '', labels: [] });
    expect(String(alertFiltersToQuery(filters))).toBe('tab=alerts');
  });

  it('ask the API for every state by naming none', () => {
    const filters = parseAlertFilters('?state=all&q=%20eu%20');
    expect(alertQuery(filters)).toEqual({ state: null, sort: '-last_seen_at', q: 'eu', label: [] });
  });
});

it('an unknown state of Snapshots counts as all of them', () => {
  expect(parseSnapshotState('?state=failed')).toBe('failed');
  expect(parseSnapshotState('?state=lost')).toBeNull();
});
