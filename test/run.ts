/**
 * `npm test`: everything, in the order in which a failure is cheapest to find. Stops at the first step that fails.
 *
 * What runs several processes against the clock gets a second attempt with the files that failed, when these are few.
 * Whatever passes only then is named at the end, as a defect to be looked for.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installPrerequisites } from './prerequisites.ts';

const root = path.resolve(import.meta.dirname, '..');
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);

interface Step {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Its result may depend on time, load or chance. */
  readonly secondAttempt?: true;
}

/** More files that fail are no accident. */
const MOST_AGAIN = 2;

const vitest = (project: string, ...folders: string[]) => [
  bin('vitest'),
  'run',
  '--project',
  project,
  ...folders,
];

/** Each is busy on one core, so two of them run at a time. */
const CHECKS: readonly Step[] = [
  { title: 'format and lint', command: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { title: 'size and dependencies', command: [process.execPath, 'scripts/house.ts'] },
  { title: 'citations of the contract', command: [process.execPath, 'scripts/citations.ts'] },
  { title: 'types', command: [bin('tsc'), '--noEmit'] },
  {
    title: 'types of the UI',
    command: [bin('svelte-check'), '--tsconfig', 'ui/tsconfig.json', '--fail-on-warnings'],
  },
];

const STEPS: readonly Step[] = [
  { title: 'unit tests', command: vitest('unit') },
  { title: 'simulation, properties and permissions', command: vitest('long') },
  {
    title: 'more seeds of the simulation',
    command: [process.execPath, 'test/simulation/run.ts', '--world', 'engine', '--seeds', '200'],
  },
  {
    title: 'ingestion compared with its model',
    command: [process.execPath, 'test/model/run.ts', '--sequences', '500', '--seed', `${Date.now() % 1e9}`],
  },
  {
    title: 'more stories of Destinations',
    command: vitest('unit', 'actors/destination/delivery/stories.test.ts'),
    env: { STORIES: '200' },
  },
  { title: 'storage on PostgreSQL 18', command: vitest('postgres') },
  { title: 'scenarios of the whole service', command: vitest('scenarios') },
  {
    title: 'storage and the doctor on PostgreSQL 15',
    command: vitest('postgres', 'storage', 'runtime/cli'),
    env: { TOCSIN_TEST_POSTGRES: '15' },
  },
  { title: 'coordination on Redis', command: vitest('redis') },
  { title: 'build of the UI', command: [bin('vite'), 'build', 'ui', '--logLevel', 'warn'] },
  { title: 'the whole service', command: vitest('system'), secondAttempt: true },
  { title: 'the whole service under load', command: vitest('alone'), secondAttempt: true },
  { title: 'several replicas', command: vitest('cluster'), secondAttempt: true },
];

function run({ command, env }: Step, words: readonly string[] = []): number {
  const [file = '', ...own] = command;
  const result = spawnSync(file, [...own, ...words], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  return result.status ?? 1;
}

/** Runs a step that needs no terminal. @returns whether it passed; what it printed is shown when it is over */
async function check({ title, command: [file = '', ...words] }: Step): Promise<boolean> {
  const from = Date.now();
  const child = spawn(file, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Test files that failed in a run of Vitest, as it reported them; none when it did not come so far. */
function failedFiles(report: string): string[] {
  interface Report {
    readonly testResults: readonly { readonly name: string; readonly status: string }[];
  }
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    return testResults
      .filter(({ status }) => status === 'failed')
      .map(({ name }) => path.relative(root, name));
  } catch (error) {
    console.error(`There is no report of that run: ${String(error)}`);
    return [];
  }
}

const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-test-'));
const report = path.join(folder, 'report.json');
const REPORTERS = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];

/** Files of a step that failed once and then passed; null when the step failed. */
function runStep(step: Step): readonly string[] | null {
  if (!step.secondAttempt) return run(step) === 0 ? [] : null;
  rmSync(report, { force: true });
  if (run(step, REPORTERS) === 0) return [];
  const failed = failedFiles(report);
  if (failed.length === 0 || failed.length > MOST_AGAIN) return null;
  console.log(`\n── ${step.title}, second attempt of ${failed.join(' and ')}`);
  const again: Step = { ...step, command: step.command.slice(0, 4) };
  return run(again, failed) === 0 ? failed : null;
}

/** One after the other, until one fails. @returns whether all passed, and what did at the second attempt only */
function runSteps(): { readonly passed: boolean; readonly unsteady: readonly string[] } {
  const unsteady: string[] = [];
  for (const step of STEPS) {
    const from = Date.now();
    console.log(`\n── ${step.title}`);
    const repeated = runStep(step);
    console.log(`\n${verdict(step.title, from, repeated !== null)}`);
    if (repeated === null) return { passed: false, unsteady };
    unsteady.push(...repeated.map((file) => `${step.title}: ${file}`));
  }
  return { passed: true, unsteady };
}

installPrerequisites();
// What one of the many processes has compiled need not be compiled again.
process.env.NODE_COMPILE_CACHE ??= path.join(folder, 'compiled');
const started = Date.now();
let passed = false;
let unsteady: readonly string[] = [];
try {
  if (await runChecks()) ({ passed, unsteady } = runSteps());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = passed ? 0 : 1;
if (passed) {
  console.log(
    `\nAll ${CHECKS.length + STEPS.length} steps passed in ${((Date.now() - started) / 1000).toFixed(0)} s`,
  );
}
if (unsteady.length > 0) {
  console.log(
    '\n⚠ Passed at the second attempt only. Look for the reason, in the test and in what it tests:',
  );
  for (const line of unsteady) console.log(`  ${line}`);
}
