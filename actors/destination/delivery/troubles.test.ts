/** What may go wrong around a call, and must not leave a message or a Destination behind. */
import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { createMessageWorld, ONE, OTHER_CONNECTION, ROUTE, type WorldSettings } from './world.fixture.ts';

const ACKNOWLEDGED = { status: 'acknowledged', by: 'person' } as const;
const FIRING = { status: 'firing', by: 'person' } as const;
const REMINDER = {
  mentions: ['owner'],
  facts: { event: 'reminder', owner: { id: 'US000000000001' as PublicId, name: 'Ada', login: 'ada' } },
} as const;
const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;
const refused: SendOutcome = { class: 'unknown', error: 'answered 400' };
const lost: SendOutcome = { class: 'transient', error: 'timed out', unsure: true };
const fatal: SendOutcome = { class: 'fatal', error: 'answered 401' };

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}

describe('a call that comes to nothing, while something else changed,', () => {
  const editUnderWay = async () => {
    const world = await begun();
    await world.create('A');
    world.calls();
    world.pause();
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    return world;
  };

  test('is followed by an edit that shows the change', async () => {
    const world = await editUnderWay();
    await world.event('A', 'resolved', { status: 'resolved', by: 'person' });
    await world.answer(refused);
    await world.resume();
    expect([world.calls(), world.state('A')]).toEqual([['edit A', 'edit A'], 'delivered']);
  });

  test('is followed by the last edit when the Destination left meanwhile', async () => {
    const world = await editUnderWay();
    world.setRoute(ROUTE, []);
    await world.give(ONE, { type: 'routes_changed', joined: [], left: [ROUTE] });
    await world.advance(10);
    await world.answer(refused);
    await world.resume();
    expect([world.calls(), world.state('A')]).toEqual([['edit A', 'edit A final'], 'retired']);
  });

  test.each(['during', 'after'])('is published again for Alerts that were added %s it', async (when) => {
    const world = await begun();
    world.pause();
    await world.create('A');
    if (when === 'during') await world.event('A', 'alerts_added', ADDED);
    await world.answer(refused);
    if (when === 'after') await world.event('A', 'alerts_added', ADDED);
    await world.resume();
    await world.advance(MINUTE);
    const publish = 'publish A L [new_alert_group]';
    expect(world.calls()).toEqual([publish, publish, 'reply A alerts_added 1 L [new_alerts]']);
    expect(world.state('A')).toBe('delivered');
  });
});

describe('a wait of 20 minutes that is asked for', () => {
  const wait = (world: Awaited<ReturnType<typeof begun>>, scope: 'destination' | 'connection') =>
    world.answer({
      class: 'retry_after',
      ...{ until: world.now() + 20 * MINUTE, scope, error: 'asked to wait', breaks: true },
    });

  test('of a deleted Destination says nothing of groups that wait for their last edit', async () => {
    const world = await begun({ type: 'channel_bot' });
    for (const name of ['A', 'B']) {
      await world.create(name);
      world.noted(name);
    }
    world.pause();
    world.forget(ONE);
    world.setRoute(ROUTE, []);
    await world.give(ONE, { type: 'deleted' });
    await world.advance(10);
    await wait(world, 'destination');
    await world.advance(SECOND);
    expect([world.noted('A'), world.noted('B'), world.alerts()]).toEqual([[], [], []]);
  });

  test('at the former place does not break the present one', async () => {
    const world = await begun({ type: 'channel_bot' });
    await world.create('A');
    world.pause();
    world.configure(ONE, { target: 2, connectionId: OTHER_CONNECTION });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    await world.answer();
    await world.advance(SECOND);
    expect(world.waiting()).toMatchObject([{ operation: { kind: 'edit', isFinal: true } }]);
    await wait(world, 'connection');
    expect(world.health()).toEqual({ state: 'healthy' });
  });
});

describe('an edit of which nobody knows whether it arrived', () => {
  const backTo = async (world: Awaited<ReturnType<typeof begun>>, look: string) => {
    while (world.lookOf('A') !== look) world.look('A', -1);
  };

  test('is not taken back by leaving out the next one, though that shows what the messenger had before', async () => {
    const world = await begun();
    await world.create('A');
    const before = world.lookOf('A');
    world.script(lost);
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    await world.event('A', 'unacknowledged', FIRING);
    await backTo(world, before);
    world.calls();
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['edit A']);
    expect(world.state('A')).toBe('delivered');
  });

  test('nor after a crash in the middle of it', async () => {
    const world = await begun();
    await world.create('A');
    const before = world.lookOf('A');
    world.pause();
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    await world.event('A', 'unacknowledged', FIRING);
    await backTo(world, before);
    world.calls();
    await world.crash();
    await world.resume();
    expect(world.calls()).toEqual(['edit A']);
  });
});

test('a Broken webhook whose oldest edit shows nothing new is tried by what comes due after it', async () => {
  const world = await begun({ type: 'webhook' });
  await world.create('A');
  await world.create('B');
  world.script(fatal);
  await world.event('A', 'reminder', REMINDER);
  expect(world.health().state).toBe('broken');
  await world.give(ONE, { type: 'rerender', routeId: null });
  await world.advance(6 * MINUTE);
  world.calls();
  await world.event('B', 'acknowledged', ACKNOWLEDGED);
  await world.advance(SECOND);
  expect(world.calls()).toEqual(['edit B']);
  expect(world.health().state).toBe('healthy');
});

test('a Broken webhook whose edit waits longer than a reply of the same group is tried once the edit is due', async () => {
  const world = await begun({ type: 'webhook' });
  await world.create('A');
  await world.create('B');
  const failure: SendOutcome = { class: 'transient', error: 'answered 503', unsure: false };
  world.script(failure, failure, failure, failure, failure);
  await world.event('A', 'acknowledged', ACKNOWLEDGED);
  for (const wait of [2, 4, 8, 16]) await world.advance(wait * SECOND);
  const tries = () => world.delivery('A')?.delivery.tries;
  expect(tries()).toMatchObject({ attempts: 5 });
  world.script(failure, fatal);
  await world.event('A', 'reminder', REMINDER);
  await world.event('B', 'reminder', REMINDER);
  expect(world.health().state).toBe('broken');
  world.calls();
  await world.give(ONE, { type: 'saved' });
  const due = tries()?.notBefore ?? 0;
  expect(due - world.now()).toBeGreaterThan(10 * SECOND);
  await world.advance(due - world.now() - 1);
  expect(world.calls()).toEqual([]);
  await world.advance(1);
  expect(world.calls()).toEqual(['edit A']);
  expect(world.health().state).toBe('healthy');
});

test('a last edit that waits for a token of its Connection ends when that is deleted', async () => {
  const world = await begun({ connectionLimiter: { limit: 1, per_seconds: 3600 } });
  await world.create('A');
  world.configure(ONE, { target: 2 });
  await world.give(ONE, { type: 'saved' });
  await world.advance(MINUTE);
  world.calls();
  world.forgetConnection();
  await world.giveConnection({ type: 'deleted', version: 2 });
  world.script({ class: 'unknown', error: 'the Connection was deleted' });
  await world.give(ONE, { type: 'saved' });
  expect(world.calls()).toContain('edit A final');
  expect(world.delivery('A')).toMatchObject({ state: 'not_delivered', error: 'the Connection was deleted' });
});

test.each([
  ['an edit', 'acknowledged', ACKNOWLEDGED],
  ['a reply', 'reminder', REMINDER],
] as const)(
  'a group is told once that %s of its own made the Destination Broken',
  async (_, event, change) => {
    const world = await begun();
    await world.create('A');
    world.noted('A');
    world.script(fatal);
    await world.event('A', event, change);
    expect(world.noted('A')).toEqual(['destination_broken']);
    expect(world.problem('A')).toBe(true);
  },
);

describe('a message that was taken with an answer that nobody understands', () => {
  const garbled: SendOutcome = { class: 'unknown', error: 'the answer is not JSON', unsure: true };

  test('is asked for again after a recovery, though its group resolved meanwhile', async () => {
    const world = await begun();
    world.script(garbled);
    await world.create('A');
    expect(world.state('A')).toBe('not_delivered');
    world.script(fatal);
    await world.create('B');
    await world.event('A', 'resolved', { status: 'resolved' });
    expect(world.state('A')).toBe('pending');
    world.calls();
    await world.give(ONE, { type: 'worked', at: world.now() });
    expect(world.calls()).toContain('publish A Q');
    const keys = world.performed.flatMap((call) => (call.type === 'message.send' ? (call.key ?? []) : []));
    expect(keys.filter((key) => key.includes('-A-'))).toEqual([`root-${ONE}-A-1`, `root-${ONE}-A-1`]);
    expect(world.state('A')).toBe('delivered');
  });
});
