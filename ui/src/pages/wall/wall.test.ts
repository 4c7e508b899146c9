import { expect, it } from 'vitest';
import { NO_FILTERS, parseFilters } from '../alert-group-list/filters.ts';
import { fetchAs, isNight, parseWall, readingsOf, tilesIn, urgentQuery, wallAddress } from './wall.ts';

const NOW = Date.parse('2026-10-05T03:00:00Z');

it('an address without anything shows all open groups', () => {
  expect(parseWall('', '')).toEqual({
    views: [{ name: '', filters: NO_FILTERS }],
    secondsOfView: 20,
    night: { from: 22, to: 7 },
    token: null,
  });
});

it('an address is read as it was made', () => {
  const views = [
    { name: 'Is it us?', query: 'severity=critical&owner=none&label=team%3D%22a%26b%22' },
    { name: 'Снятые', query: 'tab=resolved&q=a%3Fb' },
  ];
  const { pathname, search, hash } = new URL(wallAddress(views, 'tk-_9'), 'https://example.org');
  const wall = parseWall(search, hash);
  expect(pathname).toBe('/wall');
  expect(wall.token).toBe('tk-_9');
  expect(wall.views).toEqual([
    { name: 'Is it us', filters: parseFilters(views[0]?.query ?? '').filters },
    { name: 'Снятые', filters: parseFilters(views[1]?.query ?? '').filters },
  ]);
  expect(wall.views[1]?.filters.q).toBe('a?b');
});

it.each([
  ['every=5', 5],
  ['every=4', 20],
  ['every=3601', 20],
  ['every=soon', 20],
  ['every=', 20],
])('the seconds of a view: %s', (search, seconds) => {
  expect(parseWall(`?${search}`, '').secondsOfView).toBe(seconds);
});

it('no more than 20 views are shown in turn, and what is no token is not sent', () => {
  const { views } = parseWall(`?${'view=a?&'.repeat(30)}`, '');
  expect(views).toHaveLength(20);
  for (const hash of ['#token=', '#token=a%0Ab', `#token=${'a'.repeat(201)}`])
    expect(parseWall('', hash).token).toBe('none');
  expect(parseWall('', '#other=a').token).toBe(null);
});

it.each([
  ['', 23, true],
  ['', 6, true],
  ['', 7, false],
  ['', 21, false],
  ['night=1-5', 1, true],
  ['night=1-5', 5, false],
  ['night=off', 23, false],
  ['night=25-7', 23, true],
  ['night=dark', 12, false],
])('at night it is dimmed: %s at %i', (search, hour, dim) => {
  expect(isNight(parseWall(`?${search}`, '').night, hour)).toBe(dim);
});

it('what fires is read by severity, before what somebody has', () => {
  const asked = readingsOf({ ...NO_FILTERS, owner: 'none' }, NOW);
  expect(asked.map(({ status, severity }) => [status, severity])).toEqual([
    [['firing'], ['critical']],
    [['firing'], ['warning']],
    [['firing'], ['info']],
    [['acknowledged'], []],
    [['snoozed'], []],
  ]);
  expect(asked.every(({ owner }) => owner === 'none')).toBe(true);
});

it('nothing is read that the view leaves out', () => {
  const { filters } = parseFilters('tab=all&not_status=firing&not_status=snoozed&severity=info');
  expect(readingsOf(filters, NOW).map(({ status, severity }) => [status, severity])).toEqual([
    [['acknowledged'], ['info']],
    [['resolved'], ['info']],
  ]);
  expect(readingsOf({ ...filters, number: 7 }, NOW)).toEqual([{ number: 7, label_columns: [] }]);
});

it('what is Urgent is asked for within the view', () => {
  const { filters } = parseFilters('tab=all&not_status=resolved&severity=warning&unclaimed=true');
  expect(urgentQuery(filters, NOW)).toMatchObject({
    status: ['firing'],
    severity: ['warning'],
    urgent: true,
    unclaimed: true,
  });
  for (const search of ['tab=snoozed', 'not_status=firing', 'urgent=false', 'number=7'])
    expect(urgentQuery(parseFilters(search).filters, NOW)).toBe(null);
});

it('as many tiles as there is room for, one at least', () => {
  const tile = { width: 300, height: 100 };
  expect([tilesIn(0, 0, tile), tilesIn(650, 350, tile), tilesIn(1e5, 1e5, tile)]).toEqual([1, 6, 120]);
});

it('requests of a screen carry its token and no cookie', async () => {
  const sent: RequestInit[] = [];
  const fetch = fetchAs('tk', async (_, init) => {
    sent.push(init ?? {});
    return new Response();
  });
  await fetch('/api', { headers: { Accept: 'application/json' }, credentials: 'same-origin' });
  expect(sent[0]?.credentials).toBe('omit');
  expect([...new Headers(sent[0]?.headers)]).toEqual([
    ['accept', 'application/json'],
    ['authorization', 'Bearer tk'],
  ]);
});
