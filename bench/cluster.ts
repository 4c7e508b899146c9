/** Three replicas on this machine with one Redis and one PostgreSQL: how fast work moves, what it costs, what it gives. */
import { measureCommands } from './cluster/commands.ts';
import { measureIdle } from './cluster/idle.ts';
import { measureMoves } from './cluster/moves.ts';
import { measureThroughput, type Throughput } from './cluster/throughput.ts';
import { type Bench, millis, percentiles, perSecond, type Row } from './report.ts';

const KILLS = 50;
const STOPS = 15;
const COMMANDS_PER_SECOND = 30;
/** Of a core: three of them leave more than one for PostgreSQL, Redis and the load. */
const SHARE = 0.25;

export const cluster: Bench = {
  name: 'cluster',
  title: 'Three replicas: takeover, handover, Commands, throughput, cost at rest',
  needs: ['redis-server'],
  async run(options) {
    const rows: Row[] = [];
    options.progress('at rest');
    const idle = await measureIdle(options.seconds);
    options.progress('Commands');
    const commands = await measureCommands(options.seconds, COMMANDS_PER_SECOND);
    options.progress('throughput: one replica without Redis');
    const alone = await measureThroughput({ replicas: 1, withoutRedis: true }, options);
    const together = [];
    for (const replicas of [1, 2, 3]) {
      options.progress(`throughput: ${replicas} with Redis`);
      together.push(await measureThroughput({ replicas }, options));
    }
    const shared: Throughput[] = [];
    for (const replicas of [1, 2, 3]) {
      options.progress(`throughput: ${replicas} with ${SHARE} of a core each`);
      shared.push(await measureThroughput({ replicas, share: SHARE }, options));
    }
    const moves = await measureMoves(KILLS, STOPS, options.progress);

    const first = percentiles(moves.firstCommit);
    const all = percentiles(moves.afterKill);
    const handed = percentiles(moves.afterTerm);
    const [local, remote] = [percentiles(commands.local), percentiles(commands.remote)];
    const show = (p: { p50: number; p99: number }) => `p50 ${millis(p.p50)}, p99 ${millis(p.p99)}`;
    rows.push(
      {
        what: `SIGKILL to the first commit of the next owner (${KILLS} kills)`,
        value: show(first),
        goal: 'p99 5 s',
        met: first.p99 <= 5_000,
      },
      {
        what: 'SIGKILL to the new epoch of the last shard',
        value: show(all),
        goal: 'p99 5 s',
        met: all.p99 <= 5_000,
      },
      {
        what: `SIGTERM to the new epoch of the last shard (${STOPS} stops)`,
        value: show(handed),
        goal: 'p99 1 s',
        met: handed.p99 <= 1_000,
      },
      {
        what: 'two committers of one shard and epoch',
        value: String(moves.violations.length),
        goal: 'never',
        met: moves.violations.length === 0,
      },
      { what: `Command at the owner, ${COMMANDS_PER_SECOND}/s`, value: show(local) },
      {
        what: `Command at another replica, ${COMMANDS_PER_SECOND}/s`,
        value: show(remote),
        goal: 'p99 150 ms',
        met: remote.p99 <= 150,
      },
      { what: 'processed, one without Redis', value: perSecond(alone.processed) },
      ...together.map((result, place) => ({
        what: `processed, ${place + 1} with Redis`,
        value: `${perSecond(result.processed)} (${(result.processed / alone.processed).toFixed(2)}×, ${result.cpuMillis.toFixed(3)} ms of a processor each)`,
      })),
      ...shared.map((result, place) => {
        const gain = result.processed / shared[0]!.processed;
        return {
          what: `processed, ${place + 1} with ${SHARE} of a core each`,
          value: `${perSecond(result.processed)} (${gain.toFixed(2)}×)`,
          ...(place > 0 && { goal: 'more', met: gain > 1 }),
        };
      }),
      {
        what: 'a replica at rest',
        value: `${idle.cpuPercent.toFixed(1)} % of a core, ${Math.round(idle.residentBytes / 2 ** 20)} MiB`,
        goal: '1 %',
        met: idle.cpuPercent <= 1,
      },
      {
        what: 'three replicas at rest',
        value: `${idle.redisCommands.toFixed(1)} Redis commands/s, ${idle.transactions.toFixed(1)} transactions/s`,
      },
    );
    return { rows, raw: { moves, commands, alone, together, shared, idle } };
  },
};
