import { EventEmitter, once } from 'node:events';
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { GroupFilter, GroupListQuery } from '../../../actors/alert-group/reading/readers.ts';
import type { Matcher } from '../../../actors/directory.ts';
import { GROUP_STATUSES, RESOLVE_REASONS, SEVERITY_LEVELS } from '../../../actors/model.ts';
import { DAY, HOUR, MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createManualClock } from '../../../test/fakes/manual-clock.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { createGroupReader } from '../alert-groups.ts';
import { changedGroups, createChangePruning, RecentGroups, type RecentGroupsDeps } from './recent-groups.ts';

const database = useDatabase();
const NOW = 1_790_000_000_000_000;
const ROUTES = ['RT000000000001', 'RT000000000002', 'RT000000000003'] as PublicId[];
const INTEGRATIONS = ['NT000000000001', 'NT000000000002'] as PublicId[];
const OWNERS = ['SR000000000001', 'SR000000000002'] as PublicId[];

interface Group {
  readonly number: number;
  readonly status: (typeof GROUP_STATUSES)[number];
  readonly startedAt: number;
  readonly endedAfter: number;
  readonly changedAfter: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly title: string;
  readonly summary: string | null;
  readonly route: PublicId;
  readonly integrations: readonly PublicId[];
  readonly severity: (typeof SEVERITY_LEVELS)[number];
  readonly owner: PublicId;
  readonly until: boolean;
  readonly by: 'user' | 'system';
  readonly reason: (typeof RESOLVE_REASONS)[number];
  readonly reopens: number;
  readonly unclaimed: boolean;
  readonly troubled: boolean;
}

/** Written as they are, whatever was there. */
async function write(...groups: readonly Group[]): Promise<void> {
  const rows = groups.map((group) => {
    const isResolved = group.status === 'resolved';
    const resolvedAt = isResolved ? group.startedAt + group.endedAfter : null;
    return {
      ...{ id: `AG${String(group.number).padStart(12, '0')}`, number: group.number, status: group.status },
      ...{
        title: group.title,
        summary: group.summary,
        route_id: group.route,
        original_route_id: group.route,
      },
      ...{
        key_hash: String(group.number),
        group_labels: {},
        common_labels: group.labels,
        common_annotations: {},
      },
      ...{ integration_ids: group.integrations, severity_level: group.severity, resolved_at: resolvedAt },
      owner_id: group.status === 'acknowledged' ? group.owner : null,
      snoozed_by: group.status === 'snoozed' ? {} : null,
      snooze_until: group.status === 'snoozed' && group.until ? NOW + DAY : null,
      started_at: group.startedAt,
      last_changed_at: resolvedAt ?? group.startedAt + group.changedAfter,
      resolved_by: isResolved ? group.by : null,
      resolve_reason: isResolved && group.by === 'system' ? group.reason : null,
      ...{ reopen_count: group.reopens, firing_alert_count: 1, resolved_alert_count: 0, in_grace: false },
      ...{ unclaimed: group.unclaimed, delivery_problem: group.troubled },
    };
  });
  const columns = Object.keys(rows[0] ?? {});
  const sql = database.sql();
  await sql`
    insert into alert_groups (${sql(columns)})
    select ${sql(columns)} from json_populate_recordset(null::alert_groups, ${JSON.stringify(rows)}::text::json)
    on conflict (id) do update set
      ${columns.slice(2).reduce((all, name) => sql`${all}, ${sql(name)} = excluded.${sql(name)}`, sql`number = excluded.number`)}`;
}

const VALUES = ['web', 'db', 'db-1', 'db-12', '', 'Ärger', 'x\ny'];
const LABELS = ['team', 'host', '__proto__', 'constructor', 'missing'];
const TEXTS = [
  'Disk full',
  'DISK 100% full on db-1',
  'Ärger mit db_2',
  'ÄRGER',
  'back\\slash',
  'Диск ЗАПОЛНЕН',
  'ΟΔΟΣ Σ',
  'İstanbul I',
];

const group: fc.Arbitrary<Group> = fc.record({
  number: fc.integer({ min: 1, max: 60 }),
  status: fc.constantFrom(...GROUP_STATUSES),
  startedAt: fc.integer({ min: 0, max: 30 }).map((days) => NOW - days * 12 * HOUR),
  endedAfter: fc.integer({ min: 1, max: 400 }).map((count) => count * MINUTE),
  changedAfter: fc.integer({ min: 0, max: 3 }).map((count) => count * 20 * MINUTE),
  labels: fc.dictionary(
    fc.constantFrom('team', 'host', '__proto__', 'constructor'),
    fc.constantFrom(...VALUES),
  ),
  title: fc.constantFrom(...TEXTS),
  summary: fc.option(fc.constantFrom(...TEXTS)),
  route: fc.constantFrom(...ROUTES),
  integrations: fc.subarray(INTEGRATIONS),
  severity: fc.constantFrom(...SEVERITY_LEVELS),
  owner: fc.constantFrom(...OWNERS),
  until: fc.boolean(),
  by: fc.constantFrom('user' as const, 'system' as const),
  reason: fc.constantFrom(...RESOLVE_REASONS),
  reopens: fc.integer({ min: 0, max: 2 }),
  unclaimed: fc.boolean(),
  troubled: fc.boolean(),
});

/** Mostly absent, so that several conditions together still find something. */
const maybe = <Value>(one: fc.Arbitrary<Value>) => fc.option(one, { freq: 2, nil: null });
const some = <Value>(from: readonly Value[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Value[]>([]) },
    { weight: 1, arbitrary: fc.subarray([...from]) },
  );

const matcher: fc.Arbitrary<Matcher> = fc.oneof(
  fc.record({
    label: fc.constantFrom(...LABELS),
    op: fc.constantFrom('=' as const, '!=' as const),
    value: fc.constantFrom(...VALUES, 'nobody'),
  }),
  fc.record({
    label: fc.constantFrom(...LABELS),
    op: fc.constantFrom('=~' as const, '!~' as const),
    value: fc.constantFrom('db.*', 'db-\\d', '', '.+', 'web|db', '(?i)ärger', 'x.y'),
  }),
);

const filter: fc.Arbitrary<GroupFilter> = fc.record({
  statuses: fc.subarray([...GROUP_STATUSES]),
  routeIds: some([...ROUTES, 'RT000000000009' as PublicId]),
  integrationIds: some([...INTEGRATIONS, 'NT000000000009' as PublicId]),
  severities: some(SEVERITY_LEVELS),
  urgent: maybe(fc.boolean()),
  urgency: fc.record({ routeIds: fc.subarray(ROUTES), critical: fc.boolean() }),
  resolvedBy: maybe(fc.constantFrom('user' as const, 'system' as const)),
  resolveReason: maybe(fc.constantFrom(...RESOLVE_REASONS)),
  reopened: maybe(fc.boolean()),
  owner: maybe(fc.record({ id: fc.constantFrom(null, ...OWNERS) })),
  snoozedNoEnd: maybe(fc.boolean()),
  unclaimed: maybe(fc.boolean()),
  deliveryProblem: maybe(fc.boolean()),
  matchers: fc.oneof(fc.constant([]), fc.array(matcher, { minLength: 1, maxLength: 2 })),
  from: fc.option(fc.integer({ min: 0, max: 20 }).map((days) => NOW - days * DAY)),
  to: maybe(fc.integer({ min: 0, max: 20 }).map((days) => NOW - days * DAY)),
  number: maybe(fc.integer({ min: 1, max: 60 })),
  text: maybe(
    fc.constantFrom(
      'disk',
      'DISK',
      '100%',
      'db_2',
      'ärger',
      'ÄRGER',
      'k\\s',
      'диск',
      'full Disk',
      'l',
      'ΟΔΟΣ',
      'σ',
      'i',
      'İ',
      'I',
      'l\nl',
      '\\',
    ),
  ),
});

const order = fc.record({
  sort: fc.constantFrom('started_at' as const, 'last_changed_at' as const),
  descending: fc.boolean(),
  limit: fc.constantFrom(1, 7, 50),
});

const clock = createManualClock(NOW);
let monotonic = 0;
const logged: unknown[] = [];
const recentGroups = (deps: Partial<RecentGroupsDeps> = {}) =>
  new RecentGroups({
    ...{ sql: database.sql(), clock, monotonic: () => monotonic, log: (...line) => void logged.push(line) },
    ...deps,
  });

const EVERYTHING: GroupFilter = {
  ...{ statuses: [], routeIds: [], integrationIds: [], severities: [], urgent: null },
  ...{ urgency: { routeIds: [], critical: false }, resolvedBy: null, resolveReason: null, reopened: null },
  ...{ owner: null, snoozedNoEnd: null, unclaimed: null, deliveryProblem: null, matchers: [] },
  ...{ from: NOW - 7 * DAY, to: null, number: null, text: null },
};

/** What memory holds as of now, by #N. */
async function held(recent: RecentGroups): Promise<number[] | null> {
  const known = await recent.current();
  return (
    known && [...known.columns.number.subarray(0, known.columns.size)].sort((left, right) => left - right)
  );
}

const example = (number: number, more: Partial<Group> = {}): Group => ({
  ...{ number, status: 'firing', startedAt: NOW - HOUR, endedAfter: MINUTE, changedAfter: 0, labels: {} },
  ...{ title: 'Disk full', summary: null, route: ROUTES[0]!, integrations: [], severity: 'warning' },
  ...{ owner: OWNERS[0]!, until: false, by: 'system', reason: 'resolved', reopens: 0, unclaimed: false },
  ...{ troubled: false, ...more },
});

beforeEach(async () => {
  await database.sql()`truncate alert_groups, changed_alert_groups`;
  monotonic = 0;
  logged.length = 0;
});

test('memory answers as SQL does, whatever is asked for and changes in between', {
  timeout: 60_000,
}, async () => {
  const fromSql = createGroupReader(database.sql());
  const pagesOf = async (reader: typeof fromSql, query: GroupListQuery) => {
    const pages: number[][] = [];
    for (let after = query.after; ; ) {
      const { items, next } = await reader.list({ ...query, after });
      pages.push(items.map(({ number }) => number));
      if (next === null) return pages.flat();
      after = next as [number, number];
    }
  };
  let answered = 0;
  const story = fc.record({
    first: fc.array(group, { minLength: 1, maxLength: 60 }),
    steps: fc.array(
      fc.record({
        changed: fc.array(group, { maxLength: 5 }),
        removed: fc.option(fc.integer({ min: 1, max: 60 })),
        filter,
        order,
      }),
      { minLength: 1, maxLength: 8 },
    ),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ first, steps }) => {
      await database.sql()`truncate alert_groups, changed_alert_groups`;
      const unique = (groups: readonly Group[]) => [
        ...new Map(groups.map((one) => [one.number, one])).values(),
      ];
      await write(...unique(first));
      const recent = recentGroups();
      await recent.load();
      const fromMemory = createGroupReader(database.sql(), undefined, recent);
      for (const step of steps) {
        if (step.changed.length > 0) await write(...unique(step.changed));
        if (step.removed !== null)
          await database.sql()`delete from alert_groups where number = ${step.removed}`;
        const query = { ...step.order, filter: step.filter, after: null };
        expect(await pagesOf(fromMemory, query)).toEqual(await pagesOf(fromSql, query));
        expect(await fromMemory.counts(step.filter)).toEqual(await fromSql.counts(step.filter));
        if ((await recent.current()) !== null) answered++;
      }
    }),
    { numRuns: 120 },
  );
  expect(answered).toBeGreaterThan(300);
});

describe('what is in memory', () => {
  test('open groups and those that ended within eight days; the others are left to SQL', async () => {
    const old = { status: 'resolved' as const, startedAt: NOW - 9 * DAY };
    await write(example(1), example(2, { status: 'resolved' }), example(3, old));
    const recent = recentGroups();
    expect(await recent.current()).toBeNull();
    await recent.load();
    expect(await held(recent)).toEqual([1, 2]);
    const reader = createGroupReader(database.sql(), undefined, recent);
    expect(await reader.counts(EVERYTHING)).toMatchObject({ firing: 1, resolved: 1 });
    expect(await reader.counts({ ...EVERYTHING, from: null })).toMatchObject({ firing: 1, resolved: 2 });
  });

  test('is as new as the question, also about a transaction that was under way before', async () => {
    await write(example(1), example(2));
    const recent = recentGroups();
    await recent.load();
    const gates = new EventEmitter();
    const begun = once(gates, 'begun');
    const ended = once(gates, 'ended');
    const late = database.sql().begin(async (tx) => {
      await tx`update alert_groups set status = 'resolved', resolved_at = ${NOW}, resolved_by = 'user' where number = 1`;
      gates.emit('begun');
      await ended;
    });
    await begun;
    // Newer transactions come and are seen before the older one ends.
    await write(example(3));
    expect(await held(recent)).toEqual([1, 2, 3]);
    await write(example(4));
    expect(await held(recent)).toEqual([1, 2, 3, 4]);
    gates.emit('ended');
    await late;
    const reader = createGroupReader(database.sql(), undefined, recent);
    expect(await reader.counts(EVERYTHING)).toMatchObject({ firing: 3, resolved: 1 });
  });

  test('nothing of a transaction that was rolled back', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    const undone = database.sql().begin(async (tx) => {
      await tx`delete from alert_groups`;
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await held(recent)).toEqual([1]);
  });

  test('many who ask at once share a look at the changes', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    const looks = await Promise.all(Array.from({ length: 20 }, () => recent.current()));
    expect(new Set(looks).size).toBe(1);
    await write(example(2));
    expect(await held(recent)).toEqual([1, 2]);
  });

  test('is read anew when nobody looked for longer than changes are known', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    monotonic += 6 * MINUTE;
    await database.sql()`delete from changed_alert_groups`;
    expect(await recent.current()).toBeNull();
    await recent.load();
    expect(await held(recent)).toEqual([1]);
  });

  test('is read anew when the machine was suspended, where only the wall clock goes on', async () => {
    await write(example(1));
    const wall = createManualClock(NOW);
    const recent = recentGroups({ clock: wall });
    await recent.load();
    wall.advance(6 * MINUTE);
    expect(await recent.current()).toBeNull();
  });

  test('is read anew when the process stood still just before it looked at the changes', async () => {
    await write(example(1));
    const sql = database.sql();
    const recent = recentGroups({
      sql: new Proxy(sql, {
        get: (target, name) => {
          const held = Reflect.get(target, name);
          if (name !== 'begin') return held;
          return (...given: unknown[]) => {
            if (isStill) monotonic += 20 * MINUTE;
            return Reflect.apply(held as () => unknown, target, given);
          };
        },
      }),
    });
    let isStill = false;
    await recent.load();
    expect(await held(recent)).toEqual([1]);
    isStill = true;
    expect(await recent.current()).toBeNull();
  });

  test('answers', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    const sql = database.sql();
    const reader = createGroupReader(sql, undefined, recent);
    // What nobody notes only SQL knows.
    await sql`alter table alert_groups disable trigger user`;
    await sql`update alert_groups set severity_level = 'critical'`;
    await sql`alter table alert_groups enable trigger user`;
    const filter = (severity: Group['severity']): GroupFilter => ({ ...EVERYTHING, severities: [severity] });
    const listed = async (severity: Group['severity']) => {
      const query = { sort: 'started_at', descending: true, after: null, limit: 5 } as const;
      return (await reader.list({ ...query, filter: filter(severity) })).items.map(({ number }) => number);
    };
    expect(await reader.counts(filter('critical'))).toMatchObject({ firing: 0 });
    expect(await reader.counts(filter('warning'))).toMatchObject({ firing: 1 });
    expect(await listed('critical')).toEqual([]);
    // What is shown is judged once more by its row.
    expect(await listed('warning')).toEqual([]);
  });

  test('answers the oldest of a range, whose order begins with all that ended before it', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    const sql = database.sql();
    const reader = createGroupReader(sql, undefined, recent);
    // What nobody notes only SQL knows.
    await sql`alter table alert_groups disable trigger note_inserted`;
    await write(example(2));
    await sql`alter table alert_groups enable trigger note_inserted`;
    const listed = async (descending: boolean, filter: GroupFilter = EVERYTHING) => {
      const { items } = await reader.list({ sort: 'started_at', descending, after: null, limit: 5, filter });
      return items.map(({ number }) => number).sort();
    };
    expect(await listed(false)).toEqual([1]);
    expect(await listed(true)).toEqual([1, 2]);
    expect(await listed(false, { ...EVERYTHING, from: null })).toEqual([1, 2]);
    expect(await listed(false, { ...EVERYTHING, statuses: ['firing'] })).toEqual([1, 2]);
  });

  test('stays when labels of resolved groups are too much, without these', async () => {
    const labels = { host: 'x'.repeat(2_000) };
    await write(example(1), example(2, { status: 'resolved', labels }));
    const recent = recentGroups({ mostCharacters: 1_000 });
    await recent.load();
    expect(await held(recent)).toEqual([1]);
  });

  test('is read anew when very many new labels came, though they are of few groups', async () => {
    await write(example(1));
    const recent = recentGroups();
    await recent.load();
    await database.sql()`
      update alert_groups
      set common_labels = (select jsonb_object_agg(n::text, '') from generate_series(1, 210000) as n)`;
    expect(await recent.current()).toBeNull();
  });

  test('drops resolved groups when there are too many, and everything when open ones are', async () => {
    await write(example(1), example(2), example(3, { status: 'resolved' }));
    const few = recentGroups({ most: 2 });
    await few.load();
    expect(await held(few)).toEqual([1, 2]);
    const reader = createGroupReader(database.sql(), undefined, few);
    expect(await reader.counts(EVERYTHING)).toMatchObject({ firing: 2, resolved: 1 });
    const none = recentGroups({ most: 1 });
    await none.load();
    expect(await none.current()).toBeNull();
    expect(await createGroupReader(database.sql(), undefined, none).counts(EVERYTHING)).toMatchObject({
      firing: 2,
    });
  });

  test('a failure to read it is told, and SQL answers', async () => {
    await write(example(1));
    const broken = new RecentGroups({
      ...{ clock, monotonic: () => monotonic, log: (...line) => void logged.push(line) },
      sql: Object.assign(() => undefined, { begin: () => Promise.reject(new Error('gone')) }) as never,
    });
    const reader = createGroupReader(database.sql(), undefined, broken);
    expect(await reader.counts(EVERYTHING)).toMatchObject({ firing: 1 });
    await broken.load();
    expect(logged).toEqual([['store_read_failed', { what: 'recent alert groups', error: 'Error: gone' }]]);
  });
});

test('when changes cannot be read that is told, SQL answers, and the next look goes on', async () => {
  await write(example(1));
  const recent = recentGroups();
  await recent.load();
  const sql = database.sql();
  const reader = createGroupReader(sql, undefined, recent);
  await write(example(2));
  await sql`alter table changed_alert_groups rename to hidden`;
  try {
    expect(await reader.counts(EVERYTHING)).toMatchObject({ firing: 2 });
  } finally {
    await sql`alter table hidden rename to changed_alert_groups`;
  }
  expect(logged.at(-1)).toMatchObject(['store_read_failed', { what: 'recent alert groups' }]);
  expect(await held(recent)).toEqual([1, 2]);
});

test('what was read is not read again while an older transaction goes on', async () => {
  const sql = database.sql();
  await write(example(1));
  await sql.begin(async (older) => {
    await older`update alert_groups set unclaimed = true`;
    await write(example(2), example(3));
    const [now] = await sql<{ snapshot: string }[]>`select pg_current_snapshot()::text as snapshot`;
    await write(example(3));
    const changed = await changedGroups(sql, now!.snapshot);
    expect(changed.map(({ number }) => number)).toEqual([3]);
  });
});

test('changes are found by an index', async () => {
  const sql = database.sql();
  await sql`
    insert into changed_alert_groups (xid, number)
    select (1000 + n)::text::xid8, n from generate_series(1, 50000) as n`;
  await sql`analyze changed_alert_groups`;
  const plan = await sql`explain ${changedGroups(sql, '50900:50900:')}`;
  const text = plan.map((row) => Object.values(row)[0]).join('\n');
  expect(text).toContain('changed_alert_groups_xid');
  expect(text).not.toContain('Seq Scan on changed_alert_groups');
});

describe('pruning', () => {
  const noted = async () => {
    const rows = await database.sql()<
      { number: number }[]
    >`select number from changed_alert_groups order by 1`;
    return rows.map(({ number }) => number);
  };

  /** Transactions of other tests on the same server, which began before, keep what was noted from counting as over. */
  const othersAreOver = () =>
    vi.waitFor(
      async () => {
        const [row] = await database.sql()<{ all: boolean }[]>`
          select bool_and(xid < pg_snapshot_xmin(pg_current_snapshot())) as all from changed_alert_groups`;
        expect(row?.all).toBe(true);
      },
      { timeout: 20_000 },
    );

  test('removes changes once they are ten minutes old, however often it is called', async () => {
    await write(example(1));
    await othersAreOver();
    const prune = createChangePruning(database.sql(), () => monotonic);
    for (let round = 0; round < 30; round++) expect(await prune()).toBe(0);
    monotonic += 9 * MINUTE;
    await write(example(2));
    expect(await prune()).toBe(0);
    monotonic += MINUTE;
    expect(await prune()).toBe(1);
    expect(await noted()).toEqual([2]);
  });

  test('removes what came with a dump of another server, whose transactions have yet to come here', async () => {
    await write(example(1));
    await database.sql()`
      insert into changed_alert_groups (xid, number)
      select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000)::text::xid8, 2`;
    expect(await createChangePruning(database.sql())()).toBe(1);
    expect(await noted()).toEqual([1]);
  });
});

describe('an expression on values in memory', () => {
  const filter: GroupFilter = {
    ...EVERYTHING,
    matchers: [{ label: 'host', op: '=~', value: '.*x' }],
  };
  let now = 0;

  test('is given up by the work it takes, not by what it waits for', async () => {
    await write(example(1, { labels: { host: 'x' } }));
    class SlowDatabase extends RecentGroups {
      override async current() {
        const known = await super.current();
        now += MINUTE;
        return known;
      }
    }
    const recent = new SlowDatabase({ sql: database.sql(), clock, monotonic: () => 0, log: () => undefined });
    await recent.load();
    const reader = createGroupReader(database.sql(), () => now, recent);
    expect(await reader.counts(filter)).toMatchObject({ firing: 1 });
  });

  test('is left to SQL and its short pages where all values take longer than a page may', async () => {
    const hosts = Array.from({ length: 12 }, (_, index) => `${index}${'x'.repeat(9_000)}`);
    await write(...hosts.map((host, index) => example(index + 1, { labels: { host } })));
    const recent = recentGroups();
    await recent.load();
    const reader = createGroupReader(database.sql(), () => (now += 100_000), recent);
    const found: number[] = [];
    let pages = 0;
    let after: GroupListQuery['after'] = null;
    do {
      pages++;
      const query = { filter, sort: 'started_at', descending: true, after, limit: 50 } as const;
      const { items, next } = await reader.list(query);
      found.push(...items.map(({ number }) => number));
      after = next as GroupListQuery['after'];
    } while (after !== null);
    expect(pages).toBeGreaterThan(1);
    expect(found).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });
});
