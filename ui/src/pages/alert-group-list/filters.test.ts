import { describe, expect, it } from 'vitest';
import type { AlertGroup } from '../../api/shapes.ts';
import {
  countQuery,
  filtersToQuery,
  isFiltered,
  labelMatcher,
  listQuery,
  NO_FILTERS,
  parseFilters,
  stillFits,
} from './filters.ts';
import { toLabelName, toMatcherText } from './typed-labels.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

describe('filters in the address bar', () => {
  it('reads and writes the same thing', () => {
    const search =
      'tab=all&q=disk&severity=critical&urgent=true&unclaimed=false&owner=SRADA000000000&route=RTA00000000000&route=RTB00000000000&label=cluster%3D%22eu%22&range=24h&sort=last_changed_at&column=cluster&column=pod';
    const { filters, dropped } = parseFilters(search);
    expect(dropped).toEqual([]);
    expect(filtersToQuery(filters).toString()).toBe(search);
  });

  it('has a plain address for the plain list', () => {
    expect(filtersToQuery(NO_FILTERS).toString()).toBe('');
    expect(isFiltered(NO_FILTERS)).toBe(false);
    expect(isFiltered({ ...NO_FILTERS, tab: 'all', sort: 'started_at', columns: ['pod'] })).toBe(false);
    expect(isFiltered({ ...NO_FILTERS, owner: 'me' })).toBe(true);
  });

  it('drops what it does not understand and says which', () => {
    const { filters, dropped } = parseFilters(
      'tab=nope&severity=loud&number=0&urgent=maybe&from=yesterday&route=x&owner=ada',
    );
    expect(filters).toEqual(NO_FILTERS);
    expect([...dropped].sort()).toEqual(['from', 'number', 'owner', 'route', 'severity', 'tab', 'urgent']);
  });
});

describe('API parameters', () => {
  it('asks for every status on the tab All and leaves the default range to the service', () => {
    expect(listQuery({ ...NO_FILTERS, tab: 'all' }, NOW)).toMatchObject({
      status: ['firing', 'acknowledged', 'snoozed', 'resolved'],
      sort: '-started_at',
    });
    expect(countQuery(NO_FILTERS, NOW)).not.toHaveProperty('from');
  });

  it('lets a number rest every other filter', () => {
    expect(listQuery({ ...NO_FILTERS, q: 'x', number: 42 }, NOW)).toEqual({
      number: 42,
      label_columns: [],
    });
  });

  it('counts a range back from now, and a reason means the system', () => {
    expect(countQuery({ ...NO_FILTERS, range: '1h', resolvedBy: 'gone' }, NOW)).toMatchObject({
      from: '2026-11-21T11:00:00.000Z',
      resolved_by: 'system',
      resolve_reason: 'gone',
    });
  });
});

describe('a changed group', () => {
  const group = { status: 'firing', severity_level: 'warning', owner: null, urgent: true } as AlertGroup;
  it.each([
    ['of the tab', {}, true],
    ['of another tab', { tab: 'snoozed' }, false],
    ['that is Urgent, asked for', { flags: { urgent: true } }, true],
    ['that is Urgent, not wanted', { flags: { urgent: false } }, false],
    ['of nobody, asked for Ada’s', { owner: 'SRADA000000000' }, false],
    ['of another severity', { severities: ['critical'] }, false],
  ] as const)('%s still fits: %j → %s', (_, filters, fits) => {
    expect(stillFits(group, { ...NO_FILTERS, ...filters }, 'SRME0000000000')).toBe(fits);
  });
});

describe('label matchers', () => {
  it.each([
    ['cluster=eu', 'cluster="eu"'],
    ['cluster = "eu"', 'cluster="eu"'],
    ['pod=~api-.*', 'pod=~"api-.*"'],
    ['a!=', 'a!=""'],
    ['path=C:\\x "y"', 'path="C:\\\\x \\"y\\""'],
    ['"a b"=c', '"a b"="c"'],
    ['nothing', null],
    ['1a=b', null],
  ])('%s becomes %s', (typed, text) => {
    expect(toMatcherText(typed)).toBe(text);
  });

  it('quotes unusual names and values', () => {
    expect(labelMatcher('a.b', 'x"y', true)).toBe('"a.b"!="x\\"y"');
  });
});

it.each([
  ['namespace', 'namespace'],
  ['  pod_name ', 'pod_name'],
  ['service.name', 'service.name'],
  ['зона', 'зона'],
  ['', null],
  ['two words', null],
  ['team="shop"', null],
  ['team=~', null],
  ['{team}', null],
  ['a,b', null],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), null],
])('%j is the label %j', (typed, name) => {
  expect(toLabelName(typed)).toBe(name);
});
