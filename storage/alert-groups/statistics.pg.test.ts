import { Temporal } from 'temporal-polyfill';
import { beforeEach, expect, test } from 'vitest';
import {
  type Durations,
  type Figures,
  MOST_NOISY,
  MOST_PEOPLE,
  type StatisticsFigures,
  type StatisticsQuery,
  type StatisticsSubject,
  type SubjectFigures,
} from '../../actors/alert-group/reading/readers.ts';
import { dateAt } from '../../actors/wall-clock.ts';
import { DAY, MINUTE, type Micros, parseInstant } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createStatisticsReader } from './statistics.ts';

const database = useDatabase();
const at = (text: string) => parseInstant(text) as Micros;
const FIRST = at('2025-09-01T00:00:00Z');
const SPAN = 400 * DAY;
const ROUTES = ['RT000000000001', 'RT000000000002', 'RT000000000003'] as PublicId[];
const INTEGRATIONS = ['NT000000000001', 'NT000000000002', 'NT000000000003'] as PublicId[];

beforeEach(async () => {
  const sql = database.sql();
  await sql`delete from alert_groups`;
  await sql`delete from users`;
  const people = PEOPLE.map((id) => ({ id, name: nameOfPerson(id) }));
  await sql`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    select id, 1, id, id, name, 'responder', 'local', 'active', 0
    from jsonb_to_recordset(${JSON.stringify(people)}::text::jsonb) as one (id text, name text)`;
});

interface Group {
  readonly startedAt: Micros;
  readonly routeId: PublicId;
  readonly integrationIds: readonly PublicId[];
  readonly acknowledgedAt: Micros | null;
  readonly resolvedAt: Micros | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly resolvedBy: 'user' | 'system';
  readonly reopenCount: number;
  /** Of the first Acknowledge; null when it is not kept. */
  readonly acknowledgedBy: PublicId | null;
  readonly resolver: { readonly kind: 'user' | 'service_account'; readonly id: PublicId };
}

/** More than are listed, by their number. Names are those of others, too, and in another order. */
const PEOPLE = Array.from({ length: 70 }, (_, index) => `SR${String(index).padStart(12, '0')}` as PublicId);
const nameOfPerson = (id: PublicId) => `Ann ${'zyxw'[PEOPLE.indexOf(id) % 4]}`;

/** Some as often as others, so that names decide; what cannot be shown is none. */
const NAMES = [
  'Disk',
  'disk',
  'CPU',
  'Über',
  'Очередь',
  '磁盘',
  'a b',
  '"q"',
  'Z',
  'Z1',
  'Z2',
  'x'.repeat(1000),
];
const NO_NAMES: readonly Group['labels'][] = [{}, { alertname: '' }, { alertname: 'x'.repeat(1001) }];

test('figures are those of a naive computation, whatever is asked', async () => {
  const random = randomOf(20_260_901);
  const groups = Array.from({ length: 4000 }, () => someGroup(random));
  // What stands out: equal durations, none, one that takes years, the ends of the period and of days.
  for (const startedAt of [FIRST, FIRST + SPAN - 1, ...localMidnights()]) {
    for (const offset of [-1, 0, 1]) {
      const start = Math.max(FIRST, startedAt + offset);
      const group = { ...someGroup(random), startedAt: start, acknowledgedAt: start, resolvedAt: null };
      groups.push(group, { ...group, acknowledgedAt: null, resolvedAt: start + 3000 * DAY + 1 });
    }
  }
  await insert(groups);
  const reader = createStatisticsReader(database.sql());
  const periods = [
    { from: 0, to: FIRST + 2 * SPAN },
    { from: FIRST, to: FIRST + SPAN },
    { from: FIRST + 100 * DAY + 1, to: FIRST + 107 * DAY },
    { from: FIRST + 2 * SPAN, to: FIRST + 3 * SPAN },
  ];
  const asked = periods.flatMap((period) =>
    ['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu'].flatMap((timeZone) => [
      { ...period, timeZone, groupBy: 'route' as const, subjectIds: [] },
      { ...period, timeZone, groupBy: 'integration' as const, subjectIds: [] },
      { ...period, timeZone, groupBy: 'route' as const, subjectIds: ROUTES.slice(1) },
      { ...period, timeZone, groupBy: 'integration' as const, subjectIds: INTEGRATIONS.slice(0, 1) },
    ]),
  );
  // All at once: they wait for each other.
  const answers = await Promise.all(asked.map((query) => reader.read(query)));
  for (const [index, query] of asked.entries()) {
    const { subjects, weekHours, listsFrom, people, peopleRest, ...noise } = answers[
      index
    ] as StatisticsFigures;
    const listed = { ...query, from: Math.max(query.from, query.to - 92 * DAY) };
    const sorted = subjects.toSorted((one, two) => (one.subjectId < two.subjectId ? -1 : 1));
    expect(sorted).toEqual(naive(groups, query));
    expect(weekHours).toEqual(naiveWeek(groups, query));
    expect(listsFrom).toBe(listed.from);
    expect(noise).toEqual(naiveNoise(groups, listed));
    expect({ people, peopleRest }).toEqual(naivePeople(groups, listed));
  }
  expect(answers[0]?.subjects[0]?.days.length).toBeGreaterThan(300);
});

test('a reading that fails does not keep the next one waiting', async () => {
  const reader = createStatisticsReader(database.sql());
  const query = { groupBy: 'route', subjectIds: [], from: 0, to: FIRST + SPAN } as const;
  await insert([{ ...someGroup(randomOf(1)), startedAt: FIRST }]);
  const refused = reader.read({ ...query, timeZone: 'Mars/Olympus' });
  const read = reader.read({ ...query, timeZone: 'UTC' });
  await expect(refused).rejects.toThrow(RangeError);
  expect((await read).weekHours.reduce((sum, count) => sum + count)).toBeGreaterThan(0);
});

/** Berlin's days around the changes of its clocks, Santiago's midnight that is skipped. */
function localMidnights(): Micros[] {
  return [
    '2025-10-25T22:00:00Z',
    '2025-10-26T23:00:00Z',
    '2026-03-28T23:00:00Z',
    '2026-03-29T22:00:00Z',
    '2025-09-07T04:00:00Z',
  ].map(at);
}

function someGroup(random: () => number): Group {
  const startedAt = FIRST + Math.floor(random() * SPAN);
  // Some durations come again and again, in whole minutes.
  const duration = () => (random() < 0.3 ? Math.floor(random() * 4) * MINUTE : -Math.log(1 - random()) * DAY);
  const later = () => (random() < 0.4 ? null : startedAt + Math.floor(duration()));
  const one = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  return {
    ...{ startedAt, acknowledgedAt: later(), resolvedAt: later() },
    routeId: ROUTES[random() < 0.95 ? 0 : random() < 0.99 ? 1 : 2] as PublicId,
    integrationIds: INTEGRATIONS.filter(() => random() < 0.5),
    labels: random() < 0.9 ? { alertname: one(NAMES) } : one(NO_NAMES),
    resolvedBy: one(['user', 'system']),
    reopenCount: one([0, 0, 1, 7]),
    acknowledgedBy: random() < 0.9 ? one(PEOPLE) : null,
    resolver: { kind: random() < 0.8 ? 'user' : 'service_account', id: one(PEOPLE) },
  };
}

/** Numbers from 0 to 1, the same ones at every run (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function insert(groups: readonly Group[]): Promise<void> {
  const sql = database.sql();
  const rows = groups.map((group, index) => ({
    ...group,
    id: `AG${String(index).padStart(12, '0')}`,
    index,
  }));
  await sql`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, started_at, resolved_at, first_acknowledged_at,
      last_changed_at, resolved_by, reopen_count, firing_alert_count, resolved_alert_count, unclaimed,
      delivery_problem, in_grace, first_acknowledged_by, resolver
    )
    select
      id, index, 'Disk full', case when "resolvedAt" is null then 'firing' else 'resolved' end, "routeId", "routeId",
      id, '{}', labels, '{}', "integrationIds", 'info', "startedAt", "resolvedAt", "acknowledgedAt", "startedAt",
      case when "resolvedAt" is not null then "resolvedBy" end, "reopenCount", 1, 0, false, false, false,
      case when "acknowledgedAt" is not null then "acknowledgedBy" end,
      case when "resolvedAt" is not null and "resolvedBy" = 'user' then resolver end
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as one (
      id text, index bigint, "routeId" text, "integrationIds" text[], "startedAt" bigint, "resolvedAt" bigint,
      "acknowledgedAt" bigint, labels jsonb, "resolvedBy" text, "reopenCount" integer,
      "acknowledgedBy" text, resolver jsonb
    )`;
}

/** Row by row, sorted, and the date as the wall shows it. */
function naive(groups: readonly Group[], query: StatisticsQuery): SubjectFigures[] {
  const found = groups
    .filter(({ startedAt }) => startedAt >= query.from && startedAt < query.to)
    .map((group) => ({ ...group, date: dateAt(query.timeZone, group.startedAt).toString() }));
  return SUBJECTS[query.groupBy].flatMap((subjectId) => {
    if (query.subjectIds.length > 0 && !query.subjectIds.includes(subjectId)) return [];
    const own = found.filter(
      ({ routeId, integrationIds }) => routeId === subjectId || integrationIds.includes(subjectId),
    );
    if (own.length === 0) return [];
    const dates = [...new Set(own.map(({ date }) => date))].sort();
    const days = dates.map((date) => ({ date, ...figuresOf(own.filter((one) => one.date === date)) }));
    return [{ subjectId, ...figuresOf(own), days }];
  });
}

/** Each group once. */
function counted(groups: readonly Group[], { groupBy, subjectIds, from, to }: StatisticsQuery): Group[] {
  return groups.filter(({ startedAt, routeId, integrationIds }) => {
    const own = groupBy === 'route' ? [routeId] : integrationIds;
    const isWanted = own.some((id) => subjectIds.length === 0 || subjectIds.includes(id));
    return startedAt >= from && startedAt < to && isWanted;
  });
}

/** Under what the clock on the wall shows. */
function naiveWeek(groups: readonly Group[], query: StatisticsQuery): number[] {
  const hours = Array.from({ length: 168 }, () => 0);
  const { timeZone } = query;
  for (const { startedAt } of counted(groups, query)) {
    const local = new Temporal.ZonedDateTime(BigInt(startedAt) * 1000n, timeZone);
    const index = (local.dayOfWeek - 1) * 24 + local.hour;
    hours[index] = (hours[index] ?? 0) + 1;
  }
  return hours;
}

/** One name after the other. The order of these names as strings is that of their code points. */
function naiveNoise(groups: readonly Group[], query: StatisticsQuery) {
  const found = counted(groups, query);
  const nameOf = ({ labels }: Group) => NAMES.find((name) => name === labels.alertname);
  const named = NAMES.flatMap((alertName) => {
    const own = found.filter((group) => nameOf(group) === alertName);
    return own.length === 0 ? [] : [{ alertName, ...noiseOf(own) }];
  });
  named.sort((one, two) => two.groupCount - one.groupCount || (one.alertName < two.alertName ? -1 : 1));
  const noisiest = named.slice(0, MOST_NOISY);
  const others = found.filter((group) => !noisiest.some(({ alertName }) => alertName === nameOf(group)));
  return { noisiest, noisiestRest: { nameCount: named.length - noisiest.length, ...noiseOf(others) } };
}

function noiseOf(groups: readonly Group[]) {
  const unacknowledged = groups.filter(({ acknowledgedAt }) => acknowledgedAt === null);
  return {
    groupCount: groups.length,
    reopenCount: groups.reduce((sum, { reopenCount }) => sum + reopenCount, 0),
    acknowledgedCount: groups.length - unacknowledged.length,
    selfResolvedCount: unacknowledged.filter(
      ({ resolvedAt, resolvedBy }) => resolvedAt !== null && resolvedBy === 'system',
    ).length,
  };
}

/** One person after the other, then what is left of all. */
function naivePeople(groups: readonly Group[], query: StatisticsQuery) {
  const found = counted(groups, query);
  const acknowledged = found.filter((group) => group.acknowledgedAt !== null);
  const resolved = found.filter((group) => group.resolvedAt !== null && group.resolvedBy === 'user');
  const everybody = PEOPLE.flatMap((userId) => {
    const own = acknowledged.filter(({ acknowledgedBy }) => acknowledgedBy === userId);
    const ended = resolved.filter(({ resolver }) => resolver.kind === 'user' && resolver.id === userId);
    if (own.length + ended.length === 0) return [];
    const medianToAcknowledge = figuresOf(own).timeToAcknowledge.median;
    const deeds = { acknowledgedCount: own.length, resolvedCount: ended.length };
    return [{ userId, medianToAcknowledge, ...deeds }];
  });
  const place = ({ userId }: { readonly userId: PublicId }) => `${nameOfPerson(userId)} ${userId}`;
  everybody.sort(
    (one, two) => two.acknowledgedCount - one.acknowledgedCount || (place(one) < place(two) ? -1 : 1),
  );
  const people = everybody.slice(0, MOST_PEOPLE);
  const sum = (of: 'acknowledgedCount' | 'resolvedCount') => people.reduce((all, one) => all + one[of], 0);
  const peopleRest = {
    personCount: everybody.length - people.length,
    acknowledgedCount: acknowledged.length - sum('acknowledgedCount'),
    resolvedCount: resolved.length - sum('resolvedCount'),
  };
  return { people, peopleRest };
}

const SUBJECTS: Readonly<Record<StatisticsSubject, readonly PublicId[]>> = {
  route: ROUTES,
  integration: INTEGRATIONS,
};

function figuresOf(groups: readonly Group[]): Figures {
  const durations = (end: (group: Group) => Micros | null) =>
    durationsOf(
      groups.flatMap((group) => {
        const until = end(group);
        return until === null ? [] : [until - group.startedAt];
      }),
    );
  return {
    groupCount: groups.length,
    timeToAcknowledge: durations(({ acknowledgedAt }) => acknowledgedAt),
    timeToResolve: durations(({ resolvedAt }) => resolvedAt),
  };
}

function durationsOf(values: readonly number[]): Durations {
  const sorted = [...values].sort((one, two) => one - two);
  const percentile = (fraction: number) => {
    const position = fraction * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
    if (low === undefined || high === undefined) return null;
    return low + (position - Math.floor(position)) * (high - low);
  };
  const [median, p90, p95, p99] = [percentile(0.5), percentile(0.9), percentile(0.95), percentile(0.99)];
  return { count: values.length, median, p90, p95, p99 };
}
