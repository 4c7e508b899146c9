/** What it costs the engine to remember what the last turns of each actor did. */
import { Resident } from '../runtime/actor/resident.ts';
import { MINUTE } from '../runtime/clock.ts';
import { Engine } from '../test/model/engine.ts';
import { labelsOf, type Received } from '../test/model/story.ts';
import { Loaded } from './installation.ts';
import { load } from './load/start.ts';
import { type Bench, type BenchOptions, perSecond } from './report.ts';

const FEEDS = 20;
const ALERTS = 10;
/** Snapshots of each feed, a minute apart. */
const SNAPSHOTS = 25;
/** What remembering may take of the throughput of a service. */
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

/**
 * Processor time of a service for one turn while every Snapshot changes an Alert, ms: HTTP, the database's client and
 * commits included. It is what bounds the throughput, and is the same with and without remembering to within its spread.
 */
async function serviceMillisPerTurn({ seconds, warmupSeconds }: BenchOptions): Promise<number> {
  const tocsin = await Loaded.start();
  try {
    const { ingest_endpoint: url, integration_token: token, internal_url: internal } = tocsin.ready;
    const plan = {
      url,
      token,
      connections: 64,
      rate: null,
      groups: 500,
      body: 'webhook',
      changes: 1,
    } as const;
    await load({ ...plan, seconds: warmupSeconds, warmupSeconds: 0 });
    await tocsin.drained();
    const [before, used] = [await turnsOf(internal), tocsin.cpuSeconds()];
    await load({ ...plan, seconds, warmupSeconds: 0 });
    await tocsin.drained();
    const taken = (await turnsOf(internal)) - before;
    return ((tocsin.cpuSeconds() - used) * 1000) / taken;
  } finally {
    await tocsin.remove();
  }
}

async function turnsOf(internal: string): Promise<number> {
  const text = await (await fetch(`${internal}/metrics`)).text();
  return Array.from(text.matchAll(/^svc_actor_turns_total(?:\{.*\})? (\d+)$/gm)).reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

export const recording: Bench = {
  name: 'recording',
  title:
    'Turns of feeds and Alert Groups on a database in memory, with and without remembering what they did',
  async run(options) {
    const { seconds, warmupSeconds, progress } = options;
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
      const part = 1 - 1 / median(pairs.map(({ remembered, bare }) => remembered / bare));
      const millis = (1000 * part * median(pairs.map(({ remembered }) => remembered))) / turns;
      progress('a service whose Alerts change');
      const ofService = await serviceMillisPerTurn(options);
      const percent = (100 * millis) / ofService;
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
            value: `${(100 * part).toFixed(1)} %`,
          },
          {
            what: 'processor time of a turn in a service whose Alerts change',
            value: `${(1000 * ofService).toFixed(0)} µs`,
          },
          {
            what: 'what remembering takes of the throughput of that service',
            value: `${percent.toFixed(2)} %`,
            goal: `at most ${GOAL_PERCENT} %`,
            met: percent <= GOAL_PERCENT,
          },
        ],
        raw: { turns, pairs, ofService },
      };
    } finally {
      Resident.prototype.turn = remembering;
    }
  },
};
