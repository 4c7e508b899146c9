import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createPoolMetrics } from '../../runtime/compose/database.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect, createPoolLoad } from './connection.ts';

const database = useDatabase();

test('a pool says how many connections are open and used, and what waits for one', async () => {
  const load = createPoolLoad(2);
  const sql = connect(database.settings(), { max: 2, applicationName: 'load', load });
  const registry = new Registry();
  createPoolMetrics(registry).watch({ main: load });
  const shown = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('svc_'))
      .map((line) => line.replace('pool="main"', ''));
  const releases: (() => void)[] = [];
  const held = () =>
    sql.begin(async (tx) => {
      await tx`select 1`;
      await new Promise<void>((resolve) => releases.push(resolve));
    });
  const transactions = [held(), held()];
  await expect.poll(() => releases.length).toBe(2);
  const waiting = sql`select 1`.execute();
  const unused = sql`select 2`;
  await expect.poll(() => load.begun).toBe(3);
  expect(await shown()).toEqual([
    'svc_db_pool_connections{,state="in_use"} 2',
    'svc_db_pool_connections{,state="idle"} 0',
    'svc_db_pool_max_connections{} 2',
    'svc_db_pool_waiting{} 1',
  ]);
  for (const release of releases) release();
  await Promise.all([...transactions, waiting]);
  await sql`select ${unused}`.catch(() => undefined);
  await expect(sql`select broken from nothing`).rejects.toThrow();
  await expect(sql.unsafe('select 1 / 0')).rejects.toThrow();
  await expect.poll(() => load.begun).toBe(0);
  expect(await shown()).toContain('svc_db_pool_connections{,state="idle"} 2');
  await sql.end();
  await expect.poll(() => load.open).toBe(0);
});
