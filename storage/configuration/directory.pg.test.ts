import { beforeEach, describe, expect, it } from 'vitest';
import { ON_CALL_POLICY } from '../../actors/route/policy.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Log, silentLog } from '../../runtime/log.ts';
import { firstStart, insertDestination, NOW, stoppedClock } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import type { Sql } from '../postgres/records.ts';
import { createDirectory } from './directory.ts';
import { ensureDefaults } from './first-rows.ts';

const database = useDatabase();

beforeEach(() => firstStart(database.sql()));

describe('the Directory', () => {
  it('shows a first start', async () => {
    const directory = createDirectory({ sql: database.sql(), clock: stoppedClock, log: silentLog });
    await directory.reload();
    const { organization, routes, routesById, integrationsById, destinationsById, usersById } =
      directory.current();
    expect(organization).toMatchObject({ name: 'Tocsin', severityLabel: 'severity', criticalIsUrgent: true });
    expect(routes).toEqual([
      {
        id: expect.any(String),
        name: 'Default',
        isDefault: true,
        deleted: false,
        matchers: [],
        urgent: false,
        groupKey: ['alertname', 'severity', 'cluster'],
        destinationIds: [],
        policy: ON_CALL_POLICY,
      },
    ]);
    expect([...integrationsById.values()]).toEqual([
      {
        id: expect.any(String),
        name: 'Tocsin',
        builtin: true,
        deleted: false,
        deletedAt: null,
        ended: false,
        staticLabels: {},
        duplicateWindowSeconds: 45,
        heartbeat: { enabled: false, timeoutSeconds: 300 },
      },
    ]);
    expect([routesById.size, destinationsById.size, usersById.size]).toEqual([1, 0, 0]);
  });

  it('keeps deleted Routes by id only and leaves deleted Destinations out', async () => {
    const sql = database.sql();
    const [live, gone] = [await insertDestination(sql, 'Live'), await insertDestination(sql, 'Gone')];
    await sql`update destinations set deleted_at = ${NOW} where id = ${gone}`;
    const [fallback] = await sql`
      update routes set destination_ids = ${JSON.stringify([gone, live])}::text::jsonb where is_default returning *`;
    const deleted = { ...fallback, id: 'RTDELETED', name: 'Old', is_default: false, deleted_at: NOW };
    await sql`insert into routes select * from jsonb_populate_record(null::routes, ${JSON.stringify(deleted)}::text::jsonb)`;
    const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
    await directory.reload();
    const { routes, routesById, destinationsById } = directory.current();
    expect(routes.map((route) => route.name)).toEqual(['Default']);
    expect(routes[0]?.destinationIds).toEqual([live]);
    expect(routesById.get('RTDELETED')).toMatchObject({ name: 'Old', deleted: true });
    expect([...destinationsById.values()]).toMatchObject([{ id: live, name: 'Live', mode: 'events' }]);
  });

  it('is an error to ask before it was read, and to read without an Organization', async () => {
    const sql = database.sql();
    const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
    expect(() => directory.current()).toThrow('before it was first read');
    await sql`truncate organization`;
    await expect(directory.reload()).rejects.toThrow('ensure steps');
  });

  it('shows every caller of reload what was stored when it called, with few reads', async () => {
    const sql = database.sql();
    const { counted, reads } = countingReads(sql);
    const directory = createDirectory({ sql: counted, clock: stoppedClock, log: silentLog });
    const first = directory.reload();
    await sql`update routes set name = 'Renamed'`;
    const others = Promise.all(Array.from({ length: 10 }, () => directory.reload()));
    await Promise.all([first, others]);
    expect(directory.current().routes[0]?.name).toBe('Renamed');
    expect(reads()).toBeLessThanOrEqual(3);
  });

  it('keeps the last picture when a reload fails, and repeats it until one succeeds', async () => {
    const sql = database.sql();
    const { clock, waits } = manualClock();
    const directory = createDirectory({ sql, clock, log: silentLog });
    await directory.reload();
    await sql`update routes set name = 'Renamed'`;
    await sql`alter table organization rename to away`;
    await expect(directory.reload()).rejects.toThrow();
    await expect(directory.reload()).rejects.toThrow();
    expect(directory.current().routes[0]?.name).toBe('Default');
    const [repeat, ...more] = waits;
    expect(more).toEqual([]);
    await sql`alter table away rename to organization`;
    waits.clear();
    repeat?.();
    await expect.poll(() => directory.current().routes[0]?.name).toBe('Renamed');
    expect(waits.size).toBe(0);
  });

  it('repeats nothing once it is stopped', async () => {
    const { clock, waits } = manualClock();
    let isAway = false;
    const real = database.sql();
    const sql = new Proxy(real, {
      apply: (target, self, args) =>
        isAway ? Promise.reject(new Error('away')) : Reflect.apply(target, self, args),
    });
    const directory = createDirectory({ sql, clock, log: silentLog });
    await directory.reload();
    isAway = true;
    await expect(directory.reload()).rejects.toThrow('away');
    expect(waits.size).toBe(1);
    directory.stop();
    expect(waits.size).toBe(0);
    await expect(directory.reload()).rejects.toThrow('away');
    expect(waits.size).toBe(0);
  });

  it('names a stored expression that no longer compiles, once', async () => {
    const sql = database.sql();
    const logged: unknown[] = [];
    const log: Log = (event, fields) => logged.push([event, fields]);
    const matchers = [
      { label: 'a', op: '=', value: '(' },
      { label: 'x', op: '=~', value: '(' },
    ];
    const [route] = await sql<{ id: string }[]>`
      update routes set matchers = ${JSON.stringify(matchers)}::text::jsonb returning id`;
    const directory = createDirectory({ sql, clock: stoppedClock, log });
    await directory.reload();
    await directory.reload();
    expect(logged).toEqual([['route_matcher_invalid', { route: route?.id, index: 1 }]]);
  });
});

describe('the ensure steps', () => {
  it('change nothing on a later start, not even what people made of the Default route', async () => {
    const sql = database.sql();
    await sql`update routes set name = 'Rest', urgent = true`;
    const before = [await sql`select * from routes`, await sql`select * from integrations`];
    await sql.begin((tx) => ensureDefaults(tx, NOW + 1));
    expect([await sql`select * from routes`, await sql`select * from integrations`]).toEqual(before);
  });
});

function countingReads(sql: Sql) {
  let reads = 0;
  const counted = new Proxy(sql, {
    apply(target, self, parts) {
      reads++;
      return Reflect.apply(target, self, parts);
    },
  });
  return { counted, reads: () => reads };
}

function manualClock() {
  const waits = new Set<() => void>();
  const clock: Clock = {
    now: () => NOW,
    after(_, run) {
      const wait = () => run();
      waits.add(wait);
      return { cancel: () => void waits.delete(wait) };
    },
  };
  return { clock, waits };
}
