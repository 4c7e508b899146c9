/** Every delivery that waits at a Destination is notified when it becomes Broken and recovers (delivery §7.4). */
import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { SWEEP_PAGE } from './sweeps.ts';
import { createMessageWorld, ONE } from './world.fixture.ts';

type World = ReturnType<typeof createMessageWorld>;

const fatal: SendOutcome = { class: 'fatal', error: 'not in the channel' };
/** More than one page of a sweep. */
const STORED = 2 * SWEEP_PAGE + 3;
const NAMES = Array.from({ length: STORED + 5 }, (_, n) => `G${n}`);

/** The first ones wait in memory; the others, which a Storm holds, in storage alone. */
async function crowded(): Promise<World> {
  const world = createMessageWorld();
  await world.begin();
  world.pause();
  for (const [n, name] of NAMES.entries()) await world.create(name, { held: n >= NAMES.length - STORED });
  await world.crash();
  return world;
}

/** Groups that were not told of an event exactly once since the last look. */
function notToldOnce(world: World, event: string): string[] {
  const told = world.notes.splice(0).filter(({ note }) => note.event === event);
  const times = new Map<string, number>();
  for (const { groupId } of told) times.set(groupId, (times.get(groupId) ?? 0) + 1);
  return [...NAMES, 'New'].filter((name) => times.get(name) !== 1);
}

test('all that wait are told once that it is Broken and once that it is not, those in storage too', async () => {
  const world = await crowded();
  await world.answer(fatal);
  await world.create('New');
  await world.advance(SECOND);
  expect(notToldOnce(world, 'destination_broken')).toEqual([]);
  expect([...NAMES, 'New'].every((name) => world.problem(name))).toBe(true);

  await world.give(ONE, { type: 'worked', at: world.now() });
  await world.advance(SECOND);
  expect(notToldOnce(world, 'destination_recovered')).toEqual([]);
  expect([...NAMES, 'New'].some((name) => world.problem(name))).toBe(false);
});

test.each([1, 2])('a restart after %i turns of telling leaves nobody out', async (turns) => {
  const world = await crowded();
  await world.answer(fatal);
  for (let turn = 0; turn < turns; turn++) await world.give(ONE, { type: 'wake' });
  await world.crash();
  await world.advance(SECOND);
  expect(NAMES.filter((name) => !world.problem(name))).toEqual([]);
});
