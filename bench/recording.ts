/** What it costs the engine to remember what the last turns of each actor did. */
import { Resident } from '../runtime/actor/resident.ts';
import { MINUTE } from '../runtime/clock.ts';
import { Engine } from '../test/model/engine.ts';
import { labelsOf, type Received } from '../test/model/story.ts';
import { type Bench, perSecond } from './report.ts';

const FEEDS = 20;
const ALERTS = 10;
/** Snapshots of each feed, a minute apart. */
const SNAPSHOTS = 25;
/** Of what remembering may take of the turns a second. */
const GOAL_PERCENT = 1;

/** Of each feed one; every one of them ends an Alert or has one fire again. */
const together = (index: number): Received[] =>
  Array.from({ length: FEEDS }, (_, feed) => ({
    ...{ at: index * MINUTE, feed: `feed-${feed}`, over: false, cut: false },
    entries: Array.from({ length: ALERTS }, (_, alert) => {
      const name = `A${alert}m`;
      const firing = alert === 0 || (alert + index) % ALERTS !== 0;
      return { name, labels: labelsOf(name), firing, start: 0, text: `feed ${feed}` };
    }),
  }));

const STORY = Array.from({ length: SNAPSHOTS }, (_, index) => together(index));

const { turn: remembering } = Resident.prototype;
let isRemembered = true;
let turns = 0;

/** Takes the place of {@link Resident.turn} once and for all: what is compiled for one way serves for the other. */
const eitherWay: Resident['turn'] = function (this: Resident, envelope, env) {
  turns++;
  if (isRemembered) return remembering.call(this, envelope, env);
  return this.kind.definition.receive(this, envelope.message, env);
};

/** Processor seconds of so many turns, those of the collector included. */
async function play(remembered: boolean): Promise<number> {
  isRemembered = remembered;
  turns = 0;
  const engine = new Engine(0);
  const { user, system } = process.cpuUsage();
  for (const snapshots of STORY) await engine.receive(...snapshots);
  const used = process.cpuUsage({ user, system });
  await engine.stop();
  return (used.user + used.system) / 1e6;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Pair {
  readonly remembered: number;
  readonly bare: number;
}

/** Each way once, which comes first in turn. */
async function playBoth(index: number): Promise<Pair> {
  const isFirst = index % 2 === 0;
  const [first, second] = [await play(isFirst), await play(!isFirst)];
  return isFirst ? { remembered: first, bare: second } : { remembered: second, bare: first };
}

export const recording: Bench = {
  name: 'recording',
  title:
    'Turns of feeds and Alert Groups on a database in memory, with and without remembering what they did',
  async run({ seconds, warmupSeconds, progress }) {
    Resident.prototype.turn = eitherWay;
    try {
      progress('warming up');
      for (let used = 0; used < 2 * warmupSeconds; ) used += (await play(true)) + (await play(false));
      progress('in turn');
      const pairs: Pair[] = [];
      for (let used = 0; used < 6 * seconds; ) {
        const pair = await playBoth(pairs.length);
        pairs.push(pair);
        used += pair.remembered + pair.bare;
      }
      const percent = 100 * (1 - 1 / median(pairs.map(({ remembered, bare }) => remembered / bare)));
      return {
        rows: [
          {
            what: 'turns a processor second, remembered',
            value: perSecond(turns / median(pairs.map(({ remembered }) => remembered))),
          },
          {
            what: 'the same, not remembered',
            value: perSecond(turns / median(pairs.map(({ bare }) => bare))),
          },
          {
            what: `what remembering takes of them, median of ${pairs.length} pairs`,
            value: `${percent.toFixed(1)} %`,
            goal: `at most ${GOAL_PERCENT} %`,
            met: percent <= GOAL_PERCENT,
          },
        ],
        raw: { turns, pairs },
      };
    } finally {
      Resident.prototype.turn = remembering;
    }
  },
};
