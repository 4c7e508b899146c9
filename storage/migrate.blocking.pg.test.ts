/** Which migrations keep others waiting for as long as a table is large (operations §3); `bench migrations` measures it. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { seedGroups } from '../bench/lists/seed.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import { createTestDatabase, dropTestDatabase } from '../test/postgres.ts';
import { type Migration, migrate, readMigrations } from './migrate.ts';
import { connect } from './postgres/connection.ts';
import type { Sql, Transaction } from './postgres/records.ts';

/** All that the rows are made of is there. */
const FILLED_AT = 22;
/** More than any table has from its migration. */
const GROUPS = 500;
const NOW = 1_790_000_000_000_000;
/** They were applied before this was looked at (docs/deploying.md). No other may be added. */
const KNOWN = ['28 open_groups_in_order', '29 lists_in_order', '30 text_by_half', '34 snapshot_bounds'];

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

/**
 * Applies a migration.
 * @returns whether it reads a large table while it stops others from writing to one, or changes many rows of one at once
 */
async function blocks({ up }: Migration): Promise<boolean> {
  return session.begin(async (tx) => {
    const tables = await tx<{ oid: number }[]>`
      select oid::int from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;
    // What earlier transactions did may still be among it.
    const before = await rowsOf(tx);
    await tx.unsafe(up);
    const after = await rowsOf(tx);
    const locks = await tx`
      select from pg_locks
      where pid = pg_backend_pid() and relation = any(${tables.map(({ oid }) => oid)}::oid[])
        and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;
    const stopsOthers = locks.length > 0 && after.read - before.read >= GROUPS;
    return stopsOthers || after.changed - before.changed >= GROUPS;
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

test('no migration makes others wait for as long as a table is large, but those that are known to', async () => {
  const migrations = readMigrations();
  await migrate(session, { migrations: migrations.filter(({ version }) => version <= FILLED_AT) });
  await seedGroups(session, NOW, { open: GROUPS, resolved: 0, routes: 2, integrations: 2, days: 1 });
  const blocking: string[] = [];
  for (const migration of migrations.filter(({ version }) => version > FILLED_AT)) {
    if (!migration.transactional) await session.unsafe(migration.up);
    else if (await blocks(migration)) blocking.push(`${migration.version} ${migration.name}`);
  }
  expect(blocking).toEqual(KNOWN);
});
