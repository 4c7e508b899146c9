/** `tocsin doctor` as an operator runs it: the whole process, beside a running installation. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, startTocsin } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { startRedis } from '../redis.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

let tocsin: Installation;
let env: Environment;

beforeAll(async () => {
  tocsin = await startTocsin();
  env = await environmentOf(tocsin);
});

afterAll(() => tocsin.remove());

type Environment = Readonly<Record<string, string>>;

/** What `serve` would need to run on the data of an installation. */
async function environmentOf({ dataDir, first }: Installation): Promise<Environment> {
  const { host, database, user, password } = await embeddedSettings(path.join(dataDir, 'postgres'));
  return {
    SVC_DATABASE_HOST: host,
    SVC_DATABASE_NAME: database,
    SVC_DATABASE_USER: user,
    SVC_DATABASE_PASSWORD: password ?? '',
    SVC_SECRET_KEYS_FILE: path.join(dataDir, 'secret-keys'),
    SVC_PUBLIC_URL: first.app_url,
  };
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits for the first record and sign of life, which follow readiness by a moment. */
function doctorWithoutComplaints(more: Environment = {}): Promise<Ended> {
  return until('a doctor without complaints', async () => {
    const ended = await doctor([], more);
    return /^(WARN|FAIL)/m.test(ended.stdout) ? null : ended;
  });
}

function doctor(words: readonly string[], more: Environment = {}): Promise<Ended> {
  const options = { cwd: root, env: { PATH: process.env.PATH, ...env, ...more } };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['runtime/main.ts', 'doctor', ...words],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

test('beside an installation made by quickstart everything is OK', async () => {
  const { code, stdout, stderr } = await doctorWithoutComplaints();
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^OK settings: /);
  expect(stdout).toMatch(/^OK replicas: 1 replica /m);
  expect(stdout).toMatch(/^OK key_canary: opens with the active key k-/m);
  expect(stdout.trimEnd().split('\n')).toHaveLength(18);
  expect(code).toBe(0);
});

test('beside one that meets others in Redis everything is OK, too', async () => {
  const redis = await startRedis();
  const among = new Installation({ SVC_REDIS_URL: redis.url, SVC_REPLICA_ID: 'tocsin-0' });
  await among.start();
  const { code, stdout } = await doctorWithoutComplaints({
    ...(await environmentOf(among)),
    SVC_REDIS_URL: redis.url,
  });
  expect(stdout).toMatch(/^OK redis: 127\.0\.0\.1:\d+, version .*; members, Leader and shards fit$/m);
  expect(stdout).toMatch(/^OK replicas: 1 replica \(tocsin-0\), version .*, Leader tocsin-0/m);
  expect(code).toBe(0);
  await among.remove();
  await redis.stop();
});

test('--json prints one object', async () => {
  const { code, stdout } = await doctor(['--json']);
  const { ok, checks } = JSON.parse(stdout);
  expect(ok).toBe(true);
  expect(checks).toHaveLength(18);
  expect(code).toBe(0);
});

test('something that failed is exit code 1, wrong usage is 2', async () => {
  expect(await doctor([], { SVC_DATABASE_NAME: 'nowhere' })).toMatchObject({ code: 1 });
  expect(await doctor(['--fix'])).toMatchObject({ code: 2, stdout: '' });
});

test('--help says what it does and changes nothing', async () => {
  const { code, stdout } = await doctor(['--help']);
  expect(stdout).toContain('--offline');
  expect(code).toBe(0);
});

test('connections of the service say what they are for and whose they are', async () => {
  const { ingest_endpoint: endpoint, integration_token: token } = tocsin.first;
  // Ingestion and commits connect with the first work.
  expect(await new Sender(endpoint, token ?? '').post({ alerts: [{ labels: { alertname: 'Disk' } }] })).toBe(
    202,
  );
  const settings = await embeddedSettings(path.join(tocsin.dataDir, 'postgres'));
  const sql = connect(settings, { max: 1, applicationName: 'doctor-test' });
  const [record] = await sql<{ id: string }[]>`select id from replicas`;
  expect(record?.id).toMatch(/-[0-9a-f]{8}$/);
  await until('connections for everything', async () => {
    const rows = await sql<{ name: string }[]>`
      select distinct application_name as name from pg_stat_activity where application_name like 'tocsin %'`;
    const names = rows.map(({ name }) => name);
    return ['commits', 'ingestion', 'lock', 'main'].every((purpose) =>
      names.includes(`tocsin ${purpose} ${record?.id}`),
    );
  });
  await sql.end();
});
