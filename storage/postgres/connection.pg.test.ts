import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect, isConflict, isUnavailable } from './connection.ts';
import type { Sql, Transaction } from './records.ts';

const database = useDatabase('empty');

/** A client of few connections, so that a lost one is noticed. */
let client: Sql;

beforeEach(() => {
  client = connect(database.settings(), { max: 1, applicationName: 'test-client' });
});

afterEach(async () => {
  await client.end({ timeout: 1 });
});

async function pidOf(sql: Sql | Transaction): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid ?? 0;
}

/** Ends a session from outside and waits until the server has done so. */
async function cut(pid: number): Promise<void> {
  await database.sql()`select pg_terminate_backend(${pid}, 5000)`;
}

async function codeOf(failing: Promise<unknown>): Promise<unknown> {
  return failing.then(
    () => 'no error',
    (error: unknown) => (isUnavailable(error) ? 'unavailable' : error),
  );
}

/** Waits until a session sleeps in a statement. */
async function busy(pid: number): Promise<void> {
  await until('the statement', async () => {
    const rows = await database.sql()`
      select from pg_stat_activity where pid = ${pid} and state = 'active' and wait_event = 'PgSleep'`;
    return rows.length > 0;
  });
}

/** Whether the client serves again; at most the first statement may learn of the loss. */
async function serves(): Promise<void> {
  await codeOf(Promise.resolve(client`select 1`));
  await codeOf(Promise.resolve(client`select 1`));
  expect([...(await client`select 2 as two`)]).toEqual([{ two: 2 }]);
  const result = await client.begin((tx) => tx`select 3 as three`);
  expect([...result]).toEqual([{ three: 3 }]);
}

describe('a connection that the server ends', () => {
  test('between statements is replaced', async () => {
    await cut(await pidOf(client));
    await serves();
  });

  test('in the middle of a statement fails it', async () => {
    const pid = await pidOf(client);
    const asked = codeOf(Promise.resolve(client`select pg_sleep(60)`));
    await busy(pid);
    await cut(pid);
    expect(await asked).toBe('unavailable');
    await serves();
  });

  test('in the middle of a transaction fails it, with everything that it still asks', async () => {
    const later: unknown[] = [];
    const failed = codeOf(
      client.begin(async (tx) => {
        const pid = await pidOf(tx);
        const asked = Promise.all([tx`select pg_sleep(60)`, tx`select 2`]);
        asked.catch(() => undefined);
        await busy(pid);
        await cut(pid);
        later.push(await codeOf(asked), await codeOf(Promise.resolve(tx`select 3`)));
        throw new Error('given up');
      }),
    );
    expect(await failed).toBe('unavailable');
    await serves();
    expect(later).toEqual(['unavailable', 'unavailable']);
  });

  test('while a transaction is busy elsewhere fails its next statement and its end', async () => {
    const failed = codeOf(
      client.begin(async (tx) => {
        await cut(await pidOf(tx));
        await tx`select 1`;
      }),
    );
    expect(await failed).toBe('unavailable');
    const silent = codeOf(client.begin(async (tx) => cut(await pidOf(tx))));
    expect(await silent).toBe('unavailable');
    await serves();
  });

  test('while it commits fails the commit', async () => {
    await database.sql().unsafe(`
      create table slow_commits (n int);
      create function sleep_at_commit() returns trigger language plpgsql
        as 'begin perform pg_sleep(60); return null; end';
      create constraint trigger sleeps after insert on slow_commits deferrable initially deferred
        for each row execute function sleep_at_commit()`);
    const pid = await pidOf(client);
    const committing = codeOf(client.begin((tx) => tx`insert into slow_commits values (1)`));
    await busy(pid);
    await cut(pid);
    expect(await committing).toBe('unavailable');
    await serves();
  });

  test('again and again never leaves the client unusable', async () => {
    const pool = connect(database.settings(), { max: 3, applicationName: 'test-client' });
    for (let round = 0; round < 10; round++) {
      const pids = await Promise.all([pidOf(pool), pidOf(pool), pidOf(pool)]);
      const work = Array.from({ length: 12 }, (_, index) =>
        index % 2 === 0
          ? codeOf(pool.begin((tx) => [tx`select pg_sleep(0.001)`, tx`select 1`]))
          : codeOf(Promise.resolve(pool`select ${'x'.repeat(index * 200)}::text`)),
      );
      await Promise.all(pids.map(cut));
      const outcomes = await Promise.all(work);
      expect(outcomes.filter((outcome) => outcome !== 'no error' && outcome !== 'unavailable')).toEqual([]);
    }
    await Promise.all(Array.from({ length: 6 }, () => codeOf(Promise.resolve(pool`select 1`))));
    expect(await Promise.all([pidOf(pool), pidOf(pool), pidOf(pool)])).toHaveLength(3);
    await pool.end({ timeout: 1 });
  });
});

describe('conventions', () => {
  test('bigint is a number, jsonb a value, times are in UTC', async () => {
    const [row] =
      await client`select 9007199254740991 as big, '{"a":[1]}'::jsonb as json, current_setting('TimeZone') as zone`;
    expect(row).toEqual({ big: Number.MAX_SAFE_INTEGER, json: { a: [1] }, zone: 'UTC' });
  });

  test('PG* variables change nothing', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      PGOPTIONS: '-c x',
      PGTARGETSESSIONATTRS: 'nonsense',
      PGPASSWORD: 'x',
      PGMAX: '0',
    });
    try {
      const plain = connect(database.settings(), { max: 1, applicationName: 'test-env' });
      expect([...(await plain`select current_setting('application_name') as name`)]).toEqual([
        { name: 'test-env' },
      ]);
      await plain.end();
      expect(process.env.PGMAX).toBe('0');
    } finally {
      for (const name of ['PGOPTIONS', 'PGTARGETSESSIONATTRS', 'PGPASSWORD', 'PGMAX'])
        delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  test('works without prepared statements', async () => {
    const plain = connect(database.settings(), { max: 1, applicationName: 'test', prepare: false });
    const result = await plain.begin((tx) => tx`select ${'a'}::text as a, ${[1, 2]}::int[] as b`);
    expect([...result]).toEqual([{ a: 'a', b: [1, 2] }]);
    await plain.end();
  });
});

describe('errors', () => {
  test('a uniqueness rule is a conflict, not a loss of the database', async () => {
    await client`create table once (n integer primary key)`;
    await client`insert into once values (1)`;
    const error = await client`insert into once values (1)`.catch((thrown: unknown) => thrown);
    expect([isConflict(error), isUnavailable(error)]).toEqual([true, false]);
  });

  test('a mistake in a statement is neither', async () => {
    const error = await client`select nothing`.catch((thrown: unknown) => thrown);
    expect([isConflict(error), isUnavailable(error)]).toEqual([false, false]);
  });

  test.each([
    ['a folder without a socket', { host: '/nowhere' }],
    ['a port where nobody listens', { host: '127.0.0.1', port: 1 }],
    ['a name that does not resolve', { host: 'database.invalid' }],
    ['a database that is not there', { database: 'absent' }],
  ])('%s', async (name, wrong) => {
    const nowhere = connect({ ...database.settings(), ...wrong }, { max: 1, applicationName: 'test' });
    const first = await codeOf(Promise.resolve(nowhere`select 1`));
    const second = await codeOf(nowhere.begin((tx) => tx`select 1`));
    if (name === 'a database that is not there') expect(first).toMatchObject({ code: '3D000' });
    else expect([first, second]).toEqual(['unavailable', 'unavailable']);
    await nowhere.end({ timeout: 1 });
  });
});
