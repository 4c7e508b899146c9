/** `npm run mutations [-- --only ID]`: runs each mutation's tests; every one of them has to fail. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MUTATIONS, type Mutation } from './mutations.ts';

const root = path.resolve(import.meta.dirname, '../..');
const vitest = path.join(root, 'node_modules', '.bin', 'vitest');
const CONFIG = path.join(import.meta.dirname, 'vitest.config.ts');

/** Killed, or alive: its tests pass. Anything else is no result. */
function resultOf({ id, tests }: Mutation): 'killed' | 'alive' | 'no result' {
  const { stdout } = spawnSync(vitest, ['run', '--config', CONFIG, ...tests], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, MUTATION: id, NO_COLOR: '1' },
    maxBuffer: 1 << 28,
  });
  if (/^ +Tests +.*\d+ failed/m.test(stdout)) return 'killed';
  return /^ +Tests +\d+ passed/m.test(stdout) ? 'alive' : 'no result';
}

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = MUTATIONS.filter(({ id }) => values.only?.includes(id) ?? true);
if (chosen.length === 0) throw new Error('There is no such mutation.');
let killed = 0;
for (const mutation of chosen) {
  const from = Date.now();
  const result = resultOf(mutation);
  if (result === 'killed') killed++;
  const seconds = ((Date.now() - from) / 1000).toFixed(1);
  console.log(`${result.padEnd(10)}${mutation.id.padEnd(32)}${seconds.padStart(6)} s  ${mutation.rule}`);
}
console.log(`${killed} of ${chosen.length} killed`);
process.exitCode = killed === chosen.length ? 0 : 1;
