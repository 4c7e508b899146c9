import net from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import { connect } from './connection.ts';
import { guardSocket } from './driver-guard.ts';

/** One message: its type and what it holds. */
function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`, 'latin1');
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}

const STARTUP = Buffer.from('\0\0\0\x09\0\x03\0\0\0', 'latin1');
const READY_IN_TRANSACTION = message('Z', 'T');
const ask = (text: string) =>
  Buffer.concat([message('P', `s\0${text}\0\0\0`), message('B', '\0s\0\0\0\0\0'), message('S', '')]);

let listener: net.Server;
/** The two ends of one connection; the near one is guarded. */
let near: net.Socket;
let far: net.Socket;
/** What the driver was told, in order: types of messages and ends. */
let told: string[];

/** A session in an open transaction, with a driver that does as little as the real one must. */
beforeEach(async () => {
  listener = net.createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<net.Socket>((resolve) => listener.once('connection', resolve));
  const plain = net.connect((listener.address() as net.AddressInfo).port, '127.0.0.1');
  await new Promise<void>((resolve) => plain.once('connect', resolve));
  far = (await accepted).resume();
  far.on('error', () => undefined);
  near = guardSocket(plain, { answerWithin: null });
  told = [];
  near.on('error', () => told.push('error'));
  near.on('close', () => told.push('close'));
  near.on('data', (chunk: Buffer) => {
    told.push(chunk.toString('latin1', 0, 1));
    if (chunk[0] === 0x52) near.write(message('p', '\0'));
  });
  near.write(STARTUP);
  far.write(READY_IN_TRANSACTION);
  await until('the transaction', async () => told.includes('Z'));
});

afterEach(async () => {
  near.destroy();
  far.destroy();
  await new Promise((resolve) => listener.close(resolve));
});

test('a connection lost inside a transaction ends for the driver once it asked to end that', async () => {
  far.destroy();
  await until('the error', async () => told.includes('error'));
  near.write(ask('select 1'));
  await until('a failed statement', async () => told.filter((what) => what === 'Z').length === 3);
  expect(told).not.toContain('close');
  near.write(ask('rollback'));
  await until('the end', async () => told.includes('close'));
});

test('a connection lost while a transaction ends is at its end: the driver asks nothing more', async () => {
  near.write(ask('commit'));
  far.destroy();
  await until('the end', async () => told.includes('close'));
});

test('so is one whose server was gone already when the driver asked to end the transaction', async () => {
  near.once('end', () => near.write(ask('commit')));
  far.end();
  await until('the end', async () => told.includes('close'));
});

test('of servers that all fail each connection tries every one of them once', async () => {
  let dialled = 0;
  const servers = [0, 1].map(() => {
    const server = net.createServer((socket) => {
      dialled += 1;
      socket.destroy();
    });
    return new Promise<net.Server>((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
  });
  const [first, second] = await Promise.all(servers);
  const portOf = (server: net.Server | undefined) => (server!.address() as net.AddressInfo).port;
  const sql = connect(
    {
      ...{ host: '127.0.0.1', port: portOf(first), others: [{ host: '127.0.0.1', port: portOf(second) }] },
      ...{ user: 'bob', database: 'x', password: null, sslmode: 'disable', ca: null },
    },
    { max: 8, applicationName: 'guard-test' },
  );
  const asked = Array.from({ length: 8 }, () =>
    sql`select 1`.then(
      () => 'answered',
      () => 'failed',
    ),
  );
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 8 }, () => 'failed'));
  expect(dialled).toBeLessThanOrEqual(16);
  await sql.end({ timeout: 1 });
  for (const server of [first, second]) server?.close();
});
