import { expect, test } from 'vitest';
import { SECOND, systemMonotonic } from '../../runtime/clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { reachDatabase } from './database-check.ts';

const database = useDatabase('empty');
const options = { applicationName: 'tocsin test', monotonic: systemMonotonic };

test('a database that answers is reached at once', async () => {
  await reachDatabase(database.settings(), options);
});

test('one that is not there is tried again for a while, and then named with the cause', async () => {
  const settings = { ...database.settings(), host: '127.0.0.1', port: 1 };
  const begun = performance.now();
  await expect(reachDatabase(settings, { ...options, patience: SECOND })).rejects.toThrow(
    /^The database at 127\.0\.0\.1, port 1, cannot be used: .*ECONNREFUSED/,
  );
  expect(performance.now() - begun).toBeGreaterThanOrEqual(1000);
});

test('one that refuses the user is not tried again', async () => {
  const settings = { ...database.settings(), database: 'no_such_database' };
  await expect(reachDatabase(settings, options)).rejects.toThrow(/no_such_database/);
});
