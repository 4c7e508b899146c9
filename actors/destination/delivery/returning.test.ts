/** Groups that open again, and Destinations that come back to a Route: delivery §2, §10 and §12. */
import { expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import type { UserRef } from '../../model.ts';
import { accepted, createMessageWorld, ONE, ROUTE, START, TWO, type WorldSettings } from './world.fixture.ts';

const PERSON = { by: 'person' } as const;
const REOPENED = {
  status: 'firing',
  mentions: ['reopen'],
  facts: { event: 'reopened', owner: null },
} as const;
const ANN = { id: 'SR000000000001' as PublicId, name: 'Ann' } as UserRef;
const TAKEN = {
  status: 'acknowledged',
  mentions: ['owner'],
  owner: ANN,
  facts: { event: 'reopened', owner: ANN },
} as const;
const FATAL: SendOutcome = { class: 'fatal', error: 'not in the channel' };
const UNKNOWN: SendOutcome = { class: 'unknown', error: 'answered 400' };
const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}
type World = Awaited<ReturnType<typeof begun>>;

async function leave(world: World) {
  world.setRoute(ROUTE, []);
  await world.give(ONE, { type: 'routes_changed', joined: [], left: [ROUTE] });
  await world.advance(10);
}

async function join(world: World, id: PublicId, members: PublicId[]) {
  world.setRoute(ROUTE, members);
  await world.give(id, { type: 'routes_changed', joined: [ROUTE], left: [] });
  await world.advance(MINUTE);
}

/** It resolves while no Destination is told of it. */
async function resolveUnseen(world: World) {
  world.group('A')!.status = 'resolved';
  await world.advance(MINUTE);
}

test('a group that got its last edit is published when it opens after the Destination came back', async () => {
  const world = await begun();
  await world.create('A');
  await leave(world);
  await resolveUnseen(world);
  await join(world, ONE, [ONE]);
  world.calls();
  await world.event('A', 'reopened', REOPENED);
  expect([world.calls(), world.state('A')]).toEqual([['publish A L [reopen]'], 'delivered']);
});

test('a last edit that still waits is none when the group opens after the Destination came back', async () => {
  const world = await begun({ limiter: { limit: 1, per_seconds: 600 } });
  await world.create('A');
  await leave(world);
  await resolveUnseen(world);
  await join(world, ONE, [ONE]);
  world.calls();
  await world.event('A', 'reopened', REOPENED);
  await world.advance(60 * MINUTE);
  expect([world.calls(), world.state('A')]).toEqual([['edit A', 'reply A reopened L [reopen]'], 'delivered']);
});

test('what was on its way to a Destination that left publishes nothing there', async () => {
  const world = await begun();
  await world.create('A');
  await leave(world);
  await resolveUnseen(world);
  world.calls();
  const { id: groupId, number } = world.group('A')!;
  await world.give(ONE, {
    type: 'group_event',
    ...{ groupId, number, routeId: ROUTE, event: 'reopened', ...REOPENED },
    ...{ sequence: 9, at: world.now(), loudness: 'loud', owner: null, by: 'system', urgent: false },
  });
  expect([world.calls(), world.state('A')]).toEqual([[], 'retired']);
});

test('a group that changes after it resolved is published when it opens, where the Destination joined later', async () => {
  const world = await begun();
  await world.create('A');
  await world.event('A', 'resolved', { status: 'resolved', ...PERSON });
  await join(world, TWO, [ONE, TWO]);
  await world.event('A', 'annotations_changed', {});
  world.calls();
  await world.event('A', 'unresolved', { status: 'firing', ...PERSON });
  await world.event('A', 'alerts_added', ADDED);
  await world.advance(MINUTE);
  const there = world.calls().filter((call) => call.startsWith('TWO'));
  expect(there).toEqual(['TWO publish A Q', 'TWO edit A', 'TWO reply A alerts_added 1 L [new_alerts]']);
});

test('a group that a Storm holds is held where the Destination comes back in the Storm', async () => {
  const world = await begun();
  await world.create('A', { held: true });
  world.setStorm(START);
  await leave(world);
  await join(world, ONE, [ONE]);
  expect([world.calls(), world.state('A')]).toEqual([['publish storm Q'], 'pending']);
});

test.each<[string, SendOutcome | undefined, string[]]>([
  ['gets the last edit', undefined, ['edit A final (continued)']],
  ['is none if it did not arrive', { class: 'transient', error: 'answered 503', unsure: false }, []],
])('a continuation that is posted while the Destination leaves %s', async (_, answer, further) => {
  const world = await begun();
  world.script(accepted({ editableUntil: START + MINUTE }));
  await world.create('A');
  await world.advance(2 * MINUTE);
  world.calls();
  world.pause();
  await world.event('A', 'acknowledged', { status: 'acknowledged', ...PERSON });
  await leave(world);
  if (answer) await world.answer(answer);
  await world.resume();
  await world.advance(60 * MINUTE);
  expect(world.calls()).toEqual(['publish A Q (continued)', ...further]);
  expect(world.state('A')).toBe('retired');
});

/** A and X, of which A was resolved before the Destination, which is Broken, could show it. */
async function withheld() {
  const world = await begun();
  world.script(FATAL);
  await world.create('X');
  await world.create('A');
  await world.event('A', 'resolved', { status: 'resolved', ...PERSON });
  return world;
}

async function recover(world: World) {
  await world.give(ONE, { type: 'worked', at: world.now() });
  await world.advance(10);
  world.calls();
  world.notes.splice(0);
}

/** Whom the Timeline of A says its Publications mentioned, and whom `owner` named in the newest one. */
function publications(world: World) {
  const told = world.notes.filter(({ groupId, note }) => groupId === 'A' && note.event === 'publication');
  const asked = world.performed.findLast(
    (call) => call.type === 'message.send' && call.subject.kind === 'group',
  );
  const operation = asked?.type === 'message.send' ? asked.operation : null;
  const owner = operation?.kind === 'publish' ? operation.owner : null;
  return { timeline: told.map(({ note }) => note.mentions), owner };
}

test('a Reopen that publishes mentions the Owner, as the Timeline says', async () => {
  const world = await withheld();
  await recover(world);
  await world.event('A', 'reopened', TAKEN);
  expect(world.calls()).toEqual(['publish A L [owner]']);
  expect(publications(world)).toEqual({ timeline: [['owner']], owner: ANN });
});

test.each([
  ['with the Mentions that it had', REOPENED, 'reopen'],
  ['as a new Alert Group when the Owner has it no more', TAKEN, 'new_alert_group'],
] as const)('a Reopen whose Publication failed is published again %s', async (_, reopened, mention) => {
  const world = await withheld();
  await recover(world);
  world.script(UNKNOWN);
  await world.event('A', 'reopened', reopened);
  world.calls();
  await world.event('A', 'unacknowledged', { status: 'firing', ...PERSON });
  expect(world.calls()).toEqual([`publish A L [${mention}]`]);
  expect(publications(world).timeline).toEqual([[mention]]);
});

test.each([
  ['a Reopen while it was Broken', withheld],
  [
    'a Reopen whose Publication found it Broken',
    async () => {
      const world = await withheld();
      await recover(world);
      world.script(FATAL);
      return world;
    },
  ],
] as const)('%s is a new Alert Group after the recovery, as the Timeline says', async (_, before) => {
  const world = await before();
  await world.event('A', 'reopened', REOPENED);
  world.calls();
  await world.give(ONE, { type: 'worked', at: world.now() });
  await world.advance(10);
  expect(world.calls().at(-1)).toBe('publish A L [new_alert_group]');
  expect(publications(world).timeline).toEqual([['new_alert_group']]);
});

test('a late message that opens again says no more that it was late, however it ends', async () => {
  const world = await begun();
  const until = world.now() + MINUTE;
  world.script({ class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
  await world.create('A');
  await world.event('A', 'resolved', { status: 'resolved' });
  await world.advance(2 * MINUTE);
  expect(world.calls().at(-1)).toBe('publish A Q (late)');
  await world.event('A', 'reopened', REOPENED);
  await world.event('A', 'resolved', { status: 'resolved', ...PERSON });
  expect(world.calls()).toEqual(['edit A', 'reply A reopened L [reopen]', 'edit A']);
});
