import { beforeEach, describe, expect, test } from 'vitest';
import type { GroupFilter, GroupListQuery } from '../../actors/alert-group/reading/readers.ts';
import { BusyError } from '../../runtime/actor/index.ts';
import { HOUR, MINUTE, SECOND, systemMonotonic } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { useDatabase } from '../../test/postgres.ts';
import { inSnapshot, inTransaction } from '../postgres/transaction.ts';
import { createGroupReader } from './alert-groups.ts';
import { type Fragment, lookup, rareNumbers } from './filters.ts';
import { amongFirst, countStatement, pageOfRows } from './list.ts';
import { TextIndexes } from './text-sample.ts';

const database = useDatabase();
const T0 = 1_790_000_000_000_000;
const ROUTES = { web: 'RT000000000001', urgent: 'RT000000000002' } as const;
const ANN = 'SR000000000001' as PublicId;

interface Row {
  readonly number: number;
  readonly title?: string;
  readonly summary?: string | null;
  readonly status?: string;
  readonly route?: string;
  readonly labels?: object;
  readonly integrations?: readonly string[];
  readonly severity?: string;
  readonly owner?: string | null;
  readonly until?: number | null;
  readonly resolvedAt?: number;
  readonly resolvedBy?: string;
  readonly reason?: string | null;
  readonly reopens?: number;
  readonly troubled?: boolean;
  readonly changedAt?: number;
}

async function insert(row: Row): Promise<void> {
  const { number, status = 'firing', route = ROUTES.web } = row;
  const resolved = status === 'resolved';
  const startedAt = T0 + number * MINUTE;
  await database.sql()`
    insert into alert_groups (
      id, number, title, summary, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, owner_id, snoozed_by, snooze_until, started_at,
      resolved_at, last_changed_at, resolved_by, resolve_reason, reopen_count, firing_alert_count,
      resolved_alert_count, unclaimed, delivery_problem, in_grace
    ) values (
      ${`AG${String(number).padStart(12, '0')}`}, ${number}, ${row.title ?? `Group ${number}`}, ${row.summary ?? null},
      ${status}, ${route}, ${route}, ${String(number)}, '{}', ${JSON.stringify(row.labels ?? {})}::text::jsonb,
      '{}', ${[...(row.integrations ?? [])]}::text[], ${row.severity ?? 'warning'}, ${row.owner ?? null},
      ${status === 'snoozed' ? '{}' : null}, ${row.until ?? null}, ${startedAt},
      ${resolved ? (row.resolvedAt ?? startedAt + HOUR) : null}, ${row.changedAt ?? startedAt},
      ${resolved ? (row.resolvedBy ?? 'system') : null},
      ${resolved ? (row.reason === undefined ? 'resolved' : row.reason) : null}, ${row.reopens ?? 0}, 1, 0, false,
      ${row.troubled ?? false}, false
    )`;
}

const NONE: GroupFilter = {
  statuses: [],
  routeIds: [],
  integrationIds: [],
  severities: [],
  urgent: null,
  urgency: { routeIds: [ROUTES.urgent as PublicId], critical: true },
  resolvedBy: null,
  resolveReason: null,
  reopened: null,
  owner: null,
  snoozedNoEnd: null,
  unclaimed: null,
  deliveryProblem: null,
  matchers: [],
  from: null,
  to: null,
  number: null,
  text: null,
};

const query = (filter: Partial<GroupFilter>, more: Partial<GroupListQuery> = {}): GroupListQuery => ({
  filter: { ...NONE, ...filter },
  sort: 'started_at',
  descending: true,
  after: null,
  limit: 50,
  ...more,
});

const reader = () => createGroupReader(database.sql());
const numbers = async (filter: Partial<GroupFilter>, more?: Partial<GroupListQuery>) =>
  (await reader().list(query(filter, more))).items.map(({ number }) => number);

beforeEach(async () => {
  await database.sql()`truncate alert_groups`;
});

describe('filters', () => {
  beforeEach(async () => {
    await insert({ number: 1, labels: { team: 'web' }, integrations: ['NT1', 'NT2'], troubled: true });
    await insert({ number: 2, status: 'acknowledged', owner: ANN, severity: 'critical', reopens: 2 });
    await insert({ number: 3, status: 'snoozed', title: 'Disk 100% full', labels: { team: 'db' } });
    await insert({ number: 4, status: 'snoozed', until: T0 + HOUR, summary: 'the DISK of db-1' });
    await insert({ number: 5, status: 'resolved', reason: 'gone', route: ROUTES.urgent });
    await insert({ number: 6, status: 'resolved', resolvedBy: 'user', reason: null, severity: 'info' });
  });

  const matcher = (label: string, op: '=' | '!=' | '=~' | '!~', value: string) => ({
    matchers: [{ label, op, value }],
  });

  test.each<[string, Partial<GroupFilter>, number[]]>([
    ['nothing', {}, [6, 5, 4, 3, 2, 1]],
    ['open ones', { statuses: ['firing', 'acknowledged', 'snoozed'] }, [4, 3, 2, 1]],
    ['several statuses', { statuses: ['resolved', 'firing'] }, [6, 5, 1]],
    ['a Route', { routeIds: [ROUTES.urgent as PublicId] }, [5]],
    ['one of the Integrations', { integrationIds: ['NT2' as PublicId] }, [1]],
    ['severities', { severities: ['critical', 'info'] }, [6, 2]],
    ['Urgent, by Route or level', { urgent: true }, [5, 2]],
    ['not Urgent', { urgent: false }, [6, 4, 3, 1]],
    ['critical counts for nothing', { urgent: true, urgency: { routeIds: [], critical: false } }, []],
    ['resolved by a person', { resolvedBy: 'user' }, [6]],
    ['a reason', { resolveReason: 'gone' }, [5]],
    ['reopened', { reopened: true }, [2]],
    ['never reopened', { reopened: false }, [6, 5, 4, 3, 1]],
    ['an Owner', { owner: { id: ANN } }, [2]],
    ['an Owner, among others', { owner: { id: ANN }, statuses: ['acknowledged', 'resolved'] }, [2]],
    ['an Owner, where none can be', { owner: { id: ANN }, statuses: ['firing', 'resolved'] }, []],
    ['no Owner, resolved ones included', { owner: { id: null } }, [6, 5, 4, 3, 1]],
    ['snoozed without end', { snoozedNoEnd: true }, [3]],
    ['everything else', { snoozedNoEnd: false }, [6, 5, 4, 2, 1]],
    ['a delivery problem', { deliveryProblem: true }, [1]],
    ['a number', { number: 4 }, [4]],
    ['text in title or summary, any case', { text: 'disk' }, [4, 3]],
    ['no wildcards', { text: '0% f' }, [3]],
    ['a percent sign is itself', { text: 'Disk%full' }, []],
    ['text does not run from title into summary', { text: '4 the' }, []],
    ['label =', matcher('team', '=', 'web'), [1]],
    ['label = empty: not shared', matcher('team', '=', ''), [6, 5, 4, 2]],
    ['label !=', matcher('team', '!=', 'web'), [6, 5, 4, 3, 2]],
    ['label =~ matches whole values', matcher('team', '=~', 'w.*|d'), [1]],
    ['label =~ with a text that it needs', matcher('team', '=~', 'd.'), [3]],
    ['label !~', matcher('team', '!~', '.+'), [6, 5, 4, 2]],
    ['alive in a range', { from: T0 + 3 * MINUTE + HOUR, to: T0 + 6 * MINUTE }, [5, 4, 3, 2, 1]],
    ['ended before it', { statuses: ['resolved'], from: T0 + 6 * MINUTE + HOUR }, [6]],
  ])('%s', async (_, filter, expected) => {
    expect(await numbers(filter)).toEqual(expected);
  });

  test.each<[string, Partial<GroupFilter>, number[]]>([
    ['an expression', matcher('team', '=~', '.+'), [1, 0, 1, 0]],
    ['none of an expression', matcher('team', '!~', '.+'), [0, 1, 1, 2]],
    [
      'two expressions',
      { matchers: [...matcher('team', '=~', 'w.b|d.').matchers, ...matcher('team', '!~', 'd.*').matchers] },
      [1, 0, 0, 0],
    ],
    [
      'an expression and a label',
      { matchers: [...matcher('team', '=', 'db').matchers, ...matcher('x', '=~', '.*').matchers] },
      [0, 0, 1, 0],
    ],
  ])('counts of %s', async (_, filter, [firing, acknowledged, snoozed, resolved]) => {
    expect(await reader().counts({ ...NONE, ...filter })).toEqual({
      firing,
      acknowledged,
      snoozed,
      resolved,
    });
  });

  test('counts go over the same filters', async () => {
    expect(await reader().counts(NONE)).toEqual({ firing: 1, acknowledged: 1, snoozed: 2, resolved: 2 });
    const range = { ...NONE, from: T0 + 6 * MINUTE + HOUR, to: T0 + 4 * MINUTE };
    expect(await reader().counts(range)).toEqual({ firing: 1, acknowledged: 1, snoozed: 1, resolved: 0 });
  });
});

describe('pages', () => {
  const everything = async (more: Partial<GroupListQuery>) => {
    const found: number[] = [];
    let after: GroupListQuery['after'] = null;
    do {
      const page = await reader().list(query({}, { ...more, after, limit: 2 }));
      found.push(...page.items.map(({ number }) => number));
      after = page.next as GroupListQuery['after'];
    } while (after);
    return found;
  };

  test.each(['started_at', 'last_changed_at'] as const)(
    'by %s are short when their items are long, and hold every group once',
    async (sort) => {
      const long = { text: 'x'.repeat(1_500_000) };
      for (let number = 201; number <= 207; number++) await insert({ number, labels: long });
      const reader = createGroupReader(database.sql());
      const sizes: number[] = [];
      const numbers: number[] = [];
      let after: GroupListQuery['after'] = null;
      do {
        const filter = { ...NONE, statuses: ['firing'] as const };
        const page = await reader.list({ filter, sort, descending: true, limit: 500, after });
        sizes.push(page.items.length);
        numbers.push(...page.items.map(({ number }) => number));
        after = page.next as GroupListQuery['after'];
      } while (after !== null);
      expect(sizes.slice(0, 3)).toEqual([2, 2, 2]);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(numbers).toEqual(expect.arrayContaining([201, 202, 203, 204, 205, 206, 207]));
    },
  );

  test('continue after the last item, ties by number in the same direction', async () => {
    for (const number of [1, 2, 3, 4, 5]) await insert({ number, changedAt: number < 4 ? T0 : T0 + number });
    await sameBothWays();
  });

  test('go by the last change from hour to hour and within an hour', async () => {
    const changed = [2 * HOUR, 5, 2 * HOUR + 7, HOUR, 4, 2 * HOUR + 7, 9 * HOUR];
    for (const [index, at] of changed.entries()) await insert({ number: index + 1, changedAt: T0 + at });
    const newestFirst = [7, 6, 3, 1, 4, 2, 5];
    expect(await everything({ sort: 'last_changed_at' })).toEqual(newestFirst);
    expect(await everything({ sort: 'last_changed_at', descending: false })).toEqual(
      newestFirst.toReversed(),
    );
  });

  async function sameBothWays() {
    expect(await everything({})).toEqual([5, 4, 3, 2, 1]);
    expect(await everything({ descending: false })).toEqual([1, 2, 3, 4, 5]);
    expect(await everything({ sort: 'last_changed_at' })).toEqual([5, 4, 3, 2, 1]);
    expect(await everything({ sort: 'last_changed_at', descending: false })).toEqual([1, 2, 3, 4, 5]);
  }
});

test('an event stays within its page, but for the first one of an hour', async () => {
  await insert({ number: 1 });
  const counts = await inTransaction(database.sql(), async (tx) => {
    const hot: number[] = [];
    for (const later of [MINUTE, MINUTE, HOUR]) {
      await tx`
        update alert_groups set last_changed_at = last_changed_at + ${later}::bigint, firing_alert_count = firing_alert_count + 1`;
      const [row] = await tx<{ hot: number }[]>`
        select pg_stat_get_xact_tuples_hot_updated('alert_groups'::regclass) as hot`;
      hot.push(row?.hot ?? 0);
    }
    return hot;
  });
  expect(counts).toEqual([1, 2, 2]);
});

/** A quarter of them open; each thousandth, the last one not among them, of a team of its own. */
async function insertMany(count: number): Promise<void> {
  const sql = database.sql();
  await sql`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, started_at, resolved_at, last_changed_at,
      resolved_by, reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem, in_grace
    )
    select
      'AG' || n, n, 'Group ' || n, case when n % 4 = 0 then 'firing' else 'resolved' end, 'RT' || n % 50, 'RT' || n % 50,
      n::text, '{}', jsonb_build_object('team', case when n % 1000 = 1 then 'rare' else 'team-' || n % 7 end, 'n', n::text),
      '{}', '{}', 'info', ${T0}::bigint + n, case when n % 4 = 0 then null else ${T0}::bigint + n end,
      ${T0}::bigint + n * ${MINUTE}::bigint, case when n % 4 = 0 then null else 'system' end, 0, 1, 0, false,
      n % 400 = 0, false
    from generate_series(1, ${count}::int) as n`;
  await sql`vacuum (analyze) alert_groups`;
}

describe('with many groups', () => {
  const open = { statuses: ['firing', 'acknowledged', 'snoozed'] } as const;
  const byChange = { sort: 'last_changed_at' } as const;
  const team = (op: '=' | '=~', value: string) => ({ matchers: [{ label: 'n', op, value }] });
  const rare = { matchers: [{ label: 'team', op: '=~', value: 'ra.e' } as const] };

  test('what is asked most uses its indexes', async () => {
    await insertMany(30_000);
    const sql = database.sql();
    const plan = (filter: Partial<GroupFilter>, more?: Partial<GroupListQuery>) =>
      planOf(pageStatement(query(filter, more)));
    const count = (filter: Partial<GroupFilter>) => planOf(countStatement(sql, { ...NONE, ...filter }));
    const plans: readonly [string, string][] = [
      ['alert_groups_open', await plan({ ...open, from: T0 + 29_900 })],
      ['alert_groups_open', await plan({ ...open, from: T0 }, { after: [T0 + 20_000, 20_000] })],
      ['alert_groups_open', await plan({ ...open, owner: { id: null } })],
      ['alert_groups_started', await plan({ statuses: ['firing', 'resolved'], from: T0 + 100 })],
      [
        'Index Scan using alert_groups_route on',
        await plan({ ...open, routeIds: ['RT7' as PublicId], from: T0 }),
      ],
      ['Index Scan using alert_groups_open_changed', await plan({ ...open, from: T0 }, byChange)],
      ['Index Scan using alert_groups_changed', await plan({ from: T0 }, byChange)],
      [
        'Index Cond: (changed_hour <=',
        await plan(open, { ...byChange, after: [T0 + 20_000 * MINUTE, 20_000] }),
      ],
      [
        'alert_groups_open',
        await planOf(sql`select * from ${amongFirst(sql, query({ ...open, text: 'Group' }), 100)}`),
      ],
      ['alert_groups_open_labels', await planOf(lookup(sql, { ...NONE, ...open, ...team('=', '77') }))],
      ['alert_groups_resolved_labels', await planOf(lookup(sql, { ...NONE, ...team('=', '77') }))],
      ['alert_groups_number', await plan({ number: 77 })],
      ['alert_groups_number', await planOf(pageStatement(query(team('=', '77')), [77]))],
      ['alert_groups_undelivered', await plan({ ...open, deliveryProblem: true })],
      ['alert_groups_snoozed', await plan({ ...open, snoozedNoEnd: true })],
      ['Index Scan using alert_groups_owner', await plan({ ...open, owner: { id: ANN } })],
      ['Index Only Scan using alert_groups_route', await count({ from: T0 + 29_900 })],
      ['Index Only Scan using alert_groups_resolved', await count({ from: T0 + 29_900 })],
      ['alert_groups_open_labels', await count(team('=', '77'))],
      ['alert_groups_resolved_labels', await count(team('=', '77'))],
      ['Index Only Scan using alert_groups_route', await count({ ...open, routeIds: ['RT7' as PublicId] })],
      [
        'Index Only Scan using alert_groups_resolved',
        await count({ from: T0, routeIds: ['RT7' as PublicId] }),
      ],
    ];
    for (const [index, text] of plans) {
      expect(text).toContain(index);
      expect(text).not.toContain('Seq Scan on alert_groups g');
    }
  });

  test('a rare label is looked up, a common one is met in order', async () => {
    await insertMany(30_000);
    const rare = (filter: Partial<GroupFilter>) =>
      inSnapshot(database.sql(), (tx) =>
        rareNumbers(tx, { ...NONE, ...filter }, new TextIndexes(systemMonotonic)),
      );
    const both = {
      matchers: [...team('=', '77').matchers, { label: 'team', op: '=', value: 'team-0' } as const],
    };
    expect(await rare(team('=', '77'))).toEqual([77]);
    expect(await rare(both)).toEqual([77]);
    expect(await rare(team('=', 'none'))).toEqual([]);
    expect(await rare({ matchers: [{ label: 'team', op: '=', value: 'team-1' }] })).toBeNull();
    expect(await rare(team('=', ''))).toBeNull();
    expect(await rare({ ...team('=', '77'), ...open })).toEqual([]);
    expect(await rare({ ...team('=', '80'), ...open })).toEqual([80]);
    expect(await rare({ ...team('=', '80'), statuses: ['resolved'] })).toEqual([]);
    expect(await numbers(both)).toEqual([77]);
    expect(await numbers({ ...both, ...open })).toEqual([]);
    expect(await numbers({ matchers: [{ label: 'team', op: '=', value: 'team-1' }] }, { limit: 2 })).toEqual([
      29_996, 29_989,
    ]);
  });

  test('text is found by its index where the extension is there, and without it all the same', async () => {
    await insertMany(30_000);
    const sql = database.sql();
    const [extension] = await sql`select 1 from pg_extension where extname = 'pg_trgm'`;
    const plan = await planOf(lookup(sql, { ...NONE, text: 'Group 12345' }));
    for (const index of ['alert_groups_open_text', 'alert_groups_resolved_text'])
      expect(plan.includes(index)).toBe(extension !== undefined);
    const found = async () => [
      await numbers({ text: 'Group 12345' }),
      await numbers({ ...open, text: 'group 12340' }),
      await numbers({ ...open, text: 'group 12345' }),
      await numbers({ text: 'OUP 1', ...team('=', '17') }),
      await numbers({ text: '9', ...team('=', '29') }),
      await numbers({ text: 'oup 2' }, { limit: 2, after: [T0 + 25_000, 25_000] }),
      await numbers({ text: 'oup 777' }, { sort: 'last_changed_at' }),
    ];
    const expected = [
      [12_345],
      [12_340],
      [],
      [17],
      [29],
      [24_999, 24_998],
      [7_779, 7_778, 7_777, 7_776, 7_775, 7_774, 7_773, 7_772, 7_771, 7_770, 777],
    ];
    expect(await found()).toEqual(expected);
    const indexes = await sql<
      { indexdef: string }[]
    >`select indexdef from pg_indexes where indexname ~ '_text$'`;
    await sql`drop index if exists alert_groups_open_text, alert_groups_resolved_text`;
    expect(await found()).toEqual(expected);
    for (const { indexdef } of indexes) await sql.unsafe(indexdef);
  });

  test('of a text, what nearly all hold is not looked up', async () => {
    await insertMany(5_000);
    const sql = database.sql();
    const [extension] = await sql`select 1 from pg_extension where extname = 'pg_trgm'`;
    if (!extension) return;
    const text = 'Group 1235';
    const parts = await inSnapshot(sql, (tx) => new TextIndexes(systemMonotonic).partsOf(tx, text));
    expect(parts).toEqual({ open: [' 1235'], resolved: [' 1235'] });
    const plan = await planOf(lookup(sql, { ...NONE, text }, parts));
    expect(plan.match(/Index Cond: .*/g)).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(/~~\* '% 1235%'::text\)$/)),
    );
    expect(await numbers({ text })).toEqual([1_235]);
    await sql`update alert_groups set title = 'Disk full' where number > 1500`;
    await sql`analyze alert_groups`;
    const ofDisks = await inSnapshot(sql, (tx) => new TextIndexes(systemMonotonic).partsOf(tx, 'Disk quota'));
    expect(ofDisks).toEqual({ open: [' quota'], resolved: [' quota'] });
  });

  test('every text is found where it is, however odd', async () => {
    await insertMany(3_000);
    const sql = database.sql();
    const titles = [
      ...[
        'Диск 100% full_on Group-7',
        'a\\b Group 7\\',
        '___ %%% ---',
        'Group\t12  of group-13',
        'СЕРВЕР упал',
      ],
      ...[
        'Groupe\u0301 5 e\u0301clair',
        'Σέρβερ ΟΔΟΣΑ 7',
        '🚒 Group 🚒🚒 9',
        'x',
        'aaa Group aaaa',
        'GROUP_12 %12',
      ],
    ];
    for (const [index, title] of titles.entries())
      await sql`
        update alert_groups set title = ${title}, summary = ${titles[(index + 1) % titles.length] ?? null}
        where number between ${index * 10 + 1} and ${index * 10 + 4}`;
    const rows = await sql<{ number: number; title: string; summary: string | null }[]>`
      select number, title, summary from alert_groups`;
    const holds = (whole: string | null, text: string) =>
      whole?.toLowerCase().includes(text.toLowerCase()) ?? false;
    const texts = titles.flatMap((title) => {
      const characters = [...title];
      const slice = (from: number, to: number) => characters.slice(from, to).join('');
      return [
        title,
        title.toUpperCase(),
        slice(1, 8),
        slice(2, 6),
        slice(-5, characters.length),
        `${title} x`,
      ];
    });
    const indexes = new TextIndexes(systemMonotonic);
    for (const text of [...texts, 'Group 1', 'group 17 ', 'roup 2999', ' ', '%', '_', '\\', 'Group  12']) {
      const expected = rows
        .filter(({ title, summary }) => holds(title, text) || holds(summary, text))
        .map(({ number }) => number)
        .sort((left, right) => left - right);
      const found = await inSnapshot(sql, (tx) => rareNumbers(tx, { ...NONE, text }, indexes));
      const sorted = found?.sort((left, right) => left - right) ?? null;
      expect([text, sorted]).toEqual([text, expected.length > 2_000 ? null : expected]);
    }
  });

  test('what many have, though none of the newest, is read in order', async () => {
    await insertMany(5_000);
    const sql = database.sql();
    await sql`update alert_groups set common_labels = '{"old": "yes"}' where number <= 3000`;
    const old = { matchers: [{ label: 'old', op: '=', value: 'yes' } as const] };
    expect(await numbers(old, { limit: 2 })).toEqual([3_000, 2_999]);
    expect(await numbers({ ...old, ...open }, { limit: 2 })).toEqual([3_000, 2_996]);
    expect(await numbers({ ...old, text: 'Group 29' }, { limit: 2, descending: false })).toEqual([29, 290]);
  });

  test('a page that an expression fills from few rows is full, one that it does not is short and goes on', async () => {
    await insertMany(25_000);
    const timelessReader = () => createGroupReader(database.sql(), () => 0);
    const common = await timelessReader().list(
      query({ matchers: [{ label: 'team', op: '=~', value: 'team.*' }] }),
    );
    expect([common.items.length, common.next]).toEqual([50, [T0 + 24_951, 24_951]]);
    const found: number[] = [];
    const sizes: number[] = [];
    let after: GroupListQuery['after'] = null;
    do {
      const page = await timelessReader().list(query(rare, { after }));
      found.push(...page.items.map(({ number }) => number));
      sizes.push(page.items.length);
      after = page.next as GroupListQuery['after'];
    } while (after);
    expect(found).toEqual(Array.from({ length: 25 }, (_, index) => 24_001 - index * 1_000));
    expect(sizes).toEqual([20, 5]);
  });

  test('a page that has taken time looks at 2,000 rows, and the next one goes on behind them', async () => {
    await insertMany(5_000);
    let now = 0;
    const slow = createGroupReader(database.sql(), () => (now += SECOND / 100));
    const first = await slow.list(query(rare));
    expect([first.items.map(({ number }) => number), first.next]).toEqual([
      [4_001, 3_001],
      [T0 + 3_001, 3_001],
    ]);
    const second = await slow.list(query(rare, { after: first.next as GroupListQuery['after'] }));
    expect([second.items.map(({ number }) => number), second.next]).toEqual([
      [2_001, 1_001],
      [T0 + 1_001, 1_001],
    ]);
    const last = await slow.list(query(rare, { after: second.next as GroupListQuery['after'] }));
    expect([last.items.map(({ number }) => number), last.next]).toEqual([[1], null]);
  });
});

describe('an expression that takes long', () => {
  const slow = { matchers: [{ label: 'n', op: '=~', value: '[0-9]+x' }] } as const;

  /** Every look at the clock takes a tenth of a second. */
  const slowReader = () => {
    let now = 0;
    return createGroupReader(database.sql(), () => (now += SECOND / 10));
  };

  test('ends its page short, and the next one goes on behind it', async () => {
    await insertMany(40);
    const looked: number[] = [];
    let after: GroupListQuery['after'] = null;
    do {
      const page = await slowReader().list(query(slow, { after }));
      expect(page.items).toEqual([]);
      after = page.next as GroupListQuery['after'];
      looked.push(after?.[1] ?? 0);
    } while (after);
    expect(looked.length).toBeGreaterThan(2);
    expect(looked).toEqual([...looked].sort((left, right) => right - left));
    expect(looked.at(-1)).toBe(0);
  });

  test('is refused where all of them have to be counted', async () => {
    await insertMany(100);
    await expect(slowReader().counts({ ...NONE, ...slow })).rejects.toThrow(BusyError);
    await expect(reader().counts({ ...NONE, ...slow })).resolves.toMatchObject({ firing: 0 });
  });

  test('gives way to everything else between two values, and two expressions', async () => {
    await insertMany(8);
    let turns = 0;
    let isOver = false;
    const watch = (): void => {
      turns += 1;
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    const two = { label: 'n', op: '!~', value: 'x[0-9]*' } as const;
    await slowReader().counts({ ...NONE, matchers: [two, ...slow.matchers] });
    isOver = true;
    expect(turns).toBeGreaterThan(15);
  });

  test('has to wait for its turn, and is refused when too many do', async () => {
    await insertMany(40);
    const { counts } = reader();
    const asked = Array.from({ length: 40 }, () => counts({ ...NONE, ...slow }).catch(String));
    const answers = await Promise.all([...asked, counts(NONE)]);
    expect(answers.filter((answer) => typeof answer === 'string')).toEqual(
      Array.from({ length: 7 }, () => 'BusyError: too many regular expressions wait'),
    );
  });
});

function pageStatement(asked: GroupListQuery, rare: readonly number[] | null = null): Fragment {
  const sql = database.sql();
  return sql`select g.* from alert_groups g ${pageOfRows(sql, asked, rare)(asked.after, asked.limit + 1)}`;
}

async function planOf(statement: Fragment): Promise<string> {
  const lines = await database.sql()<{ 'QUERY PLAN': string }[]>`explain ${statement}`;
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

describe('folds', () => {
  const folds = (
    filter: Partial<GroupFilter> = {},
    by: string | null = 'alertname',
    distinct = ['namespace', 'node'],
  ) => reader().folds({ filter: { ...NONE, ...filter }, by, distinct });

  test('count what a plain reading of the same groups counts, the largest first', async () => {
    const NAMES = ['CrashLooping', 'DiskFull', 'Lag', '', undefined, 'x'.repeat(1_001)];
    const LEVELS = ['critical', 'warning', 'info'] as const;
    const rows = Array.from({ length: 60 }, (_, index) => ({
      number: index + 1,
      ...(index % 4 === 0 ? { status: 'acknowledged', owner: ANN } : { status: 'firing' }),
      severity: LEVELS[(index * 7) % 3] as string,
      labels: { alertname: NAMES[(index * index) % NAMES.length], namespace: `n${index % 5}` },
    }));
    for (const row of rows) await insert(row);

    const expected = new Map<string | null, typeof rows>();
    for (const row of rows) {
      const { alertname = '' } = row.labels;
      const value = alertname === '' || alertname.length > 1_000 ? null : alertname;
      expected.set(value, [...(expected.get(value) ?? []), row]);
    }
    const { items, ...totals } = await folds();
    expect(totals).toEqual({ foldCount: expected.size, groupCount: 60, truncated: false });
    expect(items).toHaveLength(expected.size);
    expect(items.map(({ groupCount }) => groupCount)).toEqual(
      [...expected.values()].map(({ length }) => length).sort((one, other) => other - one),
    );
    for (const fold of items) {
      const of = expected.get(fold.value) ?? [];
      expect(fold).toEqual({
        value: fold.value,
        groupCount: of.length,
        firingCount: of.filter(({ status }) => status === 'firing').length,
        severityLevel: LEVELS.find((level) => of.some(({ severity }) => severity === level)),
        lastStartedAt: T0 + Math.max(...of.map(({ number }) => number)) * MINUTE,
        distinct: [
          { label: 'namespace', count: new Set(of.map(({ labels }) => labels.namespace)).size },
          { label: 'node', count: 0 },
        ],
      });
    }
  });

  test('filters hold, regular expressions among them', async () => {
    await insert({ number: 1, labels: { alertname: 'A', team: 'web' } });
    await insert({ number: 2, labels: { alertname: 'A', team: 'db' } });
    await insert({ number: 3, labels: { alertname: 'B', team: 'web' }, status: 'resolved' });
    const sizes = async (filter: Partial<GroupFilter>) =>
      Object.fromEntries((await folds(filter)).items.map(({ value, groupCount }) => [value, groupCount]));
    expect(await sizes({})).toEqual({ A: 2, B: 1 });
    expect(await sizes({ statuses: ['firing'] })).toEqual({ A: 2 });
    expect(await sizes({ matchers: [{ label: 'team', op: '=', value: 'web' }] })).toEqual({ A: 1, B: 1 });
    expect(await sizes({ matchers: [{ label: 'team', op: '=~', value: 'd.' }] })).toEqual({ A: 1 });
    expect(await sizes({ matchers: [{ label: 'team', op: '=~', value: 'none' }] })).toEqual({});
    expect((await folds({}, 'team', [])).items.map(({ distinct }) => distinct)).toEqual([[], []]);
  });

  test('without a label, a group counts in the fold of each name that its Alerts share', async () => {
    const HOSTILE = [
      '__proto__',
      'constructor',
      "'; drop table alert_groups --",
      '{}',
      '%',
      '\\',
      '<b>',
      'a b',
      '',
    ];
    const odd = Object.fromEntries(HOSTILE.map((name) => [name, 'x']));
    await insert({ number: 1, labels: { alertname: 'A', team: 'web', empty: '' }, severity: 'critical' });
    await insert({ number: 2, labels: { alertname: 'B', team: 'db' }, status: 'acknowledged', owner: ANN });
    await insert({ number: 3, labels: { alertname: 'B', ...odd, ['n'.repeat(200)]: 'x' } });
    await insert({ number: 4, labels: {}, status: 'snoozed' });
    await insert({ number: 5, labels: { ['n'.repeat(201)]: 'x', empty: '' } });
    const { items, ...totals } = await folds({}, null, []);
    const names = ['alertname', 'team', ...[...HOSTILE, 'n'.repeat(200)].toSorted()];
    expect(new Set(items.map(({ value }) => value))).toEqual(new Set([...names, null]));
    expect(totals).toEqual({ foldCount: names.length + 1, groupCount: 5, truncated: false });
    expect(items.map(({ groupCount }) => groupCount)).toEqual([
      3,
      2,
      2,
      ...Array(HOSTILE.length + 1).fill(1),
    ]);
    expect(items[0]).toMatchObject({
      ...{ value: 'alertname', groupCount: 3, firingCount: 2, severityLevel: 'critical' },
      ...{ lastStartedAt: T0 + 3 * MINUTE, distinct: [] },
    });
    expect(items[1]).toMatchObject({ value: 'team', groupCount: 2, firingCount: 1 });
    expect(items[2]).toMatchObject({ value: null, groupCount: 2, firingCount: 1 });

    const namesOf = async (filter: Partial<GroupFilter>) =>
      (await folds(filter, null, [])).items.map(({ value }) => value);
    expect(await namesOf({ statuses: ['acknowledged'] })).toEqual(['alertname', 'team']);
    expect(await namesOf({ matchers: [{ label: 'team', op: '=~', value: 'w.*' }] })).toEqual([
      'alertname',
      'team',
    ]);
    expect(await namesOf({ statuses: ['resolved'] })).toEqual([]);
  });

  test('the newest 10,000 are looked at, and at most 200 folds are told', async () => {
    await insert({ number: 20_000, labels: { alertname: 'one' } });
    await database.sql()`
      insert into alert_groups
      select (jsonb_populate_record(g, jsonb_build_object(
        'id', 'AG' || lpad(n::text, 12, '0'), 'number', n, 'key_hash', n::text, 'started_at', ${T0}::bigint + n,
        'common_labels', jsonb_build_object('alertname', 'value ' || n % 300)))).*
      from alert_groups g, generate_series(1, 10000) as n where g.number = 20000`;
    const { items, foldCount, groupCount, truncated } = await folds();
    expect([items.length, foldCount, groupCount, truncated]).toEqual([200, 301, 10_000, true]);
    expect(items.some(({ value }) => value === 'value 1')).toBe(true);

    await database.sql()`
      update alert_groups set common_labels = jsonb_build_object('alertname', 'A', 'name ' || number % 300, 'x')`;
    const names = await folds({}, null, []);
    expect([names.items.length, names.foldCount, names.groupCount, names.truncated]).toEqual([
      200,
      301,
      10_000,
      true,
    ]);
    expect(names.items[0]).toMatchObject({ value: 'alertname', groupCount: 10_000 });
  });
});
