import { beforeEach, describe, expect, test } from 'vitest';
import type { StatisticsReader } from '../../../actors/alert-group/reading/readers.ts';
import {
  DAY,
  formatInstant,
  HOUR,
  MINUTE,
  type Micros,
  parseInstant,
  SECOND,
} from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createStatisticsReader } from '../../../storage/alert-groups/alert-groups.ts';
import { firstStart, insertGroup, NOW, readDirectory, stoppedClock } from '../../../test/configuration.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { MOST_DAYS, statisticsOperations } from './statistics.ts';

const NO_DURATIONS = { count: 0, median: null, p90: null, p95: null, p99: null };

const database = useDatabase();
const DISK = 'RT000000000001';
const ZOO = 'NT000000000001';
const ANT = 'NT000000000002';

let api: OperationClient;
let defaultRoute: string;

beforeEach(async () => {
  await firstStart(database.sql());
  await insertRoute(DISK, 'Disk', null);
  await insertIntegration(ZOO, 'zoo', null);
  await insertIntegration(ANT, 'Ant', null);
  await readAgain();
});

/** After the configuration was changed by hand. */
async function readAgain(): Promise<void> {
  const sql = database.sql();
  const directory = await readDirectory(sql);
  defaultRoute = directory.current().routes.at(-1)?.id ?? '';
  const operations = statisticsOperations({ statistics: createStatisticsReader(sql) });
  api = operationClient({ operations, directory, clock: stoppedClock });
}

async function insertRoute(id: string, name: string, deletedAt: Micros | null): Promise<void> {
  await database.sql()`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at, deleted_at
    ) values (${id}, 1, 1, false, ${name}, '', '[]', false, '[]', '[]', '{}', ${NOW}, ${deletedAt})`;
}

async function insertIntegration(id: string, name: string, deletedAt: Micros | null): Promise<void> {
  await database.sql()`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at, deleted_at
    ) values (${id}, 1, false, ${name}, '', '{}', 45, false, 300, ${NOW}, ${deletedAt})`;
}

interface Given {
  readonly at?: Micros;
  readonly route?: string;
  readonly integrations?: readonly string[];
  /** How long after the start, µs. */
  readonly acknowledged?: number;
  readonly resolved?: number;
  readonly alertname?: string;
  readonly reopened?: number;
  /** Who made the first Acknowledge, and who resolved. */
  readonly by?: string;
  readonly resolver?: { readonly kind: 'user' | 'service_account'; readonly id: string };
}

async function started({
  at = NOW - HOUR,
  route = DISK,
  integrations = [ZOO],
  ...after
}: Given): Promise<void> {
  const sql = database.sql();
  const id = await insertGroup(sql, {
    routeId: route,
    integrationIds: integrations,
    status: after.resolved === undefined ? 'firing' : 'resolved',
  });
  const { acknowledged = null, resolved = null, alertname = null, reopened = 0 } = after;
  const { by = null, resolver = null } = after;
  await sql`
    update alert_groups set
      started_at = ${at}, resolved_at = ${at}::bigint + ${resolved}::bigint,
      first_acknowledged_at = ${at}::bigint + ${acknowledged}::bigint, reopen_count = ${reopened},
      first_acknowledged_by = ${by}, resolver = ${resolver && JSON.stringify(resolver)}::text::jsonb,
      resolved_by = case when ${resolver !== null} then 'user' else resolved_by end,
      common_labels = json_strip_nulls(json_build_object('alertname', ${alertname}::text))
    where id = ${id}`;
}

const read = (query: string) => api.get(`/alert-group-statistics?${query}`);
/** Percentiles that are all the same. */
function all(seconds: number | null) {
  return { median_seconds: seconds, p90_seconds: seconds, p95_seconds: seconds, p99_seconds: seconds };
}
const items = async (query: string) => (await read(query)).body.items;
const at = (text: string) => parseInstant(text) as Micros;
const none = { count: 0, ...all(null) };

function errorsOf({ status, body }: Answered) {
  const errors: readonly { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

describe('durations', () => {
  test('are percentiles by linear interpolation, rounded to seconds', async () => {
    for (const minutes of [1, 2, 4, 8]) await started({ acknowledged: minutes * MINUTE });
    await started({ acknowledged: 0, resolved: 10 * SECOND });
    await started({ resolved: 25.4 * SECOND });
    const [disk] = await items('group_by=route');
    expect(disk).toMatchObject({
      subject: { id: DISK, name: 'Disk' },
      alert_group_count: 6,
      // 0, 60, 120, 240, 480: position 0.9 × 4 and those after it lie between the last two.
      time_to_acknowledge: {
        ...{ count: 5, median_seconds: 120, p90_seconds: 384, p95_seconds: 432, p99_seconds: 470 },
      },
      // 10 and 25.4: halfway 17.7, at 0.95 24.63.
      time_to_resolve: { count: 2, median_seconds: 18, p90_seconds: 24, p95_seconds: 25, p99_seconds: 25 },
    });
  });

  test('count each group once that was ever acknowledged, and the resolved ones of now', async () => {
    await started({ acknowledged: MINUTE, resolved: HOUR });
    await started({});
    expect((await items('group_by=route'))[0]).toMatchObject({
      alert_group_count: 2,
      time_to_acknowledge: { count: 1, ...all(60) },
      time_to_resolve: { count: 1, ...all(3600) },
    });
  });
});

describe('days', () => {
  const midnight = at('2026-09-20T22:00:00Z');
  const range = 'from=2026-09-18T00:00:00Z&to=2026-09-22T00:00:00Z';

  test('are the dates of the zone that have any, ascending, each with its own figures', async () => {
    await started({ at: midnight, resolved: MINUTE });
    await started({ at: midnight - 1, acknowledged: SECOND });
    await started({ at: midnight - 2 * DAY });
    const perDay = (zone: string) =>
      items(`group_by=route&${range}&time_zone=${zone}`).then(([disk]) => disk.per_day);
    expect(await perDay('Europe/Berlin')).toEqual([
      { date: '2026-09-19', alert_group_count: 1, time_to_acknowledge: none, time_to_resolve: none },
      {
        date: '2026-09-20',
        alert_group_count: 1,
        time_to_acknowledge: { count: 1, ...all(1) },
        time_to_resolve: none,
      },
      {
        date: '2026-09-21',
        alert_group_count: 1,
        time_to_acknowledge: none,
        time_to_resolve: { count: 1, ...all(60) },
      },
    ]);
    const dates = (zone: string) =>
      perDay(zone).then((days) => days.map(({ date }: { date: string }) => date));
    expect(await dates('UTC')).toEqual(['2026-09-18', '2026-09-20']);
    expect(await dates('Pacific/Auckland')).toEqual(['2026-09-19', '2026-09-21']);
  });

  test("are the Organization's without a zone", async () => {
    await started({ at: midnight });
    await database.sql()`update organization set settings = settings || '{"time_zone": "Asia/Tokyo"}'`;
    await readAgain();
    const [disk] = await items(`group_by=route&${range}`);
    expect(disk.per_day).toMatchObject([{ date: '2026-09-21' }]);
  });
});

test('hours of the week are those of the zone, a group with Alerts of two Integrations counts once', async () => {
  // Both start between 2:00 and 3:00 on the Sunday on which Berlin has that hour twice.
  for (const start of ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-26T22:59:59Z'])
    await started({ at: at(start), integrations: [ZOO, ANT] });
  const hours = async (zone: string) => {
    const range = 'from=2026-10-24T00:00:00Z&to=2026-10-28T00:00:00Z';
    return (await read(`group_by=integration&${range}&time_zone=${zone}`)).body.per_hour;
  };
  expect(await hours('Europe/Berlin')).toEqual([
    { weekday: 1, hour: 23, alert_group_count: 1 },
    { weekday: 7, hour: 2, alert_group_count: 2 },
  ]);
  expect(await hours('Asia/Kathmandu')).toEqual([
    { weekday: 2, hour: 4, alert_group_count: 1 },
    { weekday: 7, hour: 6, alert_group_count: 1 },
    { weekday: 7, hour: 7, alert_group_count: 1 },
  ]);
});

describe('the noisiest alert names', () => {
  const noise = (count: number, reopened = 0, acknowledged = 0, self = 0) => ({
    ...{ alert_group_count: count, reopen_count: reopened },
    ...{ acknowledged_count: acknowledged, self_resolved_count: self },
  });

  test('say how often groups started, reopened, were acknowledged and resolved by themselves', async () => {
    await started({ alertname: 'Disk', reopened: 2, acknowledged: MINUTE, resolved: HOUR });
    await started({ alertname: 'Disk', reopened: 1, resolved: HOUR, integrations: [ZOO, ANT] });
    await started({ alertname: 'CPU' });
    await started({ resolved: HOUR });
    const { noisiest, noisiest_rest } = (await read('group_by=integration')).body;
    expect(noisiest).toEqual([
      { alert_name: 'Disk', ...noise(2, 3, 1, 1) },
      { alert_name: 'CPU', ...noise(1) },
    ]);
    expect(noisiest_rest).toEqual({ alert_name_count: 0, ...noise(1, 0, 0, 1) });
  });

  test('are ten, the rest is summed; those of other Routes and other days do not count', async () => {
    for (let name = 10; name < 22; name++) await started({ alertname: `N${name}`, reopened: 1 });
    await started({ alertname: 'N21' });
    await started({ alertname: 'N20', route: defaultRoute });
    await started({ alertname: 'N20', at: NOW - 8 * DAY });
    const { noisiest, noisiest_rest } = (await read(`group_by=route&route=${DISK}`)).body;
    const names = noisiest.map(({ alert_name }: { alert_name: string }) => alert_name).join(' ');
    expect(names).toBe('N21 N10 N11 N12 N13 N14 N15 N16 N17 N18');
    expect(noisiest_rest).toEqual({ alert_name_count: 2, ...noise(2, 2) });
  });

  test('are none in a quiet time', async () => {
    const { noisiest, noisiest_rest } = (await read('group_by=route')).body;
    expect([noisiest, noisiest_rest]).toEqual([[], { alert_name_count: 0, ...noise(0) }]);
  });
});

test('people have what they acknowledged first and what they resolved; others are summed', async () => {
  const [ann, bob] = ['SR00000000000A', 'SR00000000000B'];
  await database.sql()`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at) values
      (${ann}, 1, 'ann', 'ann', 'Ann', 'responder', 'local', 'active', 0),
      (${bob}, 1, 'bob', 'bob', 'Bob', 'responder', 'local', 'deleted', 0)`;
  await readAgain();
  const resolved = { resolved: HOUR, resolver: { kind: 'user', id: bob } } as const;
  await started({ acknowledged: 2 * MINUTE, by: ann, ...resolved });
  await started({ acknowledged: 4 * MINUTE, by: ann, integrations: [ZOO, ANT] });
  await started({ acknowledged: MINUTE });
  await started({ resolved: HOUR, resolver: { kind: 'service_account', id: 'SA000000000001' } });
  await started({ resolved: HOUR });
  const { by_person, by_person_rest } = (await read('group_by=integration')).body;
  expect(by_person).toEqual([
    {
      user: { id: ann, name: 'Ann', login: 'ann', deactivated: false },
      ...{ acknowledged_count: 2, resolved_count: 0, time_to_acknowledge_median_seconds: 180 },
    },
    {
      user: { id: bob, name: 'Bob', login: 'bob', deactivated: true },
      ...{ acknowledged_count: 0, resolved_count: 1, time_to_acknowledge_median_seconds: null },
    },
  ]);
  expect(by_person_rest).toEqual({ person_count: 0, acknowledged_count: 1, resolved_count: 1 });
});

test('names and people of a long period are those of its last 92 days', async () => {
  await started({ alertname: 'Disk', at: NOW - 92 * DAY });
  await started({ alertname: 'Disk', at: NOW - 92 * DAY - 1 });
  const of = async (from: number) =>
    (await read(`group_by=route&from=${formatInstant(from)}&to=${formatInstant(NOW)}`)).body;
  const long = await of(NOW - 93 * DAY);
  expect(long.lists_from).toBe(formatInstant(NOW - 92 * DAY));
  expect(long.noisiest).toMatchObject([{ alert_name: 'Disk', alert_group_count: 1 }]);
  expect(long.noisiest_rest.alert_group_count).toBe(0);
  const short = await of(NOW - 91 * DAY);
  expect(short.lists_from).toBe(short.from);
});

describe('the period', () => {
  test('is the last 7 days, its end not included', async () => {
    await started({ at: NOW - 7 * DAY });
    await started({ at: NOW - 7 * DAY - 1 });
    await started({ at: NOW });
    const { body } = await read('group_by=route');
    expect(body).toMatchObject({
      group_by: 'route',
      from: formatInstant(NOW - 7 * DAY),
      to: formatInstant(NOW),
    });
    expect(body.items[0].alert_group_count).toBe(1);
  });

  test.each([
    ['from=2026-09-01T00:00:00Z', ['2026-09-01T00:00:00Z', formatInstant(NOW)]],
    ['to=2026-09-01T00:00:00Z', ['2026-08-25T00:00:00Z', '2026-09-01T00:00:00Z']],
    ['from=2030-09-01T00:00:00Z', ['2030-09-01T00:00:00Z', '2030-09-08T00:00:00Z']],
    ['from=9999-12-30T00:00:00Z', ['9999-12-30T00:00:00Z', '9999-12-31T23:59:59Z']],
    ['to=0000-01-02T00:00:00Z', ['0000-01-01T00:00:00Z', '0000-01-02T00:00:00Z']],
  ])('with %s only', async (query, expected) => {
    const { body } = await read(`group_by=route&${query}`);
    expect([body.from, body.to]).toEqual(expected);
  });
});

describe('items', () => {
  const names = async (query: string) =>
    (await items(query)).map(
      ({ subject, alert_group_count }: { subject: { name: string }; alert_group_count: number }) => [
        subject.name,
        alert_group_count,
      ],
    );

  test('are all Routes in evaluation order, groups under their present one', async () => {
    await started({ route: defaultRoute });
    expect(await names('group_by=route')).toEqual([
      ['Disk', 0],
      ['Default', 1],
    ]);
    expect((await items('group_by=route'))[0]).toEqual({
      subject: { id: DISK, name: 'Disk' },
      alert_group_count: 0,
      time_to_acknowledge: none,
      time_to_resolve: none,
      per_day: [],
    });
  });

  test('have their days until there are too many in one answer', async () => {
    const figures = { groupCount: 1, timeToAcknowledge: NO_DURATIONS, timeToResolve: NO_DURATIONS };
    const days = new Array(MOST_DAYS / 2 + 1).fill({ ...figures, date: '2026-09-21' });
    const reader = createStatisticsReader(database.sql());
    const statistics: StatisticsReader = {
      read: async (query) => ({
        ...(await reader.read(query)),
        subjects: [DISK, defaultRoute].map((subjectId) => ({
          ...figures,
          subjectId: subjectId as PublicId,
          days,
        })),
      }),
    };
    const directory = await readDirectory(database.sql());
    api = operationClient({
      operations: statisticsOperations({ statistics }),
      directory,
      clock: stoppedClock,
    });
    const [first, second] = await items('group_by=route');
    expect(first.per_day).toHaveLength(days.length);
    expect(second).toMatchObject({ alert_group_count: 1, per_day: null });
  });

  test('are all Integrations by name; a group with Alerts of two counts for both', async () => {
    await started({ integrations: [ZOO, ANT] });
    await started({ integrations: [ZOO] });
    const found = await names('group_by=integration');
    expect(found.filter(([, count]: [string, number]) => count > 0)).toEqual([
      ['Ant', 1],
      ['zoo', 2],
    ]);
    // The built-in one is among them.
    expect(found.length).toBe(3);
  });

  test('of what is deleted come last, and only when it has any', async () => {
    await insertRoute('RT000000000002', 'Gone', NOW);
    await insertRoute('RT000000000003', 'Forgotten', NOW);
    await readAgain();
    await started({ route: 'RT000000000002' });
    expect(await names('group_by=route')).toEqual([
      ['Disk', 0],
      ['Default', 0],
      ['Gone', 1],
    ]);
  });

  test('may be chosen; unknown ones match nothing', async () => {
    await started({ integrations: [ZOO, ANT] });
    expect(await names(`group_by=route&route=${DISK}&route=${defaultRoute}`)).toEqual([
      ['Disk', 1],
      ['Default', 0],
    ]);
    expect(await names(`group_by=integration&integration=${ANT}`)).toEqual([['Ant', 1]]);
    expect(await names('group_by=route&route=RT00000000ZZZZ')).toEqual([]);
  });
});

test.each([
  ['', [400, 'required /query/group_by']],
  ['group_by=team', [400, 'invalid_format /query/group_by']],
  ['group_by=route&route=x', [400, 'invalid_format /query/route/0']],
  ['group_by=route&from=yesterday', [400, 'invalid_format /query/from']],
  [`group_by=route&integration=${ZOO}`, [422, 'unsupported /query/integration']],
  [`group_by=integration&route=${DISK}`, [422, 'unsupported /query/route']],
  ['group_by=route&time_zone=Mars/Olympus', [422, 'invalid_format /query/time_zone']],
  ['group_by=route&time_zone=%2B02:00', [422, 'invalid_format /query/time_zone']],
  ['group_by=route&from=2026-09-01T00:00:00Z&to=2026-09-01T00:00:00Z', [422, 'out_of_range /query/to']],
])('refuses "%s"', async (query, expected) => {
  expect(errorsOf(await read(query))).toEqual(expected);
});

test('everybody who reads Alert Groups reads their statistics', async () => {
  expect((await api.as('viewer').get('/alert-group-statistics?group_by=route')).status).toBe(200);
});
