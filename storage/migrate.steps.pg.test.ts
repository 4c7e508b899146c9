/** Migrations in steps: what was interrupted goes on, and ends at the schema of those that were applied whole. */
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { seedGroups } from '../bench/lists/seed.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import { until } from '../test/harness/until.ts';
import { createTestDatabase, dropTestDatabase, startTestServer } from '../test/postgres.ts';
import { readMigrationsBefore } from '../test/upgrade/earlier/migrations.ts';
import {
  type Migration,
  migrate,
  readMigrations,
  requireSchema,
  stepsOf,
  withMigrationLock,
} from './migrate.ts';
import { connect } from './postgres/connection.ts';
import type { Sql } from './postgres/records.ts';

const FILLED_AT = 22;
const NOW = 1_790_000_000_000_000;
const CRASH = { how: 'in one transaction', extension: null, sql: 'select 1 / 0' } as const;

let settings: DatabaseSettings;
let session: Sql;

beforeEach(async () => {
  settings = await createTestDatabase(inject('postgres'), 'empty');
  session = open(settings);
});

afterEach(async () => {
  await session.end({ timeout: 1 });
  await dropTestDatabase(inject('postgres'), settings);
});

function open(of: DatabaseSettings): Sql {
  return connect(of, { max: 1, applicationName: 'migrate-test' });
}

async function another(): Promise<Sql> {
  const other = await createTestDatabase(inject('postgres'), 'empty');
  const sql = open(other);
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    await dropTestDatabase(inject('postgres'), other);
  });
  return sql;
}

/** All that pg_dump writes of it. */
async function schemaOf(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    with ours as (
      select * from pg_class where relnamespace = 'public'::regnamespace
    )
    select format(
      'column %s.%s %s %s %s generated %L default %s', relname, attname, attnum, format_type(atttypid, atttypmod),
      attnotnull, attgenerated, pg_get_expr(adbin, adrelid)
    ) as line
    from pg_attribute join ours on ours.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and relkind in ('r', 'p', 'S')
    union all
    select format('table %s %s %s', relname, relkind, reloptions) from ours
    union all
    select format('constraint %s.%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select format('index %s %s', pg_get_indexdef(indexrelid), indisvalid)
    from pg_index join ours on ours.oid = indexrelid
    union all
    select format('trigger %s %s', pg_get_triggerdef(t.oid), tgenabled)
    from pg_trigger t join ours on ours.oid = tgrelid where not tgisinternal
    union all
    select 'function ' || pg_get_functiondef(p.oid)
    from pg_proc p left join pg_depend d on d.objid = p.oid and deptype = 'e'
    where pronamespace = 'public'::regnamespace and d.objid is null and prokind = 'f'
    order by 1`;
  return rows.map(({ line }) => line);
}

async function fill(sql: Sql, migrations: readonly Migration[]): Promise<void> {
  await migrate(sql, { migrations: migrations.filter(({ version }) => version <= FILLED_AT) });
  await seedGroups(sql, NOW, { open: 90, resolved: 60, routes: 2, integrations: 2, days: 1 });
}

test('the schema is the same after the earlier forms, which start without complaint', async () => {
  const before = await another();
  const earlier = readMigrationsBefore();
  const rewritten = readMigrations().filter(({ earlierChecksums }) => earlierChecksums.length > 0);
  expect(rewritten.map(({ version }) => version)).toEqual([23, 28, 29, 30, 34]);
  for (const { version, earlierChecksums } of rewritten)
    expect(earlierChecksums).toEqual([earlier.find((one) => one.version === version)?.checksum]);
  // As the version before left them.
  await migrate(before, { migrations: earlier.filter(({ version }) => version <= 41) });
  await migrate(before);
  await requireSchema(before);
  await migrate(session);
  expect(await schemaOf(session)).toEqual(await schemaOf(before));
});

test('killed between any two steps, migrations go on to the same schema and the same rows', async () => {
  const migrations = readMigrations();
  const whole = await another();
  for (const sql of [whole, session]) await fill(sql, migrations);
  await migrate(whole);
  let kills = 0;
  for (const { version, steps } of migrations.filter(
    (one) => one.version > FILLED_AT && one.steps.length > 1,
  )) {
    for (const [index, step] of steps.entries()) {
      const known = migrations.filter((one) => one.version <= version);
      const crashing = known.map((one) =>
        one.version === version ? { ...one, steps: steps.with(index, CRASH) } : one,
      );
      await expect(migrate(session, { migrations: crashing })).rejects.toThrow('division by zero');
      // It was finished, and the process killed before that was recorded.
      if (step.how === 'outside a transaction') await session.unsafe(step.sql);
      kills += 1;
    }
  }
  expect(kills).toBeGreaterThan(20);
  await migrate(session);
  expect(await schemaOf(session)).toEqual(await schemaOf(whole));
  const rowsOf = (sql: Sql) =>
    sql`select number, changed_hour, last_changed_at / 3600000000 as hour from alert_groups order by number`;
  const rows = await rowsOf(session);
  expect(rows).toHaveLength(150);
  expect(rows.every((row) => row.changed_hour === row.hour)).toBe(true);
  expect(rows).toEqual(await rowsOf(whole));
});

test('rows that get a new column stay within their page, so that no index is touched', async () => {
  // Of its own: whoever waits to connect to a database that is being dropped keeps row versions in all the others.
  const server = await startTestServer();
  onTestFinished(server.stop);
  const alone = open(await server.createDatabase('empty'));
  onTestFinished(() => alone.end({ timeout: 1 }));
  const migrations = readMigrations();
  await migrate(alone, { migrations: migrations.filter(({ version }) => version < 29) });
  await seedGroups(alone, NOW, { open: 2_000, resolved: 0, routes: 2, integrations: 2, days: 1 });
  await migrate(alone, { migrations: migrations.filter(({ version }) => version <= 29) });
  await alone`select pg_stat_force_next_flush()`;
  const [row] = await alone<{ all: number; within: number }[]>`
    select n_tup_upd::int as all, n_tup_hot_upd::int as within
    from pg_stat_user_tables where relname = 'alert_groups'`;
  // Those of batches that were undone are among them.
  expect(row?.all).toBeGreaterThanOrEqual(2_000);
  expect(row?.within).toBeGreaterThan(0.9 * (row?.all ?? 0));
});

test('killed within a batch, what was cut is not cut again', async () => {
  const migrations = readMigrations();
  await fill(session, migrations);
  const long = Array.from({ length: 5_000 }, (_, index) => (index * 7919).toString(36)).join('');
  await session`update alert_groups set summary = ${long} where number between 20 and 120`;
  const before = migrations.filter(({ version }) => version < 34);
  await migrate(session, { migrations: before });
  const bounds = migrations.find(({ version }) => version === 34);
  if (!bounds) throw new Error('there is no migration 34');
  // Rows of the first batch, at most 64, are cut; one after it fails, however fast the machine is.
  await session`alter table alert_groups add constraint failing check (number not between 110 and 120 or length(summary) > 20000)`;
  await expect(migrate(session, { migrations: [...before, bounds] })).rejects.toThrow('failing');
  await session`alter table alert_groups drop constraint failing`;
  const texts = () => session<{ summary: string; count: number }[]>`
    select summary, count(*)::int from alert_groups where number between 20 and 120 group by 1 order by length(summary)`;
  const cut = `${long.slice(0, 16_384)}… [cut: ${long.length} characters]`;
  const [first, ...others] = await texts();
  expect(first?.summary).toBe(cut);
  expect(others.map(({ summary }) => summary)).toEqual([long]);
  await migrate(session, { migrations: [...before, bounds] });
  expect(await texts()).toEqual([{ summary: cut, count: 101 }]);
});

const ONE = made(1, 'create table one (n integer); insert into one select generate_series(1, 10);');
const INDEXED = made(2, '-- step: outside a transaction\ncreate index concurrently one_n on one (n);\n');

function made(version: number, up: string): Migration {
  return {
    ...{ version, name: `step_${version}`, up, down: null, checksum: up, earlierChecksums: [] },
    steps: stepsOf(up),
  };
}

test('an index whose making was interrupted is made again', async () => {
  await migrate(session, { migrations: [ONE] });
  const others = connect(settings, { max: 2, applicationName: 'migrate-test' });
  const killed = open(settings);
  await others.begin(async (tx) => {
    await tx`insert into one values (11)`;
    const failing = migrate(killed, { migrations: [ONE, INDEXED] }).catch((error: Error) => error);
    await until('the index to be begun', async () => {
      const found = await others`select from pg_class where relname = 'one_n'`;
      return found.length > 0;
    });
    await others`select pg_terminate_backend(pid) from pg_stat_activity where query like 'create index concurrently%'`;
    expect(await failing).toBeInstanceOf(Error);
  });
  await others.end();
  await killed.end();
  const valid = () => session`select indisvalid from pg_index where indexrelid = 'one_n'::regclass`;
  expect(await valid()).toEqual([{ indisvalid: false }]);
  await migrate(session, { migrations: [ONE, INDEXED] });
  expect(await valid()).toEqual([{ indisvalid: true }]);
});

test('an index is made while another starter waits for its turn', async () => {
  await migrate(session, { migrations: [ONE] });
  const starters = [open(settings), open(settings)];
  const { running } = await withMigrationLock(session, async () => {
    const run = Promise.all(starters.map((sql) => migrate(sql, { migrations: [ONE, INDEXED] })));
    await until('both to ask for the lock', async () => {
      const asking = await session`
        select from pg_stat_activity
        where datname = current_database() and query like '%advisory_lock%' and pid <> pg_backend_pid()`;
      return asking.length === 2;
    });
    return { running: run };
  });
  expect((await running).map(({ from }) => from).sort()).toEqual([1, 2]);
  await Promise.all(starters.map((sql) => sql.end()));
});

test('a batch that takes long, or waits for a row, is undone and made smaller', async () => {
  const slow = made(
    2,
    `-- step: in batches
    with batch as (
      select n from one where n > coalesce($1::text::integer, 0) order by n limit $2::integer
    ), changed as (
      update one set n = one.n + 0 * length(pg_sleep(0.03)::text) from batch where one.n = batch.n
    )
    select max(n)::text as last from batch`,
  );
  await migrate(session, { migrations: [ONE] });
  const others = connect(settings, { max: 2, applicationName: 'migrate-test' });
  const migrating = await others.begin(async (tx) => {
    await tx`update one set n = n where n = 1`;
    const run = migrate(session, { migrations: [ONE, slow] });
    await until('a batch to be given up', async () => {
      const [row] = await others`
        select xact_rollback > 0 as undone from pg_stat_database where datname = current_database()`;
      return row?.undone;
    });
    return { run };
  });
  expect(await migrating.run).toEqual({ from: 1, to: 2 });
  expect(await others`select n from one order by n`).toHaveLength(10);
  await others.end();
});

test('a starter that lost its lock with its session gives up where another one went on', async () => {
  const others = connect(settings, { max: 1, applicationName: 'migrate-test' });
  const waiting = made(
    2,
    '-- step: in one transaction\nselect;\n-- step: in one transaction\nlock table one;\n-- step: in one transaction\nselect;\n',
  );
  await migrate(session, { migrations: [ONE] });
  const left = await others.begin(async (tx) => {
    await tx`lock table one in access share mode`;
    const run = migrate(session, { migrations: [ONE, waiting] });
    await until('the second step to be next', async () => {
      const begun = await tx`select from schema_migration_steps where done = 1`;
      return begun.length === 1;
    });
    await tx`update schema_migration_steps set done = 2`;
    return { run: run.catch((error: Error) => error.message) };
  });
  expect(await left.run).toBe('Migration 2 (step_2) failed: Another process is applying it. Start again.');
  expect(await others`select done from schema_migration_steps`).toEqual([{ done: 2 }]);
  await others.end();
});

test('a step that needs an extension is left out where it is not installed', async () => {
  const up = '-- step: outside a transaction, with absent\ncreate index concurrently one_n on one (n);\n';
  expect(await migrate(session, { migrations: [ONE, made(2, up)] })).toEqual({ from: 0, to: 2 });
  expect(await session`select from pg_class where relname = 'one_n'`).toHaveLength(0);
});
