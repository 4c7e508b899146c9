/** Backups and migrations; test/smoke/backup.test.ts makes and restores one under load. */
import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { seedGroups } from '../bench/lists/seed.ts';
import type { DatabaseSettings } from '../runtime/config.ts';
import { createTestDatabase, dropTestDatabase } from '../test/postgres.ts';
import { readMigrationsBefore } from '../test/upgrade/earlier/migrations.ts';
import { readBackup, writeBackup } from './backup.ts';
import { migrate, readMigrations } from './migrate.ts';
import { connect } from './postgres/connection.ts';
import type { Sql } from './postgres/records.ts';

const NOW = 1_790_000_000_000_000;
const AT = new Date(NOW / 1000);

interface Opened {
  readonly settings: DatabaseSettings;
  readonly session: Sql;
}

let from: Opened;
let to: Opened;

beforeEach(async () => {
  [from, to] = [await opened(), await opened()];
});

afterEach(async () => {
  for (const { session, settings } of [from, to]) {
    await session.end({ timeout: 1 });
    await dropTestDatabase(inject('postgres'), settings);
  }
});

async function opened(): Promise<Opened> {
  const settings = await createTestDatabase(inject('postgres'), 'empty');
  return { settings, session: connect(settings, { max: 1, applicationName: 'backup-test' }) };
}

async function backedUp({ settings }: Opened): Promise<Readable> {
  const chunks: Buffer[] = [];
  const file = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk);
      done();
    },
  });
  await writeBackup(settings, file, AT);
  return Readable.from(chunks);
}

test('a backup of the version before, whose server computed a column, is restored with that column', async () => {
  const before = readMigrationsBefore().filter(({ version }) => version <= 41);
  await migrate(from.session, { migrations: before });
  await seedGroups(from.session, NOW, { open: 5, resolved: 5, routes: 2, integrations: 2, days: 1 });
  await readBackup(to.session, await backedUp(from), async () => undefined);
  await migrate(to.session);
  const hours = ({ session }: Opened) =>
    session`select number, changed_hour from alert_groups order by number`;
  expect(await hours(to)).toEqual(await hours(from));
  expect(await hours(to)).toHaveLength(10);
});

test('between two versions there is no backup', async () => {
  const migrations = readMigrations().filter(({ version }) => version <= 34);
  const crash = { how: 'in one transaction', extension: null, sql: 'select 1 / 0' } as const;
  const crashing = migrations.map((one) =>
    one.version === 34 ? { ...one, steps: [...one.steps.slice(0, 1), crash] } : one,
  );
  await expect(migrate(from.session, { migrations: crashing })).rejects.toThrow('division by zero');
  await expect(backedUp(from)).rejects.toThrow('A migration is under way');
  await migrate(from.session);
  await backedUp(from);
});
