import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
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

/** What the running service imports. */
const imports = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /^(runtime|actors|http|storage)\//.test(file) && !/\.(test|fixture)\.ts$/.test(file))
  .flatMap((file) => [...read(file).matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? ''));

const packages = new Set(
  imports
    .filter((target) => !target.startsWith('.') && !target.startsWith('node:'))
    .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/')),
);

test('the service needs no package that is only for development', () => {
  expect([...packages]).toEqual(
    expect.arrayContaining(['postgres', 'ioredis', 'uWebSockets.js', '@node-rs/argon2']),
  );
  expect([...packages].filter((name) => !(name in packageFile.dependencies))).toEqual([]);
});

test('the builder sees the release and nothing else, so nothing secret gets into the image', () => {
  expect(ignored).toEqual(['*', '!dist/tocsin-*.tgz']);
  expect(dockerfile.match(/^(?:COPY|ADD) .*/gm)).toEqual([
    'COPY dist/tocsin-*.tgz /tmp/tocsin.tgz',
    'COPY --from=install --chown=0:0 /app /app',
  ]);
  expect(read('.gitignore').split('\n')).toEqual(expect.arrayContaining(['deploy/.env', 'deploy/secrets/']));
});

test('both base images can be chosen, and the last one has no shell', () => {
  const bases = [...dockerfile.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)].map(([, name, image]) => [name, image]);
  expect(bases).toEqual([
    ['BUILD_IMAGE', 'node:22-bookworm-slim'],
    ['RUN_IMAGE', 'gcr.io/distroless/nodejs22-debian12:nonroot'],
  ]);
  const stages = dockerfile.split(/^FROM /m).slice(1);
  expect(stages.map((stage) => stage.split('\n')[0])).toEqual([
    expect.stringContaining('{BUILD_IMAGE} AS install'),
    expect.stringContaining('{RUN_IMAGE}'),
  ]);
  expect(stages[1]).not.toMatch(/^RUN /m);
});

test('the image is named after this version, runs as nobody, and asks its own readiness', () => {
  expect(dockerfile).toContain(`ARG VERSION=${readVersion({}).version}\n`);
  expect(dockerfile).toContain('\nUSER 65532:65532\n');
  expect(dockerfile).toMatch(/ENTRYPOINT \[.*"\/app\/bin\/tocsin\.js"\]\nCMD \["serve"\]\n$/);
  expect(dockerfile).toMatch(/^HEALTHCHECK .*\n.*http:\/\/127\.0\.0\.1:8082\/health\/ready/m);
  expect(dockerfile).toContain('\nSTOPSIGNAL SIGTERM\n');
});

test.each(['image.sh', 'try-image.sh', 'try-compose.sh', 'try-bare.sh'])(
  '%s can be read by the shell, and run',
  (name) => {
    execFileSync('bash', ['-n', path.join(ROOT, 'deploy', name)]);
    expect(statSync(path.join(ROOT, 'deploy', name)).mode & 0o111).toBe(0o111);
  },
);
