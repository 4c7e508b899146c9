/**
 * `npm test`: everything, in the order in which a failure is cheapest to find. Stops at the first step that fails.
 *
 * Every step of Vitest, the unit tests with their sockets and random properties included, gets a second attempt with the
 * files that failed, when these are few. Whatever passes only then is named at the end, as a defect to be looked for.
 */
import { spawnSync } from 'node:child_process';
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

const STEPS: readonly Step[] = [
  { title: 'format and lint', command: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { title: 'dependency arrows', command: [process.execPath, 'scripts/check-arrows.ts'] },
  { title: 'types', command: [bin('tsc'), '--noEmit'] },
  { title: "types of the UI's tools", command: [bin('tsc'), '--noEmit', '-p', 'ui/dev/tsconfig.json'] },
  {
    title: 'types of the UI',
    command: [bin('svelte-check'), '--tsconfig', 'ui/tsconfig.json', '--fail-on-warnings'],
  },
  { title: 'unit tests and simulation', command: vitest('unit'), secondAttempt: true },
  { title: 'storage on PostgreSQL 18', command: vitest('postgres'), secondAttempt: true },
  { title: 'scenarios of the whole service', command: vitest('scenarios'), secondAttempt: true },
  {
    title: 'storage and the doctor on PostgreSQL 15',
    command: vitest('postgres', 'storage', 'runtime/cli'),
    env: { TOCSIN_TEST_POSTGRES: '15' },
    secondAttempt: true,
  },
  { title: 'coordination on Redis', command: vitest('redis'), secondAttempt: true },
  { title: 'build of the UI', command: [bin('vite'), 'build', 'ui', '--logLevel', 'warn'] },
  { title: 'the whole service', command: vitest('system'), secondAttempt: true },
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

installPrerequisites();
const started = Date.now();
const unsteady: string[] = [];
try {
  for (const step of STEPS) {
    const from = Date.now();
    console.log(`\n── ${step.title}`);
    const repeated = runStep(step);
    const seconds = ((Date.now() - from) / 1000).toFixed(1);
    if (repeated === null) {
      console.error(`\n✗ ${step.title} failed after ${seconds} s`);
      process.exitCode = 1;
      break;
    }
    unsteady.push(...repeated.map((file) => `${step.title}: ${file}`));
    console.log(`✓ ${step.title} (${seconds} s)`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (!process.exitCode) {
  console.log(`\nAll ${STEPS.length} steps passed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
}
if (unsteady.length > 0) {
  console.log(
    '\n⚠ Passed at the second attempt only. Look for the reason, in the test and in what it tests:',
  );
  for (const line of unsteady) console.log(`  ${line}`);
}
