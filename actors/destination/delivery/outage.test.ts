/** What waits after failed attempts when the messenger may be back: delivery §7.1. */
import { expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { accepted, createMessageWorld, ONE, type WorldSettings } from './world.fixture.ts';

const down: SendOutcome = { class: 'transient', error: 'answered 503', unsure: false };
const A = 'publish A L [new_alert_group]';
const B = 'publish B L [new_alert_group]';

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}

/** A failed again and again, and waits for minutes now. */
async function waiting(settings: WorldSettings = {}) {
  const world = await begun(settings);
  const tries = () => world.delivery('A')?.delivery.tries;
  world.pause();
  await world.create('A');
  while ((tries()?.notBefore ?? 0) < world.now() + 2 * MINUTE) {
    if (world.waiting().length > 0) await world.answer(down);
    else await world.advance(SECOND);
  }
  await world.resume();
  world.calls();
  return { world, tries, attempts: tries()?.attempts ?? 0 };
}

test('it is sent with the first that goes through, and its attempts go on counting', async () => {
  const { world, tries, attempts } = await waiting();
  world.script(accepted(), down);
  await world.create('B');
  await world.advance(SECOND);
  expect(world.calls()).toEqual([B, A]);
  expect(tries()).toMatchObject({ attempts: attempts + 1 });
});

test('it waits on while others fail', async () => {
  const { world } = await waiting();
  world.script(down);
  await world.create('B');
  await world.advance(SECOND);
  expect(world.calls()).toEqual([B]);
});

test.each(['saved', 'worked'] as const)('it is sent when the Destination is told: %s', async (type) => {
  const { world } = await waiting();
  await world.give(ONE, type === 'saved' ? { type } : { type, at: world.now() });
  expect(world.calls()).toEqual([A]);
});

test('a message that alone fails keeps its waits while others go through', async () => {
  const world = await begun();
  world.script(down, accepted());
  await world.create('A');
  await world.create('B');
  await world.advance(SECOND);
  expect(world.calls()).toEqual([A, B]);
});

test('a reply that waits is sent with the first that goes through', async () => {
  const world = await begun({ window: 0 });
  await world.create('A');
  world.pause();
  const added = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;
  await world.event('A', 'alerts_added', added);
  const notBefore = () => world.delivery('A')?.delivery.replies[0]?.tries.notBefore ?? 0;
  while (notBefore() < world.now() + 2 * MINUTE) {
    const [call] = world.waiting();
    if (!call) await world.advance(SECOND);
    else await world.answer(down);
  }
  await world.resume();
  world.calls();
  await world.create('B');
  await world.advance(SECOND);
  expect(world.calls().toSorted()).toEqual(['edit A', B, 'reply A alerts_added 1 L [new_alerts]']);
});

test('what the messenger asked to wait for stays', async () => {
  const { world } = await waiting();
  world.script({
    ...{ class: 'retry_after', until: world.now() + MINUTE },
    ...{ scope: 'destination', error: 'answered 429' },
  });
  await world.create('B');
  await world.give(ONE, { type: 'saved' });
  world.calls();
  await world.advance(59 * SECOND);
  expect(world.calls()).toEqual([]);
});
