/** What limits the number of replicas of one cluster: the real placement with thousands of members, on virtual time. */
import { SHARDS } from '../runtime/actor/index.ts';
import { type FollowCost, measureFollowing } from './growth/follower.ts';
import { type BeatCost, measureBeats } from './growth/meeting.ts';
import { actorsByShard, type Spread, spreadOf } from './growth/spread.ts';
import { type Upheaval, upheavals } from './growth/upheavals.ts';
import type { Bench, Row } from './report.ts';

const ACTORS = 1_000_000;
const REPLICAS = [3, 10, 100, 300, 1_000, 3_000] as const;
/** The product's, and what it could have. */
const SHARD_COUNTS = [SHARDS, 4_096, 16_384] as const;
/** Rolling restarts are counted up to here: they take two calculations a replica. */
const RESTARTS_UP_TO = 100;
/** Above this only rest and a death are simulated. */
const ALL_UP_TO = 300;
/** Above this only with the product's number of shards. */
const WHAT_IF_UP_TO = 100;
/** Redis is not asked for more than this share of its thread; beyond it, it counts as infinitely fast. */
const BUSIEST = 0.8;
/** Beats a second of one member. */
const BEATS_PER_SECOND = 2;

const count = (value: number) => Math.round(value).toLocaleString('en-GB');
const percent = (value: number) => `${value < 1 ? value.toFixed(2) : count(value)} %`;

export const growth: Bench = {
  name: 'growth',
  title: 'Up to 3,000 replicas: how shards spread and move, and what meeting costs',
  needs: ['redis-server'],
  async run({ progress }) {
    progress('spreading a million actors');
    const spreads = SHARD_COUNTS.flatMap((shards) => {
      const actors = actorsByShard(ACTORS, shards);
      return REPLICAS.map((replicas) => spreadOf(replicas, actors, replicas <= RESTARTS_UP_TO));
    });
    progress('beats at a real Redis');
    const beats = await measureBeats(REPLICAS);
    progress('what replicas make of the answers');
    const follows: FollowCost[] = [];
    for (const shards of [SHARDS, 4_096])
      for (const replicas of REPLICAS) follows.push(await measureFollowing(replicas, shards));
    const changes: Upheaval[] = [];
    for (const shards of [SHARDS, 4_096]) {
      for (const { replicas, redisMicros } of beats) {
        if (shards !== SHARDS && replicas > WHAT_IF_UP_TO) continue;
        progress(`${count(replicas)} replicas, ${count(shards)} shards: deaths and joins`);
        const isServed = load(replicas, redisMicros) < BUSIEST;
        changes.push(
          ...(await upheavals({
            ...{ replicas, shards, isBrief: replicas > ALL_UP_TO },
            beatCost: isServed ? Math.round(redisMicros) : 0,
          })),
        );
      }
    }
    return {
      rows: [
        ...spreads.flatMap(spreadRows),
        ...beats.map(beatRow),
        ...boundRows(beats),
        ...follows.map(followRow),
        ...changes.map(upheavalRow),
      ],
      raw: { spreads, beats, follows, changes },
    };
  },
};

/** The share of Redis' one thread that the beats of so many members take. */
function load(replicas: number, redisMicros: number): number {
  return (replicas * BEATS_PER_SECOND * redisMicros) / 1e6;
}

function spreadRows(it: Spread): Row[] {
  const of = `${count(it.replicas)} replicas, ${count(it.shards)} shards`;
  const moved = ({ shards, actors }: Spread['join']) => `${count(shards)} (${count(actors)} actors)`;
  return [
    {
      what: `${of}: shards, actors of the fullest`,
      value: `${it.leastShards}–${it.mostShards}, ${it.fullest.toFixed(2)}× the mean, ${it.idle} idle`,
    },
    {
      what: `${of}: moved by a join, a leave${it.restart ? ', a rolling restart' : ''}`,
      value: [it.join, it.leave, ...(it.restart ? [it.restart] : [])].map(moved).join(', '),
    },
    {
      what: `${of}: with a cap, the fullest; moved by a join, a leave`,
      value: `${it.capped.fullest.toFixed(2)}× the mean; ${moved(it.capped.join)}, ${moved(it.capped.leave)}`,
    },
  ];
}

function beatRow({ replicas, redisMicros, replicaMicros, answerBytes }: BeatCost): Row {
  return {
    what: `${count(replicas)} replicas: CPU of a beat at Redis, of reading it; answer; Redis busy`,
    value: `${count(redisMicros)} µs, ${count(replicaMicros)} µs; ${count(answerBytes)} bytes; ${percent(100 * load(replicas, redisMicros))}`,
  };
}

/** By the straight line through the smallest and the largest cost: how many members' beats occupy Redis. */
function boundRows(costs: readonly BeatCost[]): Row[] {
  const [least, most] = [costs[0]!, costs.at(-1)!];
  const slope = (most.redisMicros - least.redisMicros) / (most.replicas - least.replicas);
  const fixed = least.redisMicros - slope * least.replicas;
  const members = (share: number) => {
    const budget = (share * 1e6) / BEATS_PER_SECOND;
    return (Math.sqrt(fixed ** 2 + 4 * slope * budget) - fixed) / (2 * slope);
  };
  return [0.1, 0.5, 1].map((share) => ({
    what: `members whose beats take ${share * 100} % of a Redis`,
    value: count(members(share)),
  }));
}

function followRow({ replicas, shards, memberMicros, leaderMicros }: FollowCost): Row {
  return {
    what: `${count(replicas)} replicas, ${count(shards)} shards: CPU of following a beat, as the Leader`,
    value: `${count(memberMicros)} µs, ${count(leaderMicros)} µs`,
  };
}

function upheavalRow({
  what,
  replicas,
  shards,
  seconds,
  beatCost,
  passed,
  extraBeats,
  burst,
}: Upheaval): Row {
  const said = `${count(passed.notices)} notices, ${count(extraBeats)} extra beats, ${count(burst)} within 10 ms`;
  return {
    what: `${count(replicas)} replicas, ${count(shards)} shards: ${what}${beatCost > 0 ? '' : ' (Redis as fast as needed)'}`,
    value:
      what === 'at rest'
        ? `${count(passed.beats / seconds)} beats/s`
        : `${seconds.toFixed(2)} s; ${count(passed.taken)} shards taken; ${said}`,
  };
}
