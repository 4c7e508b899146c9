/** `npm test`: everything, in the order in which a failure is cheapest to find. Stops at the first step that fails. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installPrerequisites } from './prerequisites.ts';
import { seedOfRun } from './simulation/random.ts';

const root = path.resolve(import.meta.dirname, '..');
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);

interface Step {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const vitest = (project: string, ...words: string[]) => [
  bin('vitest'),
  'run',
  '--project',
  project,
  ...words,
];

const seed = seedOfRun(undefined);

/** Each is busy on one core at most, so two of them run at a time. */
const CHECKS: readonly Step[] = [
  { title: 'format and lint', command: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { title: 'size and dependencies', command: [process.execPath, 'scripts/house.ts'] },
  { title: 'citations of the contract', command: [process.execPath, 'scripts/citations.ts'] },
  { title: 'types', command: [bin('tsc'), '--noEmit'] },
  {
    title: 'types of the UI',
    command: [bin('svelte-check'), '--tsconfig', 'ui/tsconfig.json', '--fail-on-warnings'],
  },
  {
    title: 'HTTP on node:http',
    command: vitest('unit', '--project', 'long', 'http/server', 'http/ingest', 'http/request', 'http/live'),
    env: { SVC_HTTP_ENGINE: 'node' },
  },
  // Most of the time it waits for a Redis that is away.
  { title: 'coordination on Redis', command: vitest('redis') },
  { title: 'build of the UI', command: [bin('vite'), 'build', 'ui', '--logLevel', 'warn'] },
  {
    title: 'more seeds of the simulation',
    command: [process.execPath, 'test/simulation/run.ts', '--world', 'engine', '--seeds', '200'],
  },
  {
    title: 'ingestion compared with its model',
    command: [process.execPath, 'test/model/run.ts', '--sequences', '500', '--seed', `${seed}`],
  },
  {
    title: 'more stories of Destinations',
    command: vitest('unit', 'actors/destination/delivery/stories.test.ts'),
    env: { STORIES: '200' },
  },
];

/** Each uses both cores. */
const STEPS: readonly Step[] = [
  { title: 'unit tests', command: vitest('unit') },
  { title: 'simulation, properties and permissions', command: vitest('long') },
  { title: 'storage on PostgreSQL 18', command: vitest('postgres') },
  { title: 'scenarios of the whole service', command: vitest('scenarios') },
  {
    title: 'storage and the doctor on PostgreSQL 15',
    // The embedded server is always 18, and what the driver does does not depend on the server's version.
    command: vitest(
      'postgres',
      ...['storage', 'runtime/cli'],
      ...['--exclude', 'storage/postgres/embedded/**', '--exclude', 'storage/postgres/driver-*'],
    ),
    env: { TOCSIN_TEST_POSTGRES: '15' },
  },
  { title: 'the whole service', command: vitest('system') },
  { title: 'the whole service under load', command: vitest('alone') },
  { title: 'several replicas', command: vitest('cluster') },
];

function run({ command, env }: Step): number {
  const [file = '', ...words] = command;
  const result = spawnSync(file, words, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return result.status ?? 1;
}

/** Runs a step that needs no terminal. @returns whether it passed; what it printed is shown when it is over */
async function check({ title, command: [file = '', ...words], env }: Step): Promise<boolean> {
  const from = Date.now();
  const child = spawn(file, words, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const printed: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  console.log(`\n── ${title}\n${Buffer.concat(printed)}${verdict(title, from, status === 0)}`);
  return status === 0;
}

/** Two at a time; after a failure none is begun. */
async function runChecks(): Promise<boolean> {
  const left = [...CHECKS];
  let passed = true;
  const lane = async () => {
    for (let step = left.shift(); step && passed; step = left.shift()) passed = (await check(step)) && passed;
  };
  await Promise.all([lane(), lane()]);
  return passed;
}

function verdict(title: string, from: number, passed: boolean): string {
  const seconds = ((Date.now() - from) / 1000).toFixed(1);
  return passed ? `✓ ${title} (${seconds} s)` : `✗ ${title} failed after ${seconds} s`;
}

/** One after the other, until one fails. */
function runSteps(): boolean {
  return STEPS.every((step) => {
    const from = Date.now();
    console.log(`\n── ${step.title}`);
    const passed = run(step) === 0;
    console.log(`\n${verdict(step.title, from, passed)}`);
    return passed;
  });
}

installPrerequisites();
const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-test-'));
// What one of the many processes has compiled need not be compiled again.
process.env.NODE_COMPILE_CACHE ??= path.join(folder, 'compiled');
const started = Date.now();
let passed = false;
try {
  passed = (await runChecks()) && runSteps();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = passed ? 0 : 1;
if (passed) {
  console.log(
    `\nAll ${CHECKS.length + STEPS.length} steps passed in ${((Date.now() - started) / 1000).toFixed(0)} s`,
  );
}
