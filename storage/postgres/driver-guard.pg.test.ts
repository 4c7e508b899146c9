import net from 'node:net';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect } from './connection.ts';
import type { Sql } from './records.ts';

const database = useDatabase('empty');

/** What a server says that is not ready yet. */
const STARTING_UP = 'SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0';

/** How a lost connection is told: as a reset when something was still unread on the other side. */
const LOST = /^(CONNECTION_CLOSED|ECONNRESET)$/;

/** A way to the server, which is starting up while this is set. */
let isStartingUp: boolean;
let proxy: net.Server;
let sockets: net.Socket[];
let client: Sql;

beforeEach(async () => {
  isStartingUp = false;
  sockets = [];
  const { host, port } = database.settings();
  proxy = net.createServer((near) => {
    sockets.push(near);
    near.on('error', () => near.destroy());
    if (isStartingUp) {
      near.once('data', () => near.end(refusal()));
      return;
    }
    const far = net.connect(path.join(host, `.s.PGSQL.${port}`));
    far.on('error', () => near.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port: open } = proxy.address() as net.AddressInfo;
  client = connect(
    { ...database.settings(), host: '127.0.0.1', port: open },
    { max: 1, applicationName: 'guard-test' },
  );
});

afterEach(async () => {
  await client.end({ timeout: 1 });
  cut();
  await new Promise((resolve) => proxy.close(resolve));
});

function refusal(): Buffer {
  const message = Buffer.from(`E\0\0\0\0${STARTING_UP}`, 'latin1');
  message.writeUInt32BE(message.length - 1, 1);
  return message;
}

/** The server dies. */
function cut(): void {
  for (const socket of sockets) socket.destroy();
}

const one = async () => [...(await client`select 1 as one`)];

test.each([
  ['in a statement', async () => client`select pg_sleep(60)`],
  ['in a transaction', async () => client.begin((tx) => tx`select pg_sleep(60)`)],
])('what a server says while it starts concerns that start only: lost %s', async (_, ask) => {
  await one();
  const asked = expect(ask()).rejects.toMatchObject({ code: expect.stringMatching(LOST) });
  await until('the statement', async () => {
    const rows = await database.sql()`
      select from pg_stat_activity
      where application_name = 'guard-test' and state = 'active' and wait_event = 'PgSleep'`;
    return rows.length > 0;
  });
  isStartingUp = true;
  cut();
  await asked;
  // Asked right after the loss, this may learn of that, too.
  await expect(one()).rejects.toThrow();
  for (let round = 0; round < 2; round++) {
    await expect(one()).rejects.toMatchObject({
      code: '57P03',
      message: 'the database system is starting up',
    });
  }
  isStartingUp = false;
  expect(await one()).toEqual([{ one: 1 }]);
});

test('of several servers one that is starting up is passed over, and a statement fails once none is left', async () => {
  isStartingUp = true;
  const { port } = proxy.address() as net.AddressInfo;
  const starting = { ...database.settings(), host: '127.0.0.1', port };
  const { host, port: ready } = database.settings();
  const several = connect(
    { ...starting, others: [{ host, port: ready }] },
    { max: 1, applicationName: 'guard-test' },
  );
  expect([...(await several`select 1 as one`)]).toEqual([{ one: 1 }]);
  await several.end({ timeout: 1 });
  const none = connect(
    { ...starting, others: [{ host: '127.0.0.1', port: 1 }] },
    { max: 1, applicationName: 'guard-test' },
  );
  await expect(none`select 1`).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await none.end({ timeout: 1 });
});
