import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { SECOND } from '../clock.ts';
import { readiness } from './readiness.ts';

const database = useDatabase('empty');
let sql: Sql;

beforeEach(() => {
  sql = connect(database.settings(), { max: 1, applicationName: 'readiness-test' });
});

afterEach(() => sql.end({ timeout: 0 }));

test('from its start to its end the service is ready only between', async () => {
  const state = readiness(sql, createManualClock());
  expect(await state.check()).toBe('starting');
  state.ready();
  expect(await state.check()).toBeNull();
  state.shuttingDown();
  expect(await state.check()).toBe('shutting down');
});

test('a database that refuses makes it unready', async () => {
  const nowhere = connect({ ...database.settings(), port: 1 }, { max: 1, applicationName: 'readiness-test' });
  const state = readiness(nowhere, createManualClock());
  state.ready();
  expect(await state.check()).toBe('database unavailable');
  await nowhere.end({ timeout: 0 });
});

test('a database that says nothing for a second makes it unready', async () => {
  const clock = createManualClock();
  const state = readiness(sql, clock);
  state.ready();
  const busy = sql`select pg_sleep(60)`.execute();
  const answer = state.check();
  clock.advance(SECOND);
  expect(await answer).toBe('database unavailable');
  await sql.end({ timeout: 0 });
  await expect(busy).rejects.toThrow();
});
