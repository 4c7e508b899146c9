import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../runtime/clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import { connect } from './connection.ts';
import { inspectDatabase, keepsSession, OLDEST_POSTGRES } from './database-check.ts';

const database = useDatabase('empty');
let pooler: Server | null = null;

afterEach(() => {
  pooler?.close();
});

test('the server says its major version and whether it is encrypted', async () => {
  const facts = await inspectDatabase(database.sql());
  expect(facts.major).toBeGreaterThanOrEqual(OLDEST_POSTGRES);
  expect(facts).toMatchObject({ encrypted: false, tlsVersion: null, isStandby: false });
  expect(facts.version).toMatch(/^\d+(\.\d+)?$/);
});

test('two connections to one database have one identity, those to two databases two', async () => {
  const { identity } = await inspectDatabase(database.sql());
  const [again, elsewhere] = [database.settings(), { ...database.settings(), database: 'postgres' }].map(
    (settings) => connect(settings, { max: 1, applicationName: 'test' }),
  );
  expect((await inspectDatabase(again!)).identity).toBe(identity);
  expect((await inspectDatabase(elsewhere!)).identity).not.toBe(identity);
  await Promise.all([again!.end(), elsewhere!.end()]);
});

test('a direct connection keeps its session', async () => {
  expect(await keepsSession(database.settings(), systemClock, 'test')).toBe(true);
});

test('a pooler that refuses the settings of a session keeps none', async () => {
  const refusal = 'SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: synchronous_commit\0\0';
  const size = Buffer.alloc(4);
  size.writeInt32BE(4 + Buffer.byteLength(refusal));
  const answer = Buffer.concat([Buffer.from('E'), size, Buffer.from(refusal)]);
  pooler = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  const listening = pooler;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as { port: number };
  const settings = { ...database.settings(), host: '127.0.0.1', port };
  expect(await keepsSession(settings, systemClock, 'test')).toBe(false);
});
