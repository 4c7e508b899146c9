/** Calls to a messenger that counts those of the last time, of a Destination and of its Connection (delivery §6). */
import { expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { createMessageWorld, ONE, type WorldSettings } from './world.fixture.ts';

const OF_TWO = { limit: 2, per_seconds: 60 };

async function begun(settings: WorldSettings, groups: readonly string[]) {
  const world = createMessageWorld({ ...settings, type: 'channel_bot' });
  await world.begin();
  world.pause();
  for (const name of groups) await world.create(name);
  return world;
}

test.each(['limiter', 'connectionLimiter'] as const)(
  'of the %s: a minute after the end of a call the next one may begin, not after its beginning',
  async (which) => {
    const world = await begun({ [which]: OF_TWO }, ['A', 'B', 'C']);
    expect(world.performed).toHaveLength(2);
    await world.advance(20 * SECOND);
    await world.resume();
    await world.advance(MINUTE - SECOND);
    expect(world.performed).toHaveLength(2);
    await world.advance(2 * SECOND);
    expect(world.performed).toHaveLength(3);
  },
);

test.each(['limiter', 'connectionLimiter'] as const)(
  'of the %s: what a crash left unfinished holds its place for a minute, and no longer',
  async (which) => {
    const world = await begun({ [which]: OF_TWO }, ['A', 'B']);
    await world.crash();
    await world.resume();
    expect(world.calls()).toEqual([]);
    await world.advance(MINUTE + SECOND);
    expect(world.calls()).toHaveLength(2);
  },
);

test('a wait that the messenger asks for ends when it says, and no call of before is forgotten', async () => {
  const world = await begun({ limiter: OF_TWO }, ['A']);
  world.script({
    class: 'retry_after',
    until: world.now() + 5 * SECOND,
    scope: 'destination',
    error: 'too many requests',
    breaks: false,
  });
  await world.resume();
  world.calls();
  await world.advance(5 * SECOND - 1);
  expect(world.calls()).toEqual([]);
  await world.advance(2 * SECOND);
  expect(world.calls()).toHaveLength(1);
  await world.create('B');
  await world.advance(30 * SECOND);
  expect(world.calls()).toEqual([]);
  await world.advance(31 * SECOND);
  expect(world.calls()).toHaveLength(1);
});

test('a call that was not made holds nobody up', async () => {
  const world = await begun({ limiter: { limit: 1, per_seconds: 60 } }, ['A', 'B']);
  await world.advance(SECOND);
  await world.answer({ class: 'not_sent', because: 'put_back' });
  expect(world.performed).toHaveLength(2);
});

test('a place that a person took and gave back is free again at once', async () => {
  const world = await begun({ limiter: { limit: 1, per_seconds: 60 } }, []);
  expect(await world.give(ONE, { type: 'take_token' })).toEqual({ granted: true });
  await world.give(ONE, { type: 'token_returned' });
  await world.create('A');
  expect(world.performed).toHaveLength(1);
});

test('a person who asks while all calls are under way does not keep the others waiting', async () => {
  const world = await begun({ connectionLimiter: { limit: 2, per_seconds: 1 } }, ['A', 'B', 'C']);
  await world.advance(SECOND / 20);
  const answer = await world.giveConnection({ type: 'take_token', isEndTold: true });
  expect(answer).toEqual({ granted: false, dueAt: world.now() + SECOND });
  await world.advance(SECOND / 4);
  await world.resume();
  await world.advance(1.5 * SECOND);
  expect(world.performed).toHaveLength(3);
});

test('another limiter of the Connection counts at once, though a person waits', async () => {
  const world = await begun({ connectionLimiter: { limit: 1, per_seconds: 4 } }, ['A', 'B']);
  await world.giveConnection({ type: 'take_token', isEndTold: true });
  const limiter = { limit: 5, per_seconds: 1 };
  await world.giveConnection({ type: 'configured', version: 2, access: 1, polls: false, limiter });
  expect(world.performed).toHaveLength(2);
});

test('the end of a probe is told to the Connection that it went through', async () => {
  const world = await begun({ connectionLimiter: { limit: 1, per_seconds: 60 } }, ['A']);
  await world.answer({ class: 'fatal', error: 'kicked' });
  await world.advance(7 * MINUTE);
  expect(world.performed.map(({ type }) => type)).toEqual(['message.send', 'message.probe']);
  world.forget(ONE);
  await world.give(ONE, { type: 'deleted' });
  await world.advance(MINUTE);
  expect(await world.giveConnection({ type: 'take_token' })).toEqual({ granted: true });
});
