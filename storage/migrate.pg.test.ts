import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import type { DatabaseSettings } from '../runtime/config.ts';
import { until } from '../test/harness/until.ts';
import { createTestDatabase, dropTestDatabase } from '../test/postgres.ts';
import {
  knownVersion,
  type Migration,
  migrate,
  readMigrations,
  requireSchema,
  SchemaError,
  schemaVersion,
  stepsOf,
  withMigrationLock,
} from './migrate.ts';
import { connect } from './postgres/connection.ts';
import type { Sql } from './postgres/records.ts';
import { PARTITIONED_TABLES } from './postgres/retention.ts';

let settings: DatabaseSettings;
let session: Sql;

beforeEach(async () => {
  settings = await createTestDatabase(inject('postgres'), 'empty');
  session = connect(settings, { max: 1, applicationName: 'migrate-test' });
});

afterEach(async () => {
  await session.end({ timeout: 1 });
  await dropTestDatabase(inject('postgres'), settings);
});

function made(version: number, up: string, parts: Partial<Migration> = {}): Migration {
  return {
    ...{ version, name: `step_${version}`, up, down: null, checksum: up },
    ...{ earlierChecksums: [], steps: stepsOf(up), ...parts },
  };
}

const ONE = made(1, 'create table one (n integer)');
const TWO = made(2, 'create table two (n integer); insert into one values (2)');

async function problemOf(failing: Promise<unknown>): Promise<unknown> {
  const error = await failing.catch((thrown: unknown) => thrown);
  return error instanceof SchemaError ? [error.problem, error.databaseVersion, error.knownVersion] : error;
}

test('starters that come together: one applies, the others wait and find nothing to do', async () => {
  const others = [1, 2].map(() => connect(settings, { max: 1, applicationName: 'migrate-test' }));
  const results = await Promise.all([session, ...others].map((each) => migrate(each)));
  await Promise.all(others.map((each) => each.end()));
  const known = knownVersion();
  expect(results.filter(({ from }) => from === 0)).toEqual([{ from: 0, to: known }]);
  expect(results.filter(({ from }) => from === known)).toHaveLength(2);
  expect(await schemaVersion(session)).toBe(known);
  await requireSchema(session);
});

test('what is missing is applied in order, and told', async () => {
  const logged: unknown[] = [];
  const log = (event: string, fields: unknown) => void logged.push([event, fields]);
  await migrate(session, { migrations: [ONE], log });
  await migrate(session, { migrations: [ONE, TWO], log });
  await migrate(session, { migrations: [ONE, TWO], log });
  expect(logged).toEqual([
    ['migrations_applied', { from: 0, to: 1 }],
    ['migrations_applied', { from: 1, to: 2 }],
    ['migrations_current', { version: 2 }],
  ]);
});

test('a migration that fails leaves nothing of itself, and says which it was', async () => {
  const broken = made(2, 'create table two (n integer); select nothing');
  await expect(migrate(session, { migrations: [ONE, broken] })).rejects.toThrow(
    'Migration 2 (step_2) failed',
  );
  expect(await schemaVersion(session)).toBe(1);
  const [row] = await session`select to_regclass('two') as two`;
  expect(row?.two).toBeNull();
  await migrate(session, { migrations: [ONE, TWO] });
});

test('while a migration waits for a lock others go on, and it is applied once it gets the lock', async () => {
  await migrate(session, { migrations: [ONE] });
  const others = connect(settings, { max: 2, applicationName: 'migrate-test' });
  const { migrating } = await others.begin(async (tx) => {
    await tx`select from one`;
    const migration = migrate(session, {
      migrations: [ONE, made(2, 'alter table one add column m integer')],
    });
    await until('the migration to wait', async () => {
      const waiting = await others`
        select from pg_locks where relation = 'one'::regclass and mode = 'AccessExclusiveLock' and not granted`;
      return waiting.length > 0;
    });
    await others`insert into one values (1)`;
    expect(await others`select from one`).toHaveLength(1);
    return { migrating: migration };
  });
  expect(await migrating).toEqual({ from: 1, to: 2 });
  await others.end();
});

describe('a schema is refused', () => {
  test('newer than known, by migrate and by start-up', async () => {
    await migrate(session, { migrations: [ONE, TWO] });
    expect(await problemOf(migrate(session, { migrations: [ONE] }))).toEqual(['too_new', 2, 1]);
    expect(await problemOf(requireSchema(session, [ONE]))).toEqual(['too_new', 2, 1]);
  });

  test('older than needed', async () => {
    expect(await problemOf(requireSchema(session, [ONE]))).toEqual(['too_old', 0, 1]);
    await migrate(session, { migrations: [ONE] });
    expect(await problemOf(requireSchema(session, [ONE, TWO]))).toEqual(['too_old', 1, 2]);
  });

  test('half applied in another form', async () => {
    const up = '-- step: in one transaction\nselect 1;\n-- step: outside a transaction\nvacuum absent;\n';
    await expect(migrate(session, { migrations: [ONE, made(2, up)] })).rejects.toThrow('absent');
    expect(await schemaVersion(session)).toBe(1);
    const other = made(2, up.replace('absent', 'one'));
    expect(await problemOf(migrate(session, { migrations: [ONE, other] }))).toEqual(['dirty', 1, 2]);
    expect(await problemOf(requireSchema(session, [ONE, other]))).toEqual(['too_old', 1, 2]);
  });

  test('applied in another form', async () => {
    await migrate(session, { migrations: [ONE] });
    const changed = { ...ONE, checksum: 'other', earlierChecksums: ['first'] };
    expect(await problemOf(migrate(session, { migrations: [changed] }))).toEqual(['dirty', 1, 1]);
    expect(await problemOf(requireSchema(session, [changed]))).toEqual(['dirty', 1, 1]);
  });
});

test('an earlier form of a migration that was applied counts as this one', async () => {
  await migrate(session, { migrations: [ONE] });
  const changed = made(1, 'create table one (n integer, m integer)', { earlierChecksums: [ONE.checksum] });
  expect(await migrate(session, { migrations: [changed] })).toEqual({ from: 1, to: 1 });
  await requireSchema(session, [changed]);
});

test('a step of no known kind is refused', () => {
  expect(() => stepsOf('-- step: in parts\nselect 1')).toThrow('There is no such step: in parts');
});

test('every migration that has a way back goes up, down and up again', async () => {
  const migrations = readMigrations();
  const wayBack = migrations.slice(migrations.findLastIndex(({ down }) => down === null) + 1);
  await migrate(session);
  const before = await shape(session);
  for (const { version, down } of wayBack.toReversed()) {
    await session.unsafe(down ?? '');
    await session`delete from schema_migrations where version = ${version}`;
  }
  await migrate(session);
  expect(await shape(session)).toEqual(before);
});

test('the engine’s tables go up, down without a trace, and up again', async () => {
  const migrations = readMigrations().slice(0, 1);
  await migrate(session, { migrations });
  const before = await shape(session);
  await session.unsafe(migrations[0]?.down ?? '');
  await session`delete from schema_migrations`;
  expect(await shape(session)).toEqual(['schema_migration_steps', 'schema_migrations']);
  await migrate(session, { migrations });
  expect(await shape(session)).toEqual(before);
});

test('every partitioned table is among those that get partitions', async () => {
  await migrate(session);
  const rows = await session`select partrelid::regclass::text as name from pg_partitioned_table`;
  expect(rows.map(({ name }) => name).sort()).toEqual(PARTITIONED_TABLES.map(({ table }) => table).sort());
});

test('the migration lock needs a client that keeps its session', async () => {
  const pool = connect(settings, { max: 2, applicationName: 'migrate-test' });
  await expect(withMigrationLock(pool, async () => undefined)).rejects.toThrow('exactly one connection');
  await pool.end();
});

/** Tables, indexes, functions and types of ours. */
async function shape(sql: Sql): Promise<unknown[]> {
  const rows = await sql`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')
    union all
    select proname::text from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`;
  return rows.map(({ name }) => name);
}

test('texts of any length that an earlier release kept are cut, and nothing else changes', async () => {
  const all = readMigrations();
  const before = all.filter(({ version }) => version < 34);
  await migrate(session, { migrations: before });
  const insert = (id: string, labels: object) => session`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels, common_annotations,
      integration_ids, severity_level, started_at, last_changed_at, reopen_count, firing_alert_count,
      resolved_alert_count, unclaimed, delivery_problem, in_grace
    ) values (
      ${id}, ${Number(id)}, 't', 'firing', 'r', 'r', ${id}, '{}', ${JSON.stringify(labels)}::text::jsonb, '{}',
      '{}', 'info', 0, 0, 0, 1, 0, false, false, false
    )`;
  const long = Array.from({ length: 500_000 }, (_, index) => (index * 7919).toString(36)).join('');
  await insert('1', { long, short: 'kept' });
  await insert('2', { short: 'kept' });
  await migrate(session, { migrations: all });
  const rows = await session<{ labels: Record<string, string> }[]>`
    select common_labels as labels from alert_groups order by number`;
  expect(rows[0]?.labels).toEqual({
    long: `${long.slice(0, 4_096)}… [cut: ${long.length} characters]`,
    short: 'kept',
  });
  expect(rows[1]?.labels).toEqual({ short: 'kept' });
});
