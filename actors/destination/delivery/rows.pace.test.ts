import { expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import type { Limiter } from '../limiter.ts';
import { CALLS_AT_ONCE } from './rows.ts';
import { createMessageWorld, type WorldSettings } from './world.fixture.ts';

const BACK: SendOutcome = { class: 'not_sent', because: 'put_back' };
const WIDE: Limiter = { limit: 1000, per_seconds: 1 };

/** A Destination whose calls were answered so far, one a second, each after so many seconds. */
async function answeredIn(seconds: number, settings: WorldSettings = { limiter: WIDE }) {
  const world = createMessageWorld(settings);
  await world.begin();
  world.pause();
  for (let index = 0; index < 50; index++) {
    await world.create(`before ${index}`);
    await world.advance(seconds * SECOND);
    await world.answer();
    await world.advance(SECOND);
  }
  return world;
}
type World = Awaited<ReturnType<typeof answeredIn>>;

async function begun(world: World, groups = 60): Promise<number> {
  for (let index = 0; index < groups; index++) await world.create(`group ${index}`);
  return world.waiting().length;
}

test.each([
  ['that answers quickly gets some calls begun ahead', 0, { limiter: WIDE }, 40],
  ['whose limiter is slower gets fewer', 0, { limiter: { limit: 200, per_seconds: 1 } }, 8],
  ['with the usual limiter gets none', 0, { limiter: { limit: 5, per_seconds: 1 } }, CALLS_AT_ONCE],
  ['that takes its time gets none', 0.6, { limiter: WIDE }, CALLS_AT_ONCE],
  [
    'that knows no keys gets none: a repeat would be a second message',
    0,
    { limiter: WIDE, type: 'webhook' },
    CALLS_AT_ONCE,
  ],
] as const)('a messenger %s', async (_says, seconds, settings, expected) => {
  expect(await begun(await answeredIn(seconds, settings))).toBe(expected);
});

test('after a failure nothing is begun ahead', async () => {
  const world = await answeredIn(0);
  expect(await begun(world)).toBe(40);
  await world.answer({ class: 'transient', error: 'answered 503', unsure: false });
  for (let left = world.waiting().length; left > 0; left--) await world.answer(BACK);
  expect(world.waiting()).toHaveLength(CALLS_AT_ONCE);
});

test('a call that goes back in line keeps its place, its key and its number of attempts', async () => {
  const world = await answeredIn(0);
  await begun(world, 2);
  const [first] = world.waiting();
  await world.answer(BACK);
  const [, again] = world.waiting();
  if (first?.type !== 'message.send' || again?.type !== 'message.send') throw new Error('no messages');
  const { call, ...same } = first;
  expect(again).toEqual({ ...same, call: call + 2 });
});

test('tokens that come back while the messenger wants no call do not let more go out after that', async () => {
  const world = createMessageWorld({ limiter: { limit: 5, per_seconds: 5 } });
  await world.begin();
  world.pause();
  for (const name of ['A', 'B', 'C', 'D']) await world.create(name);
  const until = world.now() + 7 * SECOND;
  await world.answer({ class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
  for (let back = 0; back < 3; back++) await world.answer(BACK);
  expect(world.waiting()).toEqual([]);
  await world.advance(7.5 * SECOND);
  expect(world.waiting()).toHaveLength(1);
});
