/**
 * The volume of the write-ahead log is full. PostgreSQL ends itself then and cannot start before there is room; the
 * service says so, refuses what it cannot store, loses nothing that it accepted, and goes on by itself.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../storage/postgres/embedded/embedded.ts';
import { Api } from '../harness/api.ts';
import { copyPreparedDatabase } from '../harness/prepared.ts';
import { Sender } from '../harness/sender.ts';
import { SmallVolume } from '../harness/small-volume.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** Segments of the log are 16 MiB, and one is there already: the next one does not fit a full volume. */
const WAL_MEBIBYTES = 100;
/** The engine's pauses between tries grow to 30 s while the database is away. */
const PROCESSED_WITHIN_S = 90;

let cleanups: (() => unknown)[] = [];

/** The last first. */
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

/** The log of a database server that is about to start on a folder becomes a volume of its own. */
async function logVolume(folder: string): Promise<SmallVolume> {
  await copyPreparedDatabase(folder);
  const wal = new SmallVolume(path.join(folder, 'cluster', 'pg_wal'), WAL_MEBIBYTES);
  cleanups.push(() => wal.unmount());
  return wal;
}

async function readiness(ready: Ready): Promise<string> {
  const answer = await fetch(new URL('/health/ready', ready.internal_url));
  return `${answer.status} ${await answer.text()}`;
}

/** Posts Snapshots of some size and remembers what was accepted. */
function sendingTo(ready: Ready) {
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
  const accepted: string[] = [];
  let posts = 0;
  return {
    accepted,
    /** The status; 0 when nobody answered. */
    async send(): Promise<number> {
      posts += 1;
      const alertname = `Post${String(posts).padStart(4, '0')}`;
      const alerts = Array.from({ length: 300 }, (_, n) => ({
        labels: { alertname, n: String(n), filler: `${'x'.repeat(400)}${n * posts}` },
      }));
      const status = await sender.post({ groupKey: alertname, alerts }).catch(() => 0);
      if (status === 202) accepted.push(alertname);
      return status;
    },
  };
}

async function everyAcceptedGroup(ready: Ready, accepted: readonly string[]): Promise<void> {
  const api = await Api.signIn(ready);
  const isThere = async () => {
    const found = new Set((await api.all('/alert-groups')).map(({ title }) => title));
    return accepted.every((name) => found.has(name));
  };
  await until('every accepted group', isThere, PROCESSED_WITHIN_S);
}

test('beside a server of its own the service answers 503 until that is started again', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'tocsin-full-wal-'));
  chmodSync(dataDir, 0o711);
  cleanups.push(() => rmSync(dataDir, { recursive: true }));
  const wal = await logVolume(dataDir);
  let isLost = false;
  let postgres = await startEmbeddedPostgres({ dataDir, onLost: () => (isLost = true) });
  cleanups.push(() => postgres.stop());
  const { host, port, database, user, password } = postgres.settings;
  const tocsin = new Installation({
    SVC_DATABASE_HOST: host,
    SVC_DATABASE_PORT: String(port),
    SVC_DATABASE_NAME: database,
    SVC_DATABASE_USER: user,
    SVC_DATABASE_PASSWORD: password ?? '',
    SVC_DATABASE_SSLMODE: 'disable',
  });
  cleanups.push(() => tocsin.remove());
  const ready = await tocsin.start();
  const { accepted, send } = sendingTo(ready);

  expect([await send(), await readiness(ready)]).toEqual([202, '200 ok']);
  wal.fill();
  const refusals = new Set<number>();
  await until('the server to be gone', async () => {
    const status = await send();
    if (status !== 202) refusals.add(status);
    return isLost;
  });
  const serverLog = readFileSync(path.join(dataDir, 'postgres.log'), 'utf8');
  expect(serverLog).toMatch(/PANIC: .*pg_wal.*No space left on device/);
  expect([...refusals]).toEqual([503]);
  expect([await send(), await readiness(ready)]).toEqual([503, '503 database unavailable']);
  expect((await fetch(new URL('/health/live', ready.internal_url))).status).toBe(200);

  wal.makeRoom();
  postgres = await startEmbeddedPostgres({ dataDir });
  await until('readiness', async () => (await readiness(ready)) === '200 ok');
  expect(await send()).toBe(202);
  await everyAcceptedGroup(ready, accepted);
});

test('with its embedded server the service ends, and starts with everything once there is room', async () => {
  const tocsin = new Installation();
  cleanups.push(() => tocsin.remove());
  const wal = await logVolume(path.join(tocsin.dataDir, 'postgres'));
  cleanups.push(() => tocsin.stop());
  const ready = await tocsin.start();
  const { accepted, send } = sendingTo(ready);

  expect(await send()).toBe(202);
  wal.fill();
  await until('the service to end', async () => (await send()) === 0);
  expect(await tocsin.stop()).toBe(1);
  expect(tocsin.log.join('\n')).toContain('embedded_database_lost');
  await expect(tocsin.start()).rejects.toThrow('No space left on device');

  wal.makeRoom();
  const again = await tocsin.start();
  expect([await send(), await readiness(again)]).toEqual([202, '200 ok']);
  await everyAcceptedGroup(again, accepted);
});
