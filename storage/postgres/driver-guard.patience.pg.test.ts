import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useDatabase } from '../../test/postgres.ts';
import { connect, isUnavailable } from './connection.ts';
import type { Sql } from './records.ts';

const database = useDatabase('empty');

/** Short enough for a test, long enough for every honest answer in it. */
const PATIENCE_MS = 500;

/** A way to the server on which everything can be lost without a word, as behind a router that forgot a connection. */
let proxy: net.Server;
let pairs: { near: net.Socket; far: net.Socket }[] = [];
let client: Sql;

function silence(): void {
  for (const { near, far } of pairs) {
    near.unpipe(far).resume();
    far.unpipe(near).resume();
  }
}

beforeEach(async () => {
  pairs = [];
  const { host, port } = database.settings();
  proxy = net.createServer((near) => {
    const far = net.connect(path.join(host, `.s.PGSQL.${port}`));
    far.on('error', () => near.destroy());
    near.on('error', () => far.destroy());
    near.pipe(far).pipe(near);
    pairs.push({ near, far });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port: open } = proxy.address() as net.AddressInfo;
  client = connect(
    { ...database.settings(), host: '127.0.0.1', port: open },
    { max: 1, applicationName: 'patience-test', answerWithin: PATIENCE_MS },
  );
});

afterEach(async () => {
  await client.end({ timeout: 1 });
  for (const { near, far } of pairs) {
    near.destroy();
    far.destroy();
  }
  await new Promise((resolve) => proxy.close(resolve));
});

async function isLost(asked: Promise<unknown>): Promise<boolean> {
  return asked.then(
    () => false,
    (error: unknown) => isUnavailable(error),
  );
}

async function pid(): Promise<number | undefined> {
  const [row] = await client<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid;
}

/** The session that serves after a loss, of which the statement asked right after it may learn, too. */
async function nextPid(): Promise<number | undefined> {
  await isLost(pid());
  return pid();
}

test('a statement on a connection that went silent fails as unavailable, and the client connects anew', async () => {
  const before = await pid();
  silence();
  expect(await isLost(pid())).toBe(true);
  expect(await nextPid()).not.toBe(before);
});

test('so does a new statement that is described first, and a transaction with everything in it', async () => {
  await pid();
  silence();
  expect(await isLost(Promise.resolve(client`select ${'a'}::text as word`))).toBe(true);
  await nextPid();
  const lost = isLost(
    client.begin(async (tx) => {
      await tx`select 1`;
      silence();
      await Promise.all([tx`select 2`, tx`select 3`]);
    }),
  );
  expect(await lost).toBe(true);
  expect(await nextPid()).toBeGreaterThan(0);
});

test('so does a transaction that goes silent at its end', async () => {
  await pid();
  const lost = isLost(
    client.begin(async (tx) => {
      await tx`select 1`;
      silence();
    }),
  );
  expect(await lost).toBe(true);
  expect(await nextPid()).toBeGreaterThan(0);
});

test('an idle connection stays, also after a COPY and after an error', async () => {
  const before = await pid();
  await client`create table copied (word text)`;
  await client.begin(async (tx) => {
    const stream = await tx`copy copied from stdin`.writable();
    await new Promise<void>((resolve) => stream.end('a\nb\n', () => resolve()));
    await tx`select 1`;
  });
  await expect(client`select ${1}::int / 0`).rejects.toThrow('division by zero');
  await database.sql()`select pg_sleep(${(2 * PATIENCE_MS) / 1000})`;
  expect(await pid()).toBe(before);
});
