/** `npm test`: everything, in the order in which a failure is cheapest to find. Stops at the first step that fails. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { installPrerequisites } from './prerequisites.ts';

const root = path.resolve(import.meta.dirname, '..');
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name);

interface Step {
  readonly title: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const STEPS: readonly Step[] = [
  { title: 'format and lint', command: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { title: 'dependency arrows', command: [process.execPath, 'scripts/check-arrows.ts'] },
  { title: 'types', command: [bin('tsc'), '--noEmit'] },
  { title: "types of the UI's tools", command: [bin('tsc'), '--noEmit', '-p', 'ui/dev/tsconfig.json'] },
  {
    title: 'types of the UI',
    command: [bin('svelte-check'), '--tsconfig', 'ui/tsconfig.json', '--fail-on-warnings'],
  },
  { title: 'unit tests and simulation', command: [bin('vitest'), 'run', '--project', 'unit'] },
  { title: 'storage on PostgreSQL 18', command: [bin('vitest'), 'run', '--project', 'postgres'] },
  { title: 'scenarios of the whole service', command: [bin('vitest'), 'run', '--project', 'scenarios'] },
  {
    title: 'storage and the doctor on PostgreSQL 15',
    command: [bin('vitest'), 'run', '--project', 'postgres', 'storage', 'runtime/cli'],
    env: { TOCSIN_TEST_POSTGRES: '15' },
  },
  { title: 'coordination on Redis', command: [bin('vitest'), 'run', '--project', 'redis'] },
  { title: 'build of the UI', command: [bin('vite'), 'build', 'ui', '--logLevel', 'warn'] },
  { title: 'the whole service', command: [bin('vitest'), 'run', '--project', 'system'] },
  { title: 'several replicas', command: [bin('vitest'), 'run', '--project', 'cluster'] },
];

installPrerequisites();
const started = Date.now();
for (const step of STEPS) {
  const from = Date.now();
  console.log(`\n── ${step.title}`);
  const [file = '', ...words] = step.command;
  const result = spawnSync(file, words, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...step.env },
  });
  const seconds = ((Date.now() - from) / 1000).toFixed(1);
  if (result.status !== 0) {
    console.error(`\n✗ ${step.title} failed after ${seconds} s`);
    process.exit(result.status ?? 1);
  }
  console.log(`✓ ${step.title} (${seconds} s)`);
}
console.log(`\nAll ${STEPS.length} steps passed in ${((Date.now() - started) / 1000).toFixed(0)} s`);
