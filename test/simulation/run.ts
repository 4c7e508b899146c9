/**
 * `npm run simulate -- [--world engine|replicas] [--seeds 1000 | --steps 1000000] [--from 1] | --seed N`: runs many
 * seeds, or as many as have so many steps together, and stops at the first that breaks an invariant; with `--seed` one
 * run with its trace. Without `--world` both worlds share the work.
 */
import { parseArgs } from 'node:util';
import { type Run, simulate } from './simulate.ts';
import { simulateReplicas } from './simulate-replicas.ts';

type Simulate = (seed: number, options?: { trace?: boolean }) => Promise<Run>;

const WORLDS: Readonly<Record<string, Simulate>> = { engine: simulate, replicas: simulateReplicas };

const { values } = parseArgs({
  options: {
    world: { type: 'string' },
    seeds: { type: 'string', default: '1000' },
    steps: { type: 'string' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = Object.entries(WORLDS).filter(([name]) => (values.world ?? name) === name);
  if (chosen.length === 0) {
    console.error(`There is no world ${values.world}: take one of ${Object.keys(WORLDS).join(', ')}.`);
    return 2;
  }
  for (const [name, run] of chosen) {
    const code =
      values.seed === undefined ? await runMany(name, run) : await replay(run, Number(values.seed));
    if (code !== 0) return code;
  }
  return 0;
}

async function runMany(name: string, run: Simulate): Promise<number> {
  const first = Number(values.from);
  const most = values.steps === undefined ? Number(values.seeds) : Number.POSITIVE_INFINITY;
  const steps = values.steps === undefined ? Number.POSITIVE_INFINITY : Number(values.steps);
  const start = performance.now();
  const sum = { seeds: 0, events: 0, commits: 0 };
  for (; sum.seeds < most && sum.events < steps; sum.seeds++) {
    const seed = first + sum.seeds;
    const { violations, events, commits } = await run(seed);
    sum.events += events;
    sum.commits += commits;
    if (violations.length === 0) continue;
    console.log(`seed ${seed} breaks:\n  ${violations.join('\n  ')}`);
    console.log(`replay: npm run simulate -- --world ${name} --seed ${seed}`);
    return 1;
  }
  const seconds = (performance.now() - start) / 1000;
  const rate = Math.round(sum.seeds / seconds);
  console.log(
    `${name}: all invariants hold in ${sum.seeds} seeds from ${first} (${sum.events} steps, ${sum.commits} commits, ${rate} seeds/s)`,
  );
  return 0;
}

async function replay(run: Simulate, seed: number): Promise<number> {
  const { trace, violations } = await run(seed, { trace: true });
  console.log(trace.join('\n'));
  console.log(violations.length === 0 ? 'all invariants hold' : `breaks:\n  ${violations.join('\n  ')}`);
  return violations.length === 0 ? 0 : 1;
}
