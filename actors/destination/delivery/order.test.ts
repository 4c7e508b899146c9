/** What rings goes before what does not, which is not put off for ever: delivery §3 rule 6. */
import { expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { createMessageWorld, ONE, ROUTE } from './world.fixture.ts';

const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;
const OPEN = 60;

/** Many messages that are to be edited, one each five seconds. */
async function rendered() {
  const world = createMessageWorld({ window: 0 });
  await world.begin();
  const names = Array.from({ length: OPEN }, (_, index) => `G${index + 1}`);
  for (const name of names) await world.create(name);
  await world.advance(MINUTE);
  world.calls();
  world.configure(ONE, { limiter: { limit: 1, per_seconds: 5 } });
  for (const name of names) world.look(name);
  await world.give(ONE, { type: 'rerender', routeId: ROUTE });
  await world.advance(30 * SECOND);
  world.calls();
  return world;
}

test('a group that begins is published before edits that wait', async () => {
  const world = await rendered();
  await world.create('NEW');
  await world.advance(5 * SECOND);
  expect(world.calls()).toContain('publish NEW L [new_alert_group]');
});

test('a Loud reply takes the edit along that precedes it', async () => {
  const world = await rendered();
  await world.event(`G${OPEN}`, 'alerts_added', ADDED);
  await world.advance(10 * SECOND);
  expect(world.calls()).toEqual([`edit G${OPEN}`, `reply G${OPEN} alerts_added 1 L [new_alerts]`]);
});

test('an edit waits for what begins within ten minutes after it came up, and no longer', async () => {
  const world = createMessageWorld({ limiter: { limit: 1, per_seconds: 60 } });
  await world.begin();
  await world.create('OLD');
  await world.advance(MINUTE);
  await world.create('FIRST');
  await world.event('OLD', 'severity_raised');
  world.calls();
  const made: string[] = [];
  for (let number = 1; number <= 15; number++) {
    await world.create(`N${number}`);
    await world.advance(MINUTE);
    made.push(...world.calls());
  }
  expect(made.indexOf('edit OLD')).toBe(10);
});
