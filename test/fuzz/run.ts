/** `npm run fuzz -- [--requests 200000] [--seed N]`, or `-- --replay '<request>'` with a request that a run has named. */
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';
import type { Sent } from './send.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    replay: { type: 'string' },
  },
});
console.log(`seed ${values.seed}`);
const { figures, faults } = await fuzz({
  requests: Number(values.requests),
  seed: Number(values.seed),
  ...(values.replay === undefined ? {} : { replay: JSON.parse(values.replay) as Sent }),
  progress: (what) => console.log(`${new Date().toISOString().slice(11, 19)} ${what}`),
});
console.log(JSON.stringify(figures, null, 2));
for (const fault of faults) console.error(`✗ ${fault}`);
console.log(faults.length === 0 ? 'every answer was within its bounds' : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
