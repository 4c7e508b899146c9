/** What it costs the engine to remember what the last turns of each actor did. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { type Bench, perSecond } from './report.ts';

const TURNS = path.join(import.meta.dirname, 'recording', 'turns.ts');
const PAIRS = 9;

/** Turns a processor second, by a process of its own: what one compiled does not serve the other. */
function measure(how: 'with' | 'without', seconds: number, warmupSeconds: number): number {
  const words = ['--disable-warning=ExperimentalWarning', TURNS, how, String(seconds), String(warmupSeconds)];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: 'utf8' })) as number;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export const recording: Bench = {
  name: 'recording',
  title: 'Turns on a database in memory, one process, with and without remembering what they did, in turn',
  async run({ seconds, warmupSeconds, progress }) {
    const pairs = Array.from({ length: PAIRS }, (_, index) => {
      progress(`pair ${index + 1} of ${PAIRS}`);
      const order = index % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
      const [first = 0, second = 0] = order.map((how) => measure(how, seconds / 2, warmupSeconds));
      return order[0] === 'with' ? { with: first, without: second } : { with: second, without: first };
    });
    const [remembering, bare] = [
      median(pairs.map((pair) => pair.with)),
      median(pairs.map((pair) => pair.without)),
    ];
    /** Of each pair, µs a turn: what differs from pair to pair falls out. */
    const added = pairs.map((pair) => 1e6 / pair.with - 1e6 / pair.without);
    return {
      rows: [
        { what: 'turns a processor second, remembered', value: perSecond(remembering) },
        { what: 'turns a processor second, not remembered', value: perSecond(bare) },
        { what: 'one turn costs more, median of the pairs', value: `${median(added).toFixed(2)} µs` },
      ],
      raw: { pairs, added },
    };
  },
};
