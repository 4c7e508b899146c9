/** Statistics as the service would count them, from a row of numbers that looks like work. */
import type { DayFigures, DurationFigures, Statistics } from '../src/api/system.ts';
import { addDays, toZonedDate } from '../src/time/zoned.ts';
import type { MockData } from './mock-data.ts';

const WEEK = [4, 0, 7, 12, 3, 1, 0, 9, 2, 5];

export function mockStatistics(data: MockData, query: URLSearchParams): Statistics {
  const by = query.get('group_by') === 'integration' ? 'integration' : 'route';
  const zone = query.get('time_zone') ?? 'UTC';
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''];
  const wanted = query.getAll(by);
  const subjects = (by === 'route' ? data.routes : data.integrations).filter(
    ({ id }) => wanted.length === 0 || wanted.includes(id),
  );
  const first = toZonedDate(Date.parse(from), zone);
  const end = toZonedDate(Date.parse(to), zone);
  const items = subjects.map(({ id, name }, index) => {
    const perDay: DayFigures[] = [];
    for (let date = first, n = index; date < end; date = addDays(date, 1), n += 1) {
      const count = data.groups.length === 0 || index === 1 ? 0 : WEEK[n % WEEK.length]! * (index + 1);
      if (count > 0) perDay.push(dayOf(date, count, n));
    }
    const total = perDay.reduce((sum, day) => sum + day.alert_group_count, 0);
    return { subject: { id, name }, ...dayOf('', total, index), per_day: perDay };
  });
  return { group_by: by, from, to, items };
}

function dayOf(date: string, count: number, n: number): DayFigures {
  return {
    date,
    alert_group_count: count,
    time_to_acknowledge: durations(Math.floor(count * 0.8), 90 + n * 73),
    time_to_resolve: durations(count, 1_800 + n * 911),
  };
}

function durations(count: number, median: number): DurationFigures {
  return count === 0
    ? { count, median_seconds: null, p95_seconds: null }
    : { count, median_seconds: median, p95_seconds: median * 3 };
}
