import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readVersion } from '../runtime/version.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const dockerfile = read('Dockerfile');
const ignored = read('.dockerignore').trim().split('\n');
const packageFile: { dependencies: Record<string, string> } = JSON.parse(read('package.json'));

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)[^'";]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

/** What the running service imports, by file. */
const imports = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /^(runtime|actors|http|storage)\//.test(file) && !/\.(test|fixture)\.ts$/.test(file))
  .flatMap((file) =>
    [...read(file).matchAll(IMPORT)].map((match) => ({ file, target: match[1] ?? match[2] ?? '' })),
  );

const packages = new Set(
  imports
    .map(({ target }) => target)
    .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
    .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')),
);

test('the service needs no package that is only for development, or that the image leaves out', () => {
  expect([...packages]).toEqual(
    expect.arrayContaining(['postgres', 'ioredis', 'uWebSockets.js', '@node-rs/argon2']),
  );
  expect([...packages].filter((name) => !(name in packageFile.dependencies))).toEqual([]);
  const [, list = ''] = /rm -rf ([^&]+)&&/.exec(dockerfile.replaceAll('\\\n', ' ')) ?? [];
  const left = list.split(/\s+/).filter((word) => word !== '');
  expect(left).toContain('vite');
  expect(
    [...packages].filter((name) => left.includes(name) || left.includes(name.split('/')[0] ?? '')),
  ).toEqual([]);
});

test('the service needs no file that the image leaves out', () => {
  const folders = ignored.map((line) => line.split('/')[0] ?? '').filter((folder) => folder !== 'ui');
  const reached = imports
    .filter(({ target }) => target.startsWith('.'))
    .map(({ file, target }) => path.posix.join(path.posix.dirname(file), target))
    .filter((file) => folders.includes(file.split('/')[0] ?? ''));
  expect(reached).toEqual([]);
});

test('nothing secret gets into the image', () => {
  for (const name of ['deploy', '.env', 'data', '.git']) expect(ignored).toContain(name);
  expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['deploy/.env', 'deploy/secrets/']));
});

test('the image is named after this version, and runs as nobody', () => {
  expect(dockerfile).toContain(`ARG VERSION=${readVersion({}).version}\n`);
  expect(dockerfile).toContain('\nUSER 65532:65532\n');
  expect(dockerfile).toMatch(/ENTRYPOINT \[.*"\/app\/runtime\/main\.ts"\]\nCMD \["serve"\]\n$/);
});
