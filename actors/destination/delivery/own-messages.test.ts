/** Every row of delivery §2.1: what delivery says of its own accord, how loudly, and whom it names. */
import { expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import { accepted, createMessageWorld, ONE, OTHER_ROUTE, ROUTE, START, TWO } from './world.fixture.ts';

type World = ReturnType<typeof createMessageWorld>;

const PERSON = { by: 'person' } as const;
const RESOLVED = { status: 'resolved', ...PERSON } as const;
const fatal: SendOutcome = { class: 'fatal', error: 'not in the channel' };
const gone: SendOutcome = { class: 'gone', error: 'answered 404' };
const added = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;

const tellStorm = (world: World, change: 'started' | 'changed' | 'ended') => {
  world.look(`${ROUTE}-${START / SECOND}`);
  return world.tellRoute(ROUTE, { type: 'storm', routeId: ROUTE, since: START, change, at: world.now() });
};

const released = (world: World, name: string) => {
  const group = world.group(name);
  if (!group) throw new Error(`no group ${name}`);
  const { id: groupId, number, routeId, status, urgent } = group;
  const about = { groupId, number, routeId, status, urgent, at: world.now() };
  return world.tellRoute(ROUTE, { type: 'group_released', ...about, loudness: 'quiet' });
};

/** What happens before the calls that count, and then what makes them. */
interface Row {
  readonly before: (world: World) => Promise<unknown>;
  readonly when: (world: World) => Promise<unknown>;
  readonly calls: readonly string[];
}

const breaks = async (world: World) => {
  world.script(fatal);
  await world.create('X');
};
const recovers = (world: World) => world.give(ONE, { type: 'worked', at: world.now() });

const ROWS: Readonly<Record<string, Row>> = {
  'Destination added to the Route: a new Root message per open group, Quiet': {
    before: (world) => world.create('A'),
    when: async (world) => {
      world.setRoute(ROUTE, [ONE, TWO]);
      await world.give(TWO, { type: 'routes_changed', joined: [ROUTE], left: [] });
    },
    calls: ['TWO publish A Q'],
  },
  'group moved in: a new Root message, Quiet': {
    before: async (world) => {
      world.setRoute(OTHER_ROUTE, [TWO]);
      await world.create('A');
    },
    when: async (world) => {
      const group = world.group('A');
      if (group) group.routeId = OTHER_ROUTE;
      await world.event('A', 'moved_to_default_route', {}, [OTHER_ROUTE]);
    },
    calls: ['TWO publish A Q'],
  },
  'Reopen of a group without a current Root message there: a new Root message, as Loud as the Reopen': {
    before: async (world) => {
      await breaks(world);
      await world.event('X', 'resolved', RESOLVED);
      await recovers(world);
    },
    when: (world) => world.event('X', 'reopened', { status: 'firing', mentions: ['reopen'] }),
    calls: ['publish X L [reopen]'],
  },
  'Storm summary, first: a new message, Loud [new_alert_group]': {
    before: async () => undefined,
    when: (world) => tellStorm(world, 'started'),
    calls: ['publish storm L [new_alert_group]'],
  },
  'Storm summary, update: an edit': {
    before: (world) => tellStorm(world, 'started'),
    when: (world) => tellStorm(world, 'changed'),
    calls: ['edit storm'],
  },
  'Storm summary, end: an edit': {
    before: (world) => tellStorm(world, 'started'),
    when: (world) => tellStorm(world, 'ended'),
    calls: ['edit storm'],
  },
  'held group posted after a Storm: a new Root message, Quiet': {
    before: (world) => world.create('A', { held: true }),
    when: (world) => released(world, 'A'),
    calls: ['publish A Q'],
  },
  'group resolved while its first Publication waited: a new Root message with a note, Quiet': {
    before: async (world) => {
      const until = world.now() + 30 * SECOND;
      world.script({ class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
      await world.create('A');
      await world.event('A', 'resolved', RESOLVED);
    },
    when: (world) => world.advance(31 * SECOND),
    calls: ['publish A Q (late)'],
  },
  'first Publication after a recovery, firing: Loud [new_alert_group]': {
    before: async (world) => {
      await breaks(world);
      await world.create('A');
    },
    when: recovers,
    calls: ['publish X L [new_alert_group]', 'publish A L [new_alert_group]'],
  },
  'first Publication after a recovery, not firing: Quiet': {
    before: async (world) => {
      await breaks(world);
      await world.event('X', 'acknowledged', { status: 'acknowledged', ...PERSON });
    },
    when: recovers,
    calls: ['publish X Q'],
  },
  'published message after recovery: one edit if the hash differs': {
    before: async (world) => {
      await world.create('A');
      await world.create('B');
      await breaks(world);
      await world.event('A', 'severity_raised');
      await world.event('A', 'acknowledged', { status: 'acknowledged', ...PERSON });
    },
    when: recovers,
    calls: ['publish X L [new_alert_group]', 'edit A'],
  },
  'replies that came due while Broken: not sent': {
    before: async (world) => {
      await world.create('A');
      await world.event('A', 'alerts_added', added);
      await world.event('A', 'alerts_added', added);
      await breaks(world);
      await world.event('A', 'alert_replaced', { facts: { event: 'alert_replaced', label: 'pod' } });
      await world.advance(2 * MINUTE);
    },
    when: recovers,
    calls: ['publish X L [new_alert_group]', 'edit A'],
  },
  'group resolved while Broken, never published there: not published': {
    before: async (world) => {
      await breaks(world);
      await world.event('X', 'resolved', RESOLVED);
    },
    when: recovers,
    calls: [],
  },
  'deleted Root message of an open group: a new Root message with a note, Quiet': {
    before: async (world) => {
      await world.create('A');
      world.script(gone);
    },
    when: (world) => world.event('A', 'severity_raised'),
    calls: ['edit A', 'publish A Q (deletedAt)'],
  },
  'Destination left the Route: one final edit': {
    before: (world) => world.create('A'),
    when: async (world) => {
      world.setRoute(ROUTE, []);
      await world.give(ONE, { type: 'routes_changed', joined: [], left: [ROUTE] });
    },
    calls: ['edit A final'],
  },
  'Destination was deleted: one final edit': {
    before: (world) => world.create('A'),
    when: async (world) => {
      world.forget(ONE);
      await world.give(ONE, { type: 'deleted' });
    },
    calls: ['edit A final'],
  },
  'message past its edit window, next change of status: a new Root message with a note, Quiet': {
    before: async (world) => {
      world.script(accepted({ editableUntil: world.now() + MINUTE }));
      await world.create('A');
      await world.advance(2 * MINUTE);
    },
    when: (world) => world.event('A', 'acknowledged', { status: 'acknowledged', ...PERSON }),
    calls: ['publish A Q (continued)'],
  },
};

test.each(Object.entries(ROWS))('%s', async (_, { before, when, calls }) => {
  const world = createMessageWorld();
  await world.begin();
  await before(world);
  world.calls();
  await when(world);
  await world.advance(10);
  expect(world.calls()).toEqual(calls);
});
