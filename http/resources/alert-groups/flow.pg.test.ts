import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, formatInstant, HOUR, type Micros } from '../../../runtime/clock.ts';
import { createFlowReader } from '../../../storage/alert-groups/alert-groups.ts';
import { flowStatement } from '../../../storage/alert-groups/flow.ts';
import {
  firstStart,
  insertDestination,
  insertGroup,
  NOW,
  readDirectory,
  stoppedClock,
} from '../../../test/configuration.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { flowOperations } from './flow.ts';

const database = useDatabase();
const ZOO = 'NT000000000001';
const ANT = 'NT000000000002';
const DISK = 'RT000000000001';
const NET = 'RT000000000002';

let api: OperationClient;
let [chat, pager, hook] = ['', '', ''];

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  for (const table of ['alert_groups', 'deliveries', 'webhook_events']) await sql`delete from ${sql(table)}`;
  for (const [id, name] of [
    [DISK, 'Disk'],
    [NET, 'Net'],
  ] as const)
    await insertRoute(id, name);
  for (const [id, name] of [
    [ZOO, 'zoo'],
    [ANT, 'Ant'],
  ] as const) {
    await sql`
      insert into integrations (
        id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
        heartbeat_timeout_seconds, created_at
      ) values (${id}, 1, false, ${name}, '', '{}', 45, false, 300, ${NOW})`;
  }
  chat = await insertDestination(sql, 'Chat');
  pager = await insertDestination(sql, 'Pager');
  hook = await insertDestination(sql, 'Hook');
  const directory = await readDirectory(sql);
  api = operationClient({
    ...{ operations: flowOperations({ flow: createFlowReader(sql) }), directory, clock: stoppedClock },
  });
});

async function insertRoute(id: string, name: string): Promise<void> {
  await database.sql()`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at
    ) values (${id}, 1, 1, false, ${name}, '', '[]', false, '[]', '[]', '{}', ${NOW})`;
}

interface Group {
  readonly at?: Micros;
  readonly route: string;
  readonly integrations: readonly string[];
  /** Messages, by Destination. */
  readonly messages?: readonly string[];
  readonly withheld?: readonly string[];
  /** Webhooks that got two events. */
  readonly events?: readonly string[];
  readonly emptied?: boolean;
}

async function started(group: Group): Promise<void> {
  const { at = NOW - HOUR, route, integrations, messages = [], withheld = [], events = [] } = group;
  const sql = database.sql();
  const id = await insertGroup(sql, { routeId: route, integrationIds: integrations });
  await sql`
    update alert_groups set started_at = ${at}, details_removed = ${group.emptied ?? false} where id = ${id}`;
  const posted = [
    ...messages.flatMap((to) => [1, 2].map((target) => ({ to, target, state: 'delivered' }))),
    ...withheld.map((to) => ({ to, target: 1, state: 'withheld' })),
  ];
  for (const { to, target, state } of posted) {
    await sql`
      insert into deliveries (
        destination_id, subject, target, group_id, route_id, urgent, is_open, state, possible_duplicate,
        thread_not_attached, updated_at, wanted, kept
      ) values (${to}, ${id}, ${target}, ${id}, ${route}, false, true, ${state}, false, false, ${NOW}, false, '{}')`;
  }
  for (const to of events) {
    for (const sequence of [1, 2]) {
      await sql`
        insert into webhook_events (
          id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at
        ) values (
          ${`${id}${to}${sequence}`}, ${to}, ${id}, ${sequence}, 'created', false, ${NOW}, '{}', 'delivered', 0,
          false, ${NOW}
        )`;
    }
  }
}

interface Body {
  readonly alert_group_count: number;
  readonly nodes: readonly {
    readonly column: string;
    readonly kind: string;
    readonly subject: { readonly id: string; readonly name: string } | null;
    readonly deleted: boolean;
    readonly subject_count: number;
    readonly alert_group_count: number;
  }[];
  readonly links: readonly {
    readonly source: number;
    readonly target: number;
    readonly alert_group_count: number;
  }[];
}

async function read(query = ''): Promise<Body> {
  const { status, body } = await api.get(`/alert-group-flow?${query}`);
  expect(status).toBe(200);
  return body as Body;
}

const nodesOf = ({ nodes }: Body) =>
  nodes.map(({ column, kind, subject, alert_group_count: count }) => {
    return `${column} ${subject?.name ?? kind} ${count}`;
  });

const linksOf = ({ nodes, links }: Body) =>
  links.map(({ source, target, alert_group_count: count }) => {
    const [from, to] = [nodes[source], nodes[target]];
    return `${from?.subject?.name ?? from?.kind} > ${to?.subject?.name ?? to?.kind} ${count}`;
  });

test('groups count for each of their Integrations and Destinations, once whatever was sent', async () => {
  await started({ route: DISK, integrations: [ZOO, ANT], messages: [chat, pager], events: [hook] });
  await started({ route: DISK, integrations: [ZOO], messages: [chat] });
  await started({ route: NET, integrations: [ZOO], withheld: [chat] });
  await started({ route: NET, integrations: [ZOO], emptied: true });
  // An open one whose events are old enough to be gone.
  await started({ route: NET, integrations: [ZOO], at: NOW - 91 * DAY });
  const body = await read(`from=${formatInstant(NOW - 92 * DAY)}&to=${formatInstant(NOW)}`);
  expect(body.alert_group_count).toBe(5);
  expect(nodesOf(body)).toEqual([
    ...['integration zoo 5', 'integration Ant 1', 'route Net 3', 'route Disk 2'],
    ...['destination Chat 2', 'destination Hook 1', 'destination Pager 1'],
    ...['destination none 1', 'destination forgotten 2'],
  ]);
  expect(linksOf(body)).toEqual([
    ...['zoo > Net 3', 'zoo > Disk 2', 'Ant > Disk 1'],
    ...['Net > none 1', 'Net > forgotten 2', 'Disk > Chat 2', 'Disk > Hook 1', 'Disk > Pager 1'],
  ]);
});

test('what is deleted keeps its name and says so', async () => {
  const sql = database.sql();
  await started({ route: DISK, integrations: [ZOO], messages: [chat] });
  await sql`update routes set deleted_at = ${NOW} where id = ${DISK}`;
  await sql`update destinations set deleted_at = ${NOW} where id = ${chat}`;
  const { nodes } = await read();
  expect(nodes.map(({ subject, deleted }) => [subject?.name, deleted])).toEqual([
    ['zoo', false],
    ['Disk', true],
    ['Chat', true],
  ]);
});

test('a column names twelve; the others are one node with the sum', async () => {
  for (let route = 0; route < 15; route++) {
    const id = `RT0000000001${String(route).padStart(2, '0')}`;
    await insertRoute(id, `R${String(route).padStart(2, '0')}`);
    for (let turn = 0; turn < (route === 14 ? 3 : 1); turn++)
      await started({ route: id, integrations: [ZOO], messages: [chat] });
  }
  const body = await read();
  const routes = body.nodes.filter(({ column }) => column === 'route');
  expect(routes.map(({ subject }) => subject?.name ?? null).join(' ')).toBe(
    'R14 R00 R01 R02 R03 R04 R05 R06 R07 R08 R09 R10 ',
  );
  expect(routes.at(-1)).toMatchObject({ kind: 'others', subject_count: 3, alert_group_count: 3 });
  expect(linksOf(body)).toContain('zoo > others 3');
  expect(linksOf(body)).toContain('others > Chat 3');
  expect(body.links.length).toBe(26);
});

test('counts are those of a naive computation', async () => {
  let state = 7;
  const chance = (of: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * of);
  };
  const some = <Value>(values: readonly Value[]) => values.filter(() => chance(2) === 0);
  const groups = Array.from({ length: 120 }, () => ({
    at: NOW - 1 - chance(2 * DAY),
    route: [DISK, NET][chance(2)] as string,
    integrations: [[ZOO], [ANT], [ANT, ZOO]][chance(3)] as string[],
    messages: some([chat, pager]),
    events: some([hook]),
  }));
  for (const group of groups) await started(group);
  const expected = new Map<string, number>();
  const found = groups.filter(({ at }) => at >= NOW - DAY);
  for (const { route, integrations, messages, events } of found) {
    const went = [...messages, ...events];
    const pairs = [
      ...integrations.map((id) => `${id} ${route}`),
      ...(went.length === 0 ? ['none'] : went).map((id) => `${route} ${id}`),
    ];
    for (const pair of pairs) expected.set(pair, (expected.get(pair) ?? 0) + 1);
  }
  const { nodes, links, alert_group_count } = await read();
  const idAt = (place: number) => nodes[place]?.subject?.id ?? nodes[place]?.kind;
  const counted = links.map(({ source, target, alert_group_count: count }) => {
    return [`${idAt(source)} ${idAt(target)}`, count] as const;
  });
  expect(alert_group_count).toBe(found.length);
  expect(new Map(counted)).toEqual(expected);
});

describe('the period', () => {
  test('is the last 24 hours, its end not included', async () => {
    for (const at of [NOW - DAY, NOW - DAY - 1, NOW]) await started({ at, route: DISK, integrations: [ZOO] });
    expect(await read()).toMatchObject({
      ...{ from: formatInstant(NOW - DAY), to: formatInstant(NOW), alert_group_count: 1 },
    });
  });

  test.each([
    [`from=${formatInstant(NOW - 92 * DAY - 1_000_000)}`, '/query/from'],
    [`from=${formatInstant(NOW)}&to=${formatInstant(NOW)}`, '/query/to'],
  ])('is refused: %s', async (query, pointer) => {
    const { status, body } = await api.get(`/alert-group-flow?${query}`);
    expect([status, body.errors]).toMatchObject([422, [{ pointer, code: 'out_of_range' }]]);
  });

  test('of a quiet time has nothing', async () => {
    expect(await read()).toMatchObject({ alert_group_count: 0, nodes: [], links: [] });
  });
});

test('only the period is read, of each group its own deliveries', async () => {
  const sql = database.sql();
  await sql`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, started_at, resolved_at, last_changed_at, resolved_by,
      reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem, in_grace
    )
    select
      'AG' || lpad(n::text, 12, '0'), 1000000 + n, 'Disk', 'resolved', ${DISK}, ${DISK}, n::text, '{}', '{}', '{}',
      array[${ZOO}], 'info', ${NOW}::bigint - n::bigint * ${HOUR / 10}, ${NOW}, ${NOW}, 'system', 0, 0, 1, false,
      false, false
    from generate_series(1, 20000) n`;
  await sql`
    insert into deliveries (
      destination_id, subject, target, group_id, route_id, urgent, is_open, state, possible_duplicate,
      thread_not_attached, updated_at, wanted, kept
    )
    select ${chat}, id, 1, id, route_id, false, false, 'delivered', false, false, ${NOW}, false, '{}'
    from alert_groups`;
  await sql`
    insert into webhook_events (
      id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at
    )
    select id, ${hook}, id, 1, 'created', false, ${NOW}, '{}', 'delivered', 0, false, ${NOW} from alert_groups`;
  await sql`analyze alert_groups, deliveries, webhook_events`;
  const lines = await sql<{ 'QUERY PLAN': string }[]>`
    explain (analyze, timing off, summary off, costs off)
    ${flowStatement(sql, { from: NOW - DAY, to: NOW, now: NOW })}`;
  const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
  expect(plan).toMatch(/alert_groups_started.*\(actual rows=240[. ]/);
  expect(plan).toMatch(/deliveries_of_group.*\(actual rows=1[. ].*loops=240\)/);
  expect(plan).toMatch(/webhook_events_of_group.*\(actual rows=1[. ].*loops=240\)/);
  expect(plan).not.toMatch(/Seq Scan on (alert_groups|deliveries|webhook_events)/);
});

test('everybody who reads Alert Groups reads it', async () => {
  expect((await api.as('viewer').get('/alert-group-flow')).status).toBe(200);
});
