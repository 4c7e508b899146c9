/**
 * Random stories. Most are told by instances of an Alertmanager that look at the same flapping Alerts with a lag of their
 * own, repeat themselves, forget, cut lists and arrive out of order; the others say anything at all.
 */
import { SECOND } from '../../runtime/clock.ts';
import { type Random, seededRandom } from '../simulation/random.ts';
import { type Entry, labelsOf, type Received, type Step, type Story } from './story.ts';

const NAMES = ['A1m', 'A2m', 'A1n', 'A3m', 'B1m', 'B2m'];
const FEEDS = ['G', 'H', 'K'];
/** Seconds: the default, and others that meet the other spans of the rules. */
const WINDOWS = [45, 45, 45, 1, 10, 120, 600];
const MOST_SNAPSHOTS = 24;

/** The same seed gives the same story. */
export function drawStory(seed: number): Story {
  const random = seededRandom(seed);
  const window = random.pick(WINDOWS) * SECOND;
  const names = draw(random, NAMES, 1 + random.int(NAMES.length));
  const feeds = FEEDS.slice(0, 1 + random.int(FEEDS.length));
  const received = random.chance(0.7) ? instancesOf(random, names, feeds) : anything(random, names, feeds);
  const told = random.chance(0.4) ? withLaggingFinals(random, received) : received;
  const arrived = disturbed(random, told).slice(0, MOST_SNAPSHOTS);
  const restarts = random.chance(0.5) ? 0.15 : 0;
  return {
    window,
    steps: arrived.flatMap((one): Step[] => (random.chance(restarts) ? ['restart', one] : [one])),
  };
}

/** A span in which an Alert fires, in seconds. */
interface Spell {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

interface Instance {
  /** How much later than it happens the instance knows of it, s. */
  readonly lag: number;
  /** How much earlier or later its evaluator says that an Alert began, s. */
  readonly skew: number;
}

function instancesOf(random: Random, names: readonly string[], feeds: readonly string[]): Received[] {
  const length = random.pick([300, 1_200, 4_000]);
  const spells = names.flatMap((name) => spellsOf(random, name, length));
  const instances = Array.from(
    { length: 1 + random.int(3) },
    (): Instance => ({ lag: random.pick([0, 0, 5, 50, 200, 700]), skew: random.pick([0, 0, 0, -7, 13]) }),
  );
  const lists = new Map(feeds.map((feed) => [feed, draw(random, names, 1 + random.int(names.length))]));
  const said = feeds.flatMap((feed) =>
    instances.flatMap((instance) =>
      snapshotsOf(random, feed, instance, spells, lists.get(feed) ?? [], length),
    ),
  );
  return said.sort((one, other) => one.at - other.at);
}

function spellsOf(random: Random, name: string, length: number): Spell[] {
  const spells: Spell[] = [];
  let at = random.int(100);
  while (at < length && spells.length < 4) {
    const to = at + 1 + random.int(random.pick([60, 400, 2_000]));
    spells.push({ name, from: at, to, text: random.pick(['', '', '', 'x', 'y']) });
    at = to + 1 + random.int(random.pick([20, 300, 1_200]));
  }
  return spells;
}

function snapshotsOf(
  random: Random,
  feed: string,
  { lag, skew }: Instance,
  spells: readonly Spell[],
  names: readonly string[],
  length: number,
): Received[] {
  const received: Received[] = [];
  const interval = random.pick([15, 60, 300, 600]);
  let told = Number.NEGATIVE_INFINITY;
  for (let at = random.int(60); at < length + lag; at += 1 + random.int(2 * interval)) {
    const seen = at - lag;
    const known = spells.filter((spell) => names.includes(spell.name) && spell.from <= seen);
    const firing = known.filter(({ to }) => to > seen);
    const ended = known.filter(({ to, name }) => {
      return to <= seen && to > told && !firing.some((spell) => spell.name === name);
    });
    told = seen;
    const entries = [...latest(ended), ...firing].map(
      ({ name, from, text }): Entry => ({
        ...{ name, labels: labelsOf(name), text, start: (from + skew) * SECOND },
        firing: firing.some((spell) => spell.name === name),
      }),
    );
    if (entries.length === 0 && random.chance(0.8)) continue;
    // An instance that was restarted, or cuts its list, names a part and judges the group by that.
    const part = random.chance(0.12) ? draw(random, entries, random.int(entries.length + 1)) : entries;
    const over = random.chance(0.03) || !part.some((entry) => entry.firing);
    received.push({
      at: at * SECOND,
      feed,
      over,
      cut: part !== entries && random.chance(0.5),
      entries: part,
    });
  }
  return received;
}

function latest(spells: readonly Spell[]): Spell[] {
  return spells.filter(({ name }, index) => spells.findLastIndex((spell) => spell.name === name) === index);
}

/** After a final notification: what its sender called over is stale, and no group may reopen any more. */
const DAY_AND_MORE = 100_000;
const PAUSES = [0, 1, 20, 44, 45, 46, 60, 100, 299, 300, 301, 600, 900, 1_000];

function anything(random: Random, names: readonly string[], feeds: readonly string[]): Received[] {
  let at = 0;
  let wasOver = false;
  return Array.from({ length: 3 + random.int(MOST_SNAPSHOTS) }, () => {
    at += wasOver && random.chance(0.2) ? DAY_AND_MORE : random.pick(PAUSES);
    const entries = draw(random, names, random.int(names.length + 1)).map(
      (name): Entry => ({
        ...{ name, labels: labelsOf(name), text: random.pick(['', '', '', 'x']) },
        ...{ firing: random.chance(0.6), start: random.pick([0, 60, 120]) * SECOND },
      }),
    );
    const [feed, over, cut] = [random.pick(feeds), random.chance(0.2), random.chance(0.1)];
    wasOver = over;
    return { at: at * SECOND, feed, over, cut, entries };
  });
}

/** Seconds that an instance lags behind with a final notification. */
const LAGS = [1, 30, 60, 200, 700];

/** Final notifications come again from an instance that lags, half of them after the Snapshot of their group before. */
function withLaggingFinals(random: Random, received: readonly Received[]): Received[] {
  const repeated = received.flatMap((one, index) => {
    if (!one.over || random.chance(0.3)) return [];
    const before = received.slice(0, index).findLast(({ feed }) => feed === one.feed);
    const lag = random.pick(LAGS) * SECOND;
    const said = before && random.chance(0.5) ? [{ ...before, at: one.at }, one] : [one];
    return said.map((again) => ({ ...again, at: again.at + lag }));
  });
  return [...received, ...repeated].sort((one, other) => one.at - other.at);
}

/** No Snapshot is under way for longer. */
const LONGEST_DETOUR = 10_000 * SECOND;

/** Some come twice, and some later than what was received after them. */
function disturbed(random: Random, received: readonly Received[]): Received[] {
  const doubles = random.chance(0.4) ? 0.2 : 0;
  const swaps = random.chance(0.3) ? 0.2 : 0;
  const arrived = received.flatMap((one) =>
    random.chance(doubles) ? [one, { ...one, at: one.at + random.int(60) * SECOND }] : [one],
  );
  for (let index = 1; index < arrived.length; index++) {
    const [before, after] = [arrived[index - 1], arrived[index]];
    if (before && after && random.chance(swaps) && after.at - before.at < LONGEST_DETOUR)
      arrived.splice(index - 1, 2, after, before);
  }
  return arrived;
}

/** So many of them, each once, in any order. */
function draw<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  const left = [...items];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(random.int(left.length), 1),
  ).flat();
}
