/**
 * `node turns.ts with|without SECONDS WARMUP`: turns a processor second of feeds and Alert Groups under the real engine,
 * on a database in memory. Without: what a turn did is not remembered.
 */
import { Resident } from '../../runtime/actor/resident.ts';
import { MINUTE } from '../../runtime/clock.ts';
import { Engine } from '../../test/model/engine.ts';
import { labelsOf, type Received } from '../../test/model/story.ts';

const FEEDS = 20;
const ALERTS = 10;
/** Snapshots of each feed, a minute apart. */
const SNAPSHOTS = 50;

/** Of each feed one; every one of them ends an Alert or has one fire again. */
const together = (index: number): Received[] =>
  Array.from({ length: FEEDS }, (_, feed) => ({
    ...{ at: index * MINUTE, feed: `feed-${feed}`, over: false, cut: false },
    entries: Array.from({ length: ALERTS }, (_, alert) => {
      const name = `A${alert}m`;
      const isFiring = alert === 0 || (alert + index) % ALERTS !== 0;
      return { name, labels: labelsOf(name), firing: isFiring, start: 0, text: `feed ${feed}` };
    }),
  }));

const story = Array.from({ length: SNAPSHOTS }, (_, index) => together(index));

async function play(): Promise<void> {
  const engine = new Engine(0);
  for (const snapshots of story) await engine.receive(...snapshots);
  await engine.stop();
}

async function turnsOfPlay(): Promise<number> {
  const { turn } = Resident.prototype;
  let turns = 0;
  Resident.prototype.turn = function (...words) {
    turns++;
    return turn.apply(this, words);
  };
  await play();
  Resident.prototype.turn = turn;
  return turns;
}

function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

const [, , how, seconds, warmup] = process.argv;
if (how === 'without') {
  Resident.prototype.turn = function ({ message }, env) {
    return this.kind.definition.receive(this, message, env);
  };
}
const turns = await turnsOfPlay();
const warm = performance.now() + Number(warmup) * 1_000;
while (performance.now() < warm) await play();
const from = processorSeconds();
const end = performance.now() + Number(seconds) * 1_000;
let plays = 0;
for (; performance.now() < end; plays++) await play();
console.log(JSON.stringify((plays * turns) / (processorSeconds() - from)));
