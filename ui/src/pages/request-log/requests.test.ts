import { expect, it } from 'vitest';
import { narrows, parseRequestFilters, requestQuery } from './requests.ts';

it('reads back what it writes into the address', () => {
  const search =
    '?direction=outbound&status_class=none&operation=event&alert_group=AGK7M3QX9P2RTA&run=RNK7M3QX9P2RTA';
  const filters = parseRequestFilters(search);
  expect(narrows(filters)).toBe(true);
  expect(requestQuery(filters)).toEqual(Object.fromEntries(new URLSearchParams(search)));
});

it('leaves out what cannot be asked', () => {
  const filters = parseRequestFilters(
    '?direction=up&status_class=1xx&alert_group=12&run=RN&operation=%20%20',
  );
  expect(narrows(filters)).toBe(false);
});
