import { expect, test } from 'vitest';
import { NO_USER_FILTERS, parseUserFilters, userFiltersToQuery } from './user-filters.ts';

test.each([
  ['', NO_USER_FILTERS, []],
  ['?q=ann&role=admin', { ...NO_USER_FILTERS, q: 'ann', role: 'admin' }, []],
  ['?status=disabled&source=oidc', { ...NO_USER_FILTERS, status: 'disabled', source: 'oidc' }, []],
  ['?role=owner&page=2', NO_USER_FILTERS, ['role', 'page']],
])('%s is read', (search, filters, dropped) => {
  expect(parseUserFilters(search)).toEqual({ filters, dropped });
});

test('what says nothing does not stand in the URL', () => {
  expect(userFiltersToQuery({ ...NO_USER_FILTERS, q: 'ann' }).toString()).toBe('q=ann');
});
