/** That no migration keeps others waiting for as long as a table is large (operations §3); `bench migrations` measures it. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { seedActors, seedGroups } from '../bench/lists/seed.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import { createTestDatabase, dropTestDatabase } from '../test/postgres.ts';
import { readMigrationsBefore } from '../test/upgrade/earlier/migrations.ts';
import { type Migration, migrate, readMigrations, type Step } from './migrate.ts';
import { connect } from './postgres/connection.ts';
import type { Sql, Transaction } from './postgres/records.ts';

/** All that the rows are made of is there. */
const FILLED_AT = 22;
/** More than any table has from its migration. */
const GROUPS = 500;
const NOW = 1_790_000_000_000_000;
/** Rows that a batch may go through; small, so that one that goes through all of them is found. */
const BATCH = 50;
/** They stop neither readers nor writers, however large the table is. */
const STOPS_NOBODY =
  /^(create (unique )?index concurrently|drop index concurrently|alter table \w+ validate constraint|vacuum \((?!.*full))/m;

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

/** Applies a step. @returns whether others wait for it as long as a table is large */
async function blocks({ how, sql: statement }: Step): Promise<boolean> {
  switch (how) {
    case 'in one transaction':
      return (await measured((tx) => tx.unsafe(statement))).blocks;
    case 'outside a transaction':
      await session.unsafe(statement);
      return !STOPS_NOBODY.test(statement);
    case 'in batches': {
      let isTooMuch = false;
      for (let last: string | null | undefined = null; last !== undefined; ) {
        const batch = await measured((tx) => tx.unsafe(statement, [last as string | null, BATCH]));
        isTooMuch ||= batch.blocks || batch.changed > BATCH;
        last = batch.rows[0]?.last ?? undefined;
      }
      return isTooMuch;
    }
  }
}

/**
 * @returns whether it reads a large table while it stops others from writing to one, or changes many rows of one at once
 */
async function measured(run: (tx: Transaction) => Promise<readonly { last?: string | null }[]>) {
  return session.begin(async (tx) => {
    const tables = await tx<{ oid: number }[]>`
      select oid::int from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
    // What earlier transactions did may still be among it.
    const before = await rowsOf(tx);
    const rows = await run(tx);
    const after = await rowsOf(tx);
    const locks = await tx`
      select from pg_locks
      where pid = pg_backend_pid() and relation = any(${tables.map(({ oid }) => oid)}::oid[])
        and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;
    const changed = after.changed - before.changed;
    const stopsOthers = locks.length > 0 && after.read - before.read >= GROUPS;
    return { rows, changed, blocks: stopsOthers || changed >= GROUPS };
  });
}

/** Read by statements, for a table that is written anew, or for an index that is built; and updated or deleted. */
async function rowsOf(tx: Transaction): Promise<{ readonly read: number; readonly changed: number }> {
  const [row] = await tx<{ read: number; changed: number }[]>`
    select
      coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as read,
      coalesce(sum(n_tup_upd + n_tup_del), 0)::int as changed
    from pg_stat_xact_user_tables`;
  return row ?? { read: 0, changed: 0 };
}

/** Applies all that comes after the rows are there. @returns the steps that others wait for */
async function blockingOf(migrations: readonly Migration[]): Promise<readonly string[]> {
  const isFilled = ({ version }: Migration) => version > FILLED_AT;
  await migrate(session, { migrations: migrations.filter((one) => !isFilled(one)) });
  await seedGroups(session, NOW, { open: GROUPS, resolved: 0, routes: 2, integrations: 2, days: 1 });
  await seedActors(session, NOW);
  const blocking: string[] = [];
  for (const { version, name, steps } of migrations.filter(isFilled)) {
    for (const [index, step] of steps.entries())
      if (await blocks(step)) blocking.push(`${version} ${name}, step ${index + 1} of ${steps.length}`);
  }
  return blocking;
}

test('no migration makes others wait for as long as a table is large', async () => {
  expect(await blockingOf(readMigrations())).toEqual([]);
});

test('those that once did are found', async () => {
  expect(await blockingOf(readMigrationsBefore())).toEqual([
    '23 account_links, step 1 of 1',
    '28 open_groups_in_order, step 1 of 1',
    '29 lists_in_order, step 1 of 1',
    '30 text_by_half, step 1 of 1',
    '34 snapshot_bounds, step 1 of 1',
  ]);
});
