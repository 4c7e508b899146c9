/** `npm run bench [-- NAME …] [--seconds N]`: runs the benches, prints tables, keeps the raw figures as JSON. */
import { parseArgs } from 'node:util';
import { missingPrograms } from '../test/prerequisites.ts';
import { accept } from './accept.ts';
import { cluster } from './cluster.ts';
import { delivery } from './delivery.ts';
import { growth } from './growth.ts';
import { latency } from './latency.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import { messages } from './messages.ts';
import { messengers } from './messengers.ts';
import { migrations } from './migrations.ts';
import { recording } from './recording.ts';
import { type Bench, keepReports, machine, printReport, printTable, type Report, tableOf } from './report.ts';
import { scale } from './scale.ts';
import { signIn } from './sign-in.ts';
import { slopes } from './slopes.ts';
import { soak } from './soak.ts';
import { templates } from './templates.ts';
import { ui } from './ui.ts';

const BENCHES: readonly Bench[] = [
  accept,
  latency,
  delivery,
  memory,
  scale,
  lists,
  cluster,
  growth,
  slopes,
  messages,
  messengers,
  templates,
  recording,
  signIn,
  migrations,
  ui,
  soak,
];
const SECONDS = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, warmup: { type: 'string', default: '3' } },
});

const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no bench ${unknown.join(', ')}. There are: ${BENCHES.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}

console.log(`On ${machine()}, Node ${process.version}`);
const reports: Report[] = [];
for (const bench of BENCHES) {
  if (positionals.length > 0 ? !positionals.includes(bench.name) : bench.onlyByName) continue;
  const missing = missingPrograms(bench.needs ?? []);
  if (missing !== null) {
    console.error(`The bench ${bench.name} cannot run: ${missing}`);
    process.exitCode = 1;
    reports.push({ name: bench.name, title: bench.title, rows: [], raw: null });
    continue;
  }
  const measured = await bench.run({
    seconds: Number(values.seconds ?? bench.seconds ?? SECONDS),
    warmupSeconds: Number(values.warmup),
    progress: (line) => console.error(`  … ${bench.name}: ${line}`),
  });
  const report = { name: bench.name, title: bench.title, ...measured };
  printReport(report);
  if (bench.isStrict && report.rows.some(({ met }) => met === false)) process.exitCode = 1;
  reports.push(report);
}
printTable(tableOf(reports));
console.log(`\nRaw figures: ${keepReports(reports)}`);
