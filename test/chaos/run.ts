/**
 * `npm run chaos -- [--groups 10000] [--acts 4] [--rage 20] [--seed N]`: the chaos proof of delivery, as large as asked
 * for. With `--messengers [--replicas 3] [--troubles 20]` to a chat server and a channel bot.
 */
import { parseArgs } from 'node:util';
import { chaos } from './chaos.ts';
import { messengerChaos } from './messengers.ts';

const MOST_SHOWN = 50;

const { values } = parseArgs({
  options: {
    groups: { type: 'string', default: '1000' },
    acts: { type: 'string', default: '4' },
    rage: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    patience: { type: 'string', default: '1800' },
    messengers: { type: 'boolean', default: false },
    replicas: { type: 'string', default: '3' },
    troubles: { type: 'string', default: '20' },
  },
});
console.log(`seed ${values.seed}`);
const common = {
  groups: Number(values.groups),
  seed: Number(values.seed),
  patience: Number(values.patience),
  progress: (what: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${what}`),
};
const { figures, faults } = values.messengers
  ? await messengerChaos({
      ...common,
      replicas: Number(values.replicas),
      troubles: Number(values.troubles),
    })
  : await chaos({ ...common, acts: Number(values.acts), rage: Number(values.rage) });
console.log(JSON.stringify(figures, null, 2));
for (const fault of faults.slice(0, MOST_SHOWN)) console.error(`✗ ${fault}`);
console.log(faults.length === 0 ? 'everything stands where it should' : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
