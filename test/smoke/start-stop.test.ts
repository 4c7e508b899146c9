/** How the process ends: by signals at every moment of its start, and when its start fails. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connect as openClient } from '../../storage/postgres/connection.ts';
import { freePorts } from '../harness/ports.ts';
import { processEnvironment } from '../harness/prepared.ts';
import { until } from '../harness/until.ts';
import { startTestServer, type TestServer } from '../postgres.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
/** A start takes a second, on a busy machine many. */
const START_WITHIN_S = 60;
const KEY = randomBytes(32).toString('base64');

let postgres: TestServer;
let children: ChildProcess[] = [];

interface Process {
  readonly child: ChildProcess;
  readonly app: URL;
  readonly ended: Promise<number | null>;
  output(): string;
}

beforeAll(async () => {
  postgres = await startTestServer();
});

afterAll(() => postgres.stop());

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

async function serve(database: string, env: Record<string, string> = {}): Promise<Process> {
  const [app, ingest, internal] = (await freePorts(3)).map((port) => `127.0.0.1:${port}`);
  const { host, port, user, password } = postgres.settings;
  const child = spawn(process.execPath, ['runtime/main.ts', 'serve'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...processEnvironment(),
      SVC_LISTEN_APP: app!,
      SVC_LISTEN_INGEST: ingest!,
      SVC_LISTEN_INTERNAL: internal!,
      SVC_PUBLIC_URL: `http://${app}`,
      SVC_INGEST_URL: `http://${ingest}`,
      SVC_SECRET_KEYS: KEY,
      SVC_DATABASE_HOST: host,
      SVC_DATABASE_PORT: String(port),
      SVC_DATABASE_NAME: database,
      SVC_DATABASE_USER: user,
      SVC_DATABASE_PASSWORD: password ?? '',
      SVC_DATABASE_SSLMODE: 'disable',
      ...env,
    },
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream!.on('data', (chunk) => (text += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, app: new URL(`http://${app}`), ended, output: () => text };
}

const says = (running: Process, event: string) =>
  until(`the event ${event}`, async () => running.output().includes(`"event":"${event}"`), START_WITHIN_S);

test('a port that is taken ends the start with exit 1 and one line that names listener and address', async () => {
  const { database } = await postgres.createDatabase();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const running = await serve(database, { SVC_LISTEN_INGEST: `127.0.0.1:${port}` });
  expect(await running.ended).toBe(1);
  expect(running.output()).toContain(`tocsin: cannot listen on 127.0.0.1:${port} (ingest)\n`);
  await new Promise((resolve) => taken.close(resolve));
});

test('a signal while it waits for another replica ends it with exit 0, and so does one while it serves', async () => {
  const { database } = await postgres.createDatabase();
  const first = await serve(database);
  await says(first, 'shards_taken');
  const second = await serve(database);
  await says(second, 'waiting_for_single_replica');
  const before = performance.now();
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
  expect(performance.now() - before).toBeLessThan(4000);
  first.child.kill('SIGTERM');
  expect(await first.ended).toBe(0);
});

const NO_BUILD = `import { registerHooks } from 'node:module';
registerHooks({ resolve(name, context, next) {
  if (name === 'uWebSockets.js') throw new Error('no build for this platform');
  return next(name, context);
} });`;

test('where uWebSockets.js has no build, node:http serves, and the log says so', async () => {
  const { database } = await postgres.createDatabase();
  const hook = `data:text/javascript,${encodeURIComponent(NO_BUILD)}`;
  const running = await serve(database, { NODE_OPTIONS: `--import=${hook}`, SVC_LOG_LEVEL: 'warn' });
  const answer = await until('an answer', () => fetch(running.app).catch(() => null), START_WITHIN_S);
  expect([answer.status, answer.headers.has('uwebsockets')]).toEqual([200, false]);
  await says(running, 'http_engine_node');
  expect(running.output()).toContain('no build for this platform');
  running.child.kill('SIGTERM');
  expect(await running.ended).toBe(0);
});

test('a failure after it listens undoes what was opened and ends it with exit 1', async () => {
  const settings = await postgres.createDatabase();
  const sql = openClient(settings, { max: 1, applicationName: 'start-stop-test' });
  await sql.unsafe('alter table shards rename column epoch to epoch_away');
  await sql.end();
  const running = await serve(settings.database);
  expect(await running.ended).toBe(1);
  expect(running.output()).toContain('"event":"listeners_started"');
  expect(running.output()).toMatch(/^tocsin: column "epoch" /m);
});

test.each([
  ['npm alone', (pid: number) => process.kill(pid, 'SIGTERM')],
  ['the whole process group', (pid: number) => process.kill(-pid, 'SIGTERM')],
  ['the shell that npm runs it in, whose terminal is closed,', (pid: number) => process.kill(-pid, 'SIGHUP')],
])('npm start serves, and a signal to %s ends the service in order', { timeout: 200_000 }, async (_, end) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'tocsin-npm-start-'));
  const owner = path.join(dataDir, 'postgres', 'owner');
  const [app, ingest, internal] = (await freePorts(3)).map((port) => `127.0.0.1:${port}`);
  const places = ['--data-dir', dataDir, '--app', app!, '--ingest', ingest!, '--internal', internal!];
  const env = processEnvironment();
  const child = spawn('npm', ['start', '--', ...places, '--messenger', 'off'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    // Debian's shell, which does not exec the script.
    env: {
      ...env,
      PATH: `${path.dirname(process.execPath)}:${env.PATH}`,
      npm_config_script_shell: '/bin/dash',
    },
  });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (output += data));
  const serves = () =>
    fetch(`http://${app}/`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ status }) => status === 200,
      () => false,
    );
  try {
    await until('npm start to serve', serves, START_WITHIN_S);
    expect(existsSync(owner)).toBe(true);
    end(child.pid!);
    await until('the service and its PostgreSQL to end', async () => !existsSync(owner) && !(await serves()));
    expect(output.match(/shutdown_requested/g)).toHaveLength(1);
  } catch (error) {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
    throw new Error(`${String(error)}\n${output}`);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

test('a second signal ends it at once', async () => {
  const { database } = await postgres.createDatabase();
  const running = await serve(database);
  await says(running, 'shards_taken');
  // A request that never ends keeps it from ending on its own.
  const stuck = connect(Number(running.app.port), running.app.hostname);
  stuck.on('error', () => stuck.destroy());
  const request = `POST /api/v1/sessions HTTP/1.1\r\nHost: ${running.app.host}\r\nContent-Length: 9\r\n\r\n`;
  await new Promise((written) => stuck.write(request, written));
  // What came before on another connection has been read once this is answered.
  await fetch(new URL('/api/v1/sign-in-options', running.app));
  running.child.kill('SIGTERM');
  await says(running, 'shutdown_requested');
  running.child.kill('SIGINT');
  expect(await running.ended).toBe(1);
});

test('a command whose reader went away does its work and ends as usual', async () => {
  const out = mkdtempSync(path.join(tmpdir(), 'tocsin-drawn-'));
  const child = spawn(process.execPath, ['runtime/main.ts', 'machines', '--out', out], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  child.stdout.destroy();
  let text = '';
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect({ code, text, written: readdirSync(out) }).toEqual({
    ...{ code: 0, text: '', written: readdirSync(path.join(root, 'docs', 'machines')) },
  });
  rmSync(out, { recursive: true });
});

test('a file in place of the folder of quickstart ends the start with a line that says what to do', async () => {
  const file = path.join(root, 'package.json');
  const child = spawn(process.execPath, ['runtime/main.ts', 'quickstart', '--data-dir', file], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let text = '';
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(1);
  expect(text).toBe(
    `tocsin: --data-dir ${file} cannot be used: it is a file. Name a folder that this user may write to.\n`,
  );
});

test('a first quickstart that fails half-way shows its password and token at the next start', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'tocsin-first-'));
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const busy = (taken.address() as AddressInfo).port;
  const quickstart = (app: number, others: readonly number[]) => {
    const words = ['--data-dir', dataDir, '--app', `127.0.0.1:${app}`, '--json'];
    const [ingest, internal] = others.map((port) => `127.0.0.1:${port}`);
    const child = spawn(
      process.execPath,
      ['runtime/main.ts', 'quickstart', ...words, '--ingest', ingest!, '--internal', internal!],
      { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    children.push(child);
    let [out, err] = ['', ''];
    child.stdout!.on('data', (chunk) => (out += String(chunk)));
    child.stderr!.on('data', (chunk) => (err += String(chunk)));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    return { child, ended, output: () => out, logs: () => err };
  };
  try {
    const [app, ...others] = (await freePorts(3)) as [number, number, number];
    const failed = quickstart(busy, others);
    expect(await failed.ended).toBe(1);
    expect(failed.output()).toBe('');
    const started = quickstart(app, others);
    const line = await until(
      'the ready line',
      async () => /^\{"ready":true.*$/m.exec(started.output())?.[0],
      START_WITHIN_S,
    );
    const { login, password, integration_token: token } = JSON.parse(line);
    const answer = await fetch(`http://127.0.0.1:${app}/api/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ login, password }),
    });
    expect(answer.status).toBe(201);
    const posted = await fetch(`http://127.0.0.1:${others[0]}/api/v1/ingest/${token}`, { method: 'POST' });
    expect(posted.status).toBe(202);
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    // Programs read one line; what is logged, the end at least, goes to stderr.
    expect(started.output()).toBe(`${line}\n`);
    expect(started.logs()).toContain('"event":"shutdown_requested"');
  } finally {
    taken.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
