import { describe, expect, it } from 'vitest';
import type { StatisticsItem } from '../../api/statistics.ts';
import {
  everyDay,
  itemCells,
  nextSort,
  noiseCells,
  personCells,
  sorted,
  toCsv,
  totalCount,
  weekCells,
  weekOf,
} from './figures.ts';

const item = (name: string, count: number, median: number | null): StatisticsItem => ({
  subject: { id: name, name },
  alert_group_count: count,
  time_to_acknowledge: {
    count: median === null ? 0 : 2,
    median_seconds: median,
    p90_seconds: median && median + 1,
    p95_seconds: median && median + 2,
    p99_seconds: median && median + 3,
  },
  time_to_resolve: {
    count: 0,
    median_seconds: null,
    p90_seconds: null,
    p95_seconds: null,
    p99_seconds: null,
  },
  per_day: [],
});
const ITEMS = [item('Payments', 3, 600), item('Default', 0, null), item('Platform', 12, 90)];
const names = (items: readonly StatisticsItem[]) => items.map(({ subject }) => subject.name);

describe('the order of rows', () => {
  it('is the service’s until a column is chosen', () => {
    expect(names(sorted(ITEMS, null, 'en'))).toEqual(['Payments', 'Default', 'Platform']);
  });

  it.each([
    ['ack_median', false, ['Platform', 'Payments', 'Default']],
    ['ack_median', true, ['Payments', 'Platform', 'Default']],
    ['count', true, ['Platform', 'Payments', 'Default']],
    ['name', false, ['Default', 'Payments', 'Platform']],
  ] as const)('by %s, descending %s, keeps what has no number last', (column, descending, order) => {
    expect(names(sorted(ITEMS, { column, descending }, 'en'))).toEqual(order);
  });

  it('goes round: largest first, smallest first, the service’s', () => {
    const first = nextSort(null, 'count');
    expect(first).toEqual({ column: 'count', descending: true });
    expect(nextSort(first, 'count')).toEqual({ column: 'count', descending: false });
    expect(nextSort(nextSort(first, 'count'), 'count')).toBeNull();
    expect(nextSort(first, 'name')).toEqual({ column: 'name', descending: false });
  });
});

it('shows every day, those without an Alert Group too', () => {
  const day = { ...item('', 4, 60), date: '2026-03-01' };
  const days = everyDay([day], { first: '2026-02-27', last: '2026-03-02' });
  expect(days.map(({ date, alert_group_count }) => [date, alert_group_count])).toEqual([
    ['2026-02-27', 0],
    ['2026-02-28', 0],
    ['2026-03-01', 4],
    ['2026-03-02', 0],
  ]);
});

it('adds up', () => {
  expect(totalCount(ITEMS)).toBe(15);
});

describe('the week', () => {
  const hour = (weekday: number, hour: number, alert_group_count: number) => ({
    ...{ weekday, hour, alert_group_count },
  });

  it('has every hour of every day from Monday', () => {
    const { days, hours, counts, top } = weekOf([hour(1, 0, 2), hour(7, 23, 5)], 'en');
    expect([days.length, hours.length]).toEqual([7, 24]);
    expect([days[0]?.full, days[6]?.short, hours[9]?.full]).toEqual(['Monday', 'Sun', '09:00']);
    expect([counts[0]?.[0], counts[6]?.[23], counts.flat().reduce((sum, one) => sum + one)]).toEqual([
      2, 5, 7,
    ]);
    expect(top).toBe(5);
  });

  it('names the first of the busiest hours, and none of a quiet week', () => {
    const { busiest } = weekOf([hour(2, 9, 5), hour(3, 9, 5)], 'ru');
    expect(busiest).toEqual({ count: 5, when: { day: 'вторник', hour: '09:00' } });
    expect(weekOf([], 'en').busiest).toBeNull();
  });
});

describe('the CSV', () => {
  it('is one that a spreadsheet reads as text and numbers', () => {
    const heads = { name: 'Route', count: 'n' } as Parameters<typeof itemCells>[1];
    const csv = toCsv([itemCells([item('=cmd(), "x"', 3, 600)], heads)]);
    expect(csv.split('\r\n').slice(1)).toEqual([`"'=cmd(), ""x""",3,2,600,601,602,603,0,,,,`, '']);
  });

  it('has every hour of the week', () => {
    const week = weekOf([{ weekday: 2, hour: 1, alert_group_count: 5 }], 'en');
    const [heads, , tuesday, ...others] = weekCells(week, 'Day');
    expect(heads?.slice(0, 3)).toEqual(['Day', '00:00', '01:00']);
    expect(tuesday?.slice(0, 4)).toEqual(['Tuesday', '0', '5', '0']);
    expect([tuesday?.length, others.length]).toEqual([25, 5]);
  });

  it('has the noisiest names and what is left, if anything is, after an empty line', () => {
    const figures = (alert_group_count: number) => ({
      ...{ alert_group_count, reopen_count: 2, acknowledged_count: 1, self_resolved_count: 0 },
    });
    const noise = (rest: number) => ({
      noisiest: [{ alert_name: '@Disk', ...figures(3) }],
      noisiest_rest: { alert_name_count: 0, ...figures(rest) },
    });
    expect(toCsv([[['n']], noiseCells(noise(4), 'Rest')])).toBe(
      "n\r\n\r\n'@Disk,3,2,1,0\r\nRest,4,2,1,0\r\n",
    );
    expect(noiseCells(noise(0), 'Rest')).toEqual([['@Disk', '3', '2', '1', '0']]);
  });

  it('has people, who is deleted is marked, and what is left, if anything is', () => {
    const person = (name: string, deactivated: boolean) => ({
      user: { id: name, name, login: name, deactivated },
      ...{ acknowledged_count: 2, resolved_count: 1, time_to_acknowledge_median_seconds: null },
    });
    const people = (acknowledged_count: number) => ({
      by_person: [person('Ann', false), person('Bob', true)],
      by_person_rest: { person_count: 0, acknowledged_count, resolved_count: 0 },
    });
    const words = { rest: 'Rest', gone: '(gone)' };
    expect(personCells(people(3), words)).toEqual([
      ['Ann', '2', '1', ''],
      ['Bob (gone)', '2', '1', ''],
      ['Rest', '3', '0', ''],
    ]);
    expect(personCells(people(0), words)).toHaveLength(2);
  });
});
