import { describe, expect, test } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { accepted, createMessageWorld, type WorldSettings } from './world.fixture.ts';

const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;

async function published(settings: WorldSettings = {}) {
  const world = createMessageWorld({ window: 0, ...settings });
  await world.begin();
  world.script(accepted({ threadRef: 'begun' }));
  await world.create('A');
  world.calls();
  return world;
}

const notYet = (until: number): SendOutcome => ({ class: 'not_sent', because: 'not_yet', until });

describe('a reply whose Thread the messenger has still to make', () => {
  test('is asked for again at the time that its channel named, and no edit waits for it', async () => {
    const world = await published();
    world.script(accepted(), notYet(world.now() + 2 * SECOND));
    await world.event('A', 'alerts_added', ADDED);
    expect(world.calls()).toEqual(['edit A', 'reply A alerts_added 1 L [new_alerts]']);
    await world.event('A', 'acknowledged', { status: 'acknowledged', by: 'person' });
    expect(world.calls()).toEqual(['edit A']);
    await world.advance(2 * SECOND - 10);
    expect(world.calls()).toEqual([]);
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['reply A alerts_added 1 L [new_alerts]']);
    expect(world.delivery('A')?.delivery.tries.attempts).toBe(0);
  });

  test('takes no token of a limiter by waiting', async () => {
    const world = await published({ limiter: { limit: 3, per_seconds: 60 } });
    const waits = Array.from({ length: 5 }, (_, index) => notYet(world.now() + (index + 1) * SECOND));
    world.script(accepted(), ...waits);
    await world.event('A', 'alerts_added', ADDED);
    await world.advance(10 * SECOND);
    expect(world.calls().filter((call) => call.startsWith('reply'))).toHaveLength(6);
    expect(world.state('A')).toBe('delivered');
  });
});

test('a reply beside its message is told once, and is a problem until one is below it again', async () => {
  const world = await published();
  const beside = accepted({ thread: 'unattached', threadRef: 'chain' });
  world.script(beside, accepted(), beside, accepted());
  await world.event('A', 'alerts_added', ADDED);
  await world.event('A', 'alerts_added', ADDED);
  expect(world.noted('A').filter((event) => event === 'thread_not_attached')).toHaveLength(1);
  expect(world.delivery('A')).toMatchObject({ state: 'delivered', delivery: { threadNotAttached: true } });
  expect(world.delivery('A')?.delivery.message?.threadRef).toBe('chain');
  expect(world.problem('A')).toBe(true);
  world.script(accepted({ thread: 'attached', threadRef: 'copy' }));
  await world.event('A', 'alerts_added', ADDED);
  expect(world.delivery('A')?.delivery).toMatchObject({ threadNotAttached: false });
  expect(world.problem('A')).toBe(false);
});

test('a text that was taken without its markup is told to the group', async () => {
  const world = createMessageWorld();
  await world.begin();
  world.script(accepted({ markupRejected: true }));
  await world.create('A');
  expect(world.noted('A')).toContain('markup_rejected');
});

test('a wait that breaks its Destination is kept to the end: the first call after it is the probe', async () => {
  const world = createMessageWorld();
  await world.begin();
  const until = world.now() + 5_000 * SECOND;
  const error = 'asked to wait until 12:30 UTC';
  world.script({ class: 'retry_after', until, scope: 'destination', error, breaks: true });
  await world.create('A');
  world.calls();
  expect(world.health()).toMatchObject({ state: 'broken', reason: `unavailable: ${error}` });
  await world.advance(4_999 * SECOND);
  expect(world.calls()).toEqual([]);
  await world.advance(2 * SECOND);
  expect(world.calls()[0]).toBe('probe');
  expect(world.health().state).toBe('healthy');
  expect(world.state('A')).toBe('delivered');
});
