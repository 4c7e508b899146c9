/** The part of a start that precedes the listeners, on a main connection that takes no settings of a session. */
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import { createTestDatabase, dropTestDatabase } from '../../test/postgres.ts';
import { settingsOn } from '../../test/scenarios/running-service.ts';
import { systemClock } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import { openDatabase } from './database.ts';

let settings: DatabaseSettings;

beforeEach(async () => {
  settings = await createTestDatabase(inject('postgres'));
});

afterEach(() => dropTestDatabase(inject('postgres'), settings));

async function start(prepareStatements: boolean): Promise<void> {
  const database = await openDatabase({
    settings: { ...settingsOn(settings), prepareStatements },
    migrate: false,
    clock: systemClock,
    log: () => undefined,
  });
  await database.close();
}

async function commitsDefaultTo(mode: string): Promise<void> {
  const sql = connect(settings, { max: 1, applicationName: 'test' });
  await sql.unsafe(`alter database ${settings.database} set synchronous_commit = ${mode}`);
  await sql.end();
}

test.each(['off', 'local', 'remote_write'])(
  'is refused where a commit is answered early (synchronous_commit = %s)',
  async (mode) => {
    await commitsDefaultTo(mode);
    await expect(start(false)).rejects.toThrow(`synchronous_commit is ${mode} there. Set it to on`);
    await start(true);
  },
);

test('is made where a commit is answered once it is on disk', async () => {
  await start(false);
  await commitsDefaultTo('remote_apply');
  await start(false);
});
