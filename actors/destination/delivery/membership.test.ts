/** Who is on a Route, what a Storm holds, where a Destination points: delivery §2.1, §10 and §12. */
import { describe, expect, test } from 'vitest';
import { DAY, MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import type { GroupReleased } from '../messages.ts';
import {
  accepted,
  CONNECTION,
  createMessageWorld,
  ONE,
  OTHER_CONNECTION,
  OTHER_ROUTE,
  ROUTE,
  START,
  TWO,
  type WorldSettings,
} from './world.fixture.ts';

const PERSON = { by: 'person' } as const;
const RESOLVED = { status: 'resolved', ...PERSON } as const;
const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;
const fatal: SendOutcome = { class: 'fatal', error: 'not in the channel' };
const gone: SendOutcome = { class: 'gone', error: 'answered 404' };

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}
type World = Awaited<ReturnType<typeof begun>>;

async function leave(world: World, id: PublicId = ONE) {
  world.setRoute(ROUTE, []);
  await world.give(id, { type: 'routes_changed', joined: [], left: [ROUTE] });
}

async function join(world: World, id: PublicId = ONE) {
  world.setRoute(ROUTE, [id]);
  await world.give(id, { type: 'routes_changed', joined: [ROUTE], left: [] });
  await world.advance(10);
}

async function release(world: World, name: string, loudness: GroupReleased['loudness'] = 'quiet') {
  const group = world.group(name);
  if (!group) throw new Error(`no group ${name}`);
  const { id: groupId, number, routeId, status, urgent } = group;
  group.held = false;
  await world.tellRoute(ROUTE, {
    type: 'group_released',
    ...{ groupId, number, routeId, status, urgent, loudness, at: world.now() },
  });
}

const storm = (world: World, change: 'started' | 'changed' | 'ended') => {
  world.look(`${ROUTE}-${START / SECOND}`);
  return world.tellRoute(ROUTE, { type: 'storm', routeId: ROUTE, since: START, change, at: world.now() });
};

test('a release that was on its way when its group resolved publishes nothing', async () => {
  const world = await begun();
  await world.create('A', { held: true });
  const sent = world.now();
  await world.advance(SECOND);
  await world.event('A', 'resolved', { status: 'resolved' });
  const about = { groupId: 'A' as PublicId, number: 1, routeId: ROUTE, urgent: false } as const;
  await world.tellRoute(ROUTE, {
    type: 'group_released',
    ...{ ...about, status: 'firing', loudness: 'loud', at: sent },
  });
  expect(world.calls()).toEqual([]);
  expect(world.state('A')).toBe('withheld');
});

describe('a Destination that joins a Route', () => {
  test('publishes its open groups Quietly, Urgent first and then by number, and says nothing of the past', async () => {
    const world = await begun();
    for (const name of ['A', 'B', 'C']) await world.create(name);
    await world.create('D', { urgent: true });
    await world.event('B', 'resolved', RESOLVED);
    await world.event('A', 'acknowledged', { status: 'acknowledged', ...PERSON });
    world.calls();
    await join(world, TWO);
    expect(world.calls()).toEqual(['TWO publish D Q', 'TWO publish A Q', 'TWO publish C Q']);
    expect(world.delivery('B', TWO)).toBeUndefined();
  });

  test('looks for more pages, and once more for groups that began meanwhile', async () => {
    const world = await begun();
    for (let number = 1; number <= 250; number++) await world.create(`G${number}`);
    world.calls();
    world.setRoute(ROUTE, [TWO]);
    await world.give(TWO, { type: 'routes_changed', joined: [ROUTE], left: [] });
    await world.advance(10);
    expect(world.calls()).toHaveLength(250);
    world.setRoute(ROUTE, [ONE]);
    await world.create('LATE');
    world.setRoute(ROUTE, [TWO]);
    world.calls();
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['TWO publish LATE Q']);
  });

  test('does not take from a group that begins in these moments how loudly it began', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 2 } });
    await world.create('A');
    await world.create('B');
    world.calls();
    await join(world, TWO);
    await world.event('B', 'created', { mentions: ['new_alert_group'], judged: 'free' });
    await world.advance(10 * SECOND);
    expect(world.calls().filter((call) => call.startsWith('TWO'))).toEqual([
      'TWO publish A Q',
      'TWO publish B L [new_alert_group]',
    ]);
  });

  test('leaves to the Route what begins when everybody knows that it has joined', async () => {
    const world = await begun();
    await join(world, TWO);
    await world.advance(29 * SECOND);
    world.setRoute(ROUTE, [ONE]);
    await world.create('A');
    world.setRoute(ROUTE, [ONE, TWO]);
    world.calls();
    await world.advance(MINUTE);
    expect(world.calls()).toEqual([]);
    await world.event('A', 'created', { mentions: ['new_alert_group'], judged: 'free' });
    expect(world.calls()).toEqual(['TWO publish A L [new_alert_group]']);
  });

  test('publishes a group anew that comes back after having been resolved', async () => {
    const world = await begun();
    await world.create('A');
    await world.event('A', 'resolved', RESOLVED);
    world.calls();
    await join(world, TWO);
    await world.event('A', 'reopened', { status: 'firing', mentions: ['reopen'] });
    expect(world.calls()).toEqual(['TWO publish A L [reopen]']);
  });
});

describe('a Destination that left a Route', () => {
  test('ends what came of a Route that did not know of it yet', async () => {
    const world = await begun();
    await leave(world);
    await world.advance(SECOND);
    world.setRoute(ROUTE, [ONE]);
    await world.create('LATE');
    world.setRoute(ROUTE, []);
    expect(world.calls()).toEqual(['publish LATE L [new_alert_group]']);
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['edit LATE final']);
    expect(world.state('LATE')).toBe('retired');
  });

  test('and is added again while the last edit waits goes on', async () => {
    const world = await begun();
    await world.create('A');
    world.pause();
    await leave(world);
    await world.advance(10);
    await join(world);
    await world.resume();
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A final', 'edit A', 'edit A']);
    expect(world.state('A')).toBe('delivered');
  });

  test('and is added again after it publishes anew', async () => {
    const world = await begun();
    await world.create('A');
    await leave(world);
    await world.advance(10);
    await join(world);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A final', 'publish A Q']);
    expect(world.performed.map((call) => ('key' in call ? call.key : null))).toEqual([
      `root-${ONE}-A-1`,
      null,
      `root-${ONE}-A-2`,
    ]);
  });

  test('withholds what it never published, and drops replies', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 3600 } });
    await world.create('A');
    await world.create('B');
    await world.event('A', 'alerts_added', ADDED);
    await leave(world);
    await world.advance(DAY);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A final']);
    expect([world.state('A'), world.state('B')]).toEqual(['retired', 'withheld']);
  });

  test('still sends the last edit of a group that resolved', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 60 } });
    await world.create('A');
    await world.event('A', 'resolved', RESOLVED);
    await leave(world);
    await world.advance(5 * MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
    expect(world.state('A')).toBe('delivered');
  });

  test('retires without an event when the message is gone', async () => {
    const world = await begun();
    await world.create('A');
    world.script(gone);
    await leave(world);
    await world.advance(10);
    expect(world.state('A')).toBe('retired');
    expect(world.noted('A')).toEqual(['publication']);
  });

  test('edits what a call under way published', async () => {
    const world = await begun();
    world.pause();
    await world.create('A');
    await leave(world);
    await world.advance(10);
    await world.resume();
    expect(world.calls()).toEqual(
      ['publish A Q', 'edit A final'].map((call, index) =>
        index === 0 ? 'publish A L [new_alert_group]' : call,
      ),
    );
  });
});

describe('a group that moves to another Route', () => {
  async function moved(from: readonly PublicId[], to: readonly PublicId[]) {
    const world = await begun();
    world.setRoute(ROUTE, [...from]);
    world.setRoute(OTHER_ROUTE, [...to]);
    await world.create('A');
    world.calls();
    const group = world.group('A');
    if (group) group.routeId = OTHER_ROUTE;
    await world.event('A', 'moved_to_default_route', {}, [ROUTE, OTHER_ROUTE]);
    return world;
  }

  test('gets a last edit where it leaves and a Quiet message where it joins', async () => {
    const world = await moved([ONE], [TWO]);
    expect(world.calls()).toEqual(['edit A final', 'TWO publish A Q']);
  });

  test('is kept up to date where both Routes lead', async () => {
    const world = await moved([ONE], [ONE]);
    expect(world.calls()).toEqual(['edit A']);
    expect(world.state('A')).toBe('delivered');
  });
});

describe('a Destination that is pointed elsewhere', () => {
  test('ends its messages at the old place and publishes what is open at the new one, with numbers of its own', async () => {
    const world = await begun();
    await world.create('A');
    world.configure(ONE, { target: 2 });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A final', 'publish A Q']);
    expect(world.performed.map((call) => ('key' in call ? [call.target, call.key] : []))).toEqual([
      [1, `root-${ONE}-A-1`],
      [1, null],
      [2, `root-${ONE}-A-2`],
    ]);
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['edit A']);
    expect([world.state('A'), world.state('A', ONE, 2)]).toEqual(['retired', 'delivered']);
  });

  test('hears nothing of messages of another Connection, whose ids may be the same', async () => {
    const world = await begun();
    await world.create('A');
    world.configure(ONE, { target: 2, connectionId: OTHER_CONNECTION });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    world.calls();
    const there = world.delivery('A', ONE, 2)?.delivery;
    expect(there?.connectionId).toBe(OTHER_CONNECTION);
    const gone = {
      type: 'message_gone',
      messageId: there?.message?.id ?? '',
      groupId: world.group('A')?.id ?? null,
      at: world.now(),
    } as const;
    await world.give(ONE, { ...gone, connectionId: CONNECTION });
    await world.advance(MINUTE);
    expect(world.calls()).toEqual([]);
    await world.give(ONE, { ...gone, connectionId: OTHER_CONNECTION });
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['publish A Q (deletedAt)']);
  });

  test.each<[string, SendOutcome, number]>([
    ['refuses', fatal, 1],
    ['lets time out, until the budget is spent,', { class: 'transient', error: 'timeout', unsure: true }, 10],
  ])('stays healthy when the old place %s the last edits', async (_name, outcome, times) => {
    const world = await begun();
    await world.create('A');
    world.calls();
    world.configure(ONE, { target: 2 });
    // The second call is the Publication at the new place.
    world.script(outcome, accepted(), ...Array<SendOutcome>(times - 1).fill(outcome));
    await world.give(ONE, { type: 'saved' });
    await world.advance(30 * MINUTE);
    expect(world.health()).toEqual({ state: 'healthy' });
    expect(world.calls().filter((call) => call === 'edit A final')).toHaveLength(times);
    expect([world.state('A'), world.state('A', ONE, 2)]).toEqual(['not_delivered', 'delivered']);
    expect(world.noted('A')).toContain('not_delivered');
  });

  test('stays Broken for the same reason when a call at the old place fails', async () => {
    const world = await begun();
    await world.create('A');
    world.pause();
    world.configure(ONE, { target: 2 });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    await world.give(ONE, { type: 'secrets_lost' });
    expect(world.waiting()).toMatchObject([{ operation: { kind: 'edit', isFinal: true } }, { target: 2 }]);
    await world.answer({ class: 'transient', error: 'timeout', unsure: false });
    expect(world.health()).toMatchObject({ state: 'broken', reason: 'secret_unreadable' });
    await world.answer({ class: 'transient', error: 'answered 502', unsure: false });
    expect(world.health()).toMatchObject({ state: 'broken', reason: 'unavailable: answered 502' });
  });

  test('does not wait at the new place because the old one asks to', async () => {
    const world = await begun();
    await world.create('A');
    world.calls();
    world.configure(ONE, { target: 2 });
    world.script({
      class: 'retry_after',
      until: world.now() + MINUTE,
      scope: 'destination',
      error: 'answered 429',
    });
    await world.give(ONE, { type: 'saved' });
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['edit A final', 'publish A Q']);
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['edit A final']);
  });
});

describe('a webhook that changes its mode', () => {
  test('publishes what is open once it leaves events mode, and ends its messages when it returns', async () => {
    const world = createMessageWorld({ type: 'webhook' });
    await world.begin({ mode: 'events' });
    await world.create('A');
    expect(world.calls()).toEqual([]);
    world.configure(ONE, { mode: 'template' });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['publish A Q', 'edit A']);
    world.configure(ONE, { mode: 'events' });
    await world.give(ONE, { type: 'saved' });
    await world.advance(10);
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['edit A final']);
  });
});

describe('a deleted Destination', () => {
  test('makes last edits, and gives up what is left after a day', async () => {
    const world = await begun({ limiter: { limit: 2, per_seconds: 3600 } });
    await world.create('A');
    await world.create('B');
    world.calls();
    world.forget(ONE);
    world.setRoute(ROUTE, []);
    world.script(
      ...Array.from(
        { length: 40 },
        (): SendOutcome => ({ class: 'transient', error: 'answered 503', unsure: false }),
      ),
    );
    await world.give(ONE, { type: 'deleted' });
    await world.advance(DAY + MINUTE);
    expect(world.calls().every((call) => call.endsWith('final'))).toBe(true);
    expect([world.state('A'), world.state('B')]).toEqual(['not_delivered', 'not_delivered']);
  });

  test('that is told so twice makes one last edit', async () => {
    const world = await begun();
    await world.create('A');
    world.calls();
    world.forget(ONE);
    await world.give(ONE, { type: 'deleted' });
    await world.give(ONE, { type: 'deleted' });
    await world.advance(10);
    await world.give(ONE, { type: 'deleted' });
    await world.advance(10);
    expect(world.calls()).toEqual(['edit A final']);
  });

  test('ends with its messages retired', async () => {
    const world = await begun();
    await world.create('A');
    world.forget(ONE);
    await world.give(ONE, { type: 'deleted' });
    await world.advance(DAY + MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A final']);
    expect(world.state('A')).toBe('retired');
  });

  test('sends nothing more when it is a webhook', async () => {
    const world = await begun({ type: 'webhook', limiter: { limit: 1, per_seconds: 3600 } });
    await world.create('A');
    await world.create('B');
    world.forget(ONE);
    await world.give(ONE, { type: 'deleted' });
    await world.advance(DAY + MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    expect([world.state('A'), world.state('B')]).toEqual(['delivered', 'not_delivered']);
  });
});

describe('a Storm', () => {
  test('has a Loud summary, Quiet edits, and a last one when it is over', async () => {
    const world = await begun();
    await storm(world, 'started');
    await storm(world, 'changed');
    await storm(world, 'ended');
    expect(world.calls()).toEqual(['publish storm L [new_alert_group]', 'edit storm', 'edit storm']);
    expect(world.performed[0]).toMatchObject({ key: `storm-${ONE}-${ROUTE}-${START / SECOND}` });
  });

  test('that was over before its summary could be sent is told of Quietly', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 60 } });
    await world.create('A');
    await storm(world, 'started');
    await storm(world, 'ended');
    await world.advance(2 * MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish storm Q']);
  });

  test('holds groups: neither message nor replies, until they are released Quietly in order', async () => {
    const world = await begun();
    await world.create('A', { held: true });
    await world.create('B', { held: true });
    await world.create('C', { held: true });
    await world.event('A', 'alerts_added', ADDED);
    await world.event('C', 'resolved', RESOLVED);
    expect(world.calls()).toEqual([]);
    expect(world.state('A')).toBe('pending');
    for (const name of ['A', 'B', 'C']) await release(world, name);
    expect(world.calls()).toEqual(['publish A Q', 'publish B Q']);
    expect(world.state('C')).toBe('withheld');
    await world.event('C', 'reopened', { status: 'firing', mentions: ['reopen'] });
    expect(world.calls()).toEqual([]);
  });

  test('lets a group go Loudly that became Urgent', async () => {
    const world = await begun();
    await world.create('A', { held: true });
    await world.event('A', 'urgency_raised', {
      urgent: true,
      mentions: ['owner', 'rise_to_urgent'],
      facts: { event: 'urgency_raised', level: 'critical', formerOwner: null },
    });
    await release(world, 'A', 'loud');
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
  });

  test('gives a Destination that joins its summary and the groups that are not held, all Quiet', async () => {
    const world = await begun();
    await world.create('A');
    await world.create('B', { held: true });
    world.setStorm(START);
    world.calls();
    await join(world, TWO);
    expect(world.calls()).toEqual(['TWO publish storm Q', 'TWO publish A Q']);
    await release(world, 'B');
    expect(world.calls()).toEqual(['TWO publish B Q']);
  });

  test('ends for a Destination that leaves with a last edit of the summary', async () => {
    const world = await begun();
    await storm(world, 'started');
    await leave(world);
    await world.advance(10);
    expect(world.calls()).toEqual(['publish storm L [new_alert_group]', 'edit storm final']);
  });
});

describe('of a group that the Route has not judged yet', () => {
  test('events wait, and its Publication is as Loud as ever', async () => {
    const world = await begun();
    await world.create('A');
    const created = { mentions: ['new_alert_group'], judged: 'free' } as const;
    world.setRoute(ROUTE, [TWO]);
    await world.event('A', 'alerts_added', ADDED);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    await world.event('A', 'created', created);
    expect(world.calls()).toEqual([
      'TWO publish A L [new_alert_group]',
      'TWO reply A alerts_added 1 L [new_alerts]',
    ]);
  });
});

describe('a message', () => {
  test('is edited when what it is rendered with changed, and the hash with it', async () => {
    const world = await begun();
    await world.create('A');
    await world.create('B');
    world.look('A');
    world.calls();
    const message = () => world.delivery('A')?.delivery.message;
    expect(message()?.editedAt).toBeUndefined();
    await world.give(ONE, { type: 'rerender', routeId: ROUTE });
    await world.advance(10);
    expect(world.calls()).toEqual(['edit A']);
    expect(message()?.editedAt).toBeGreaterThan(message()?.postedAt ?? Number.POSITIVE_INFINITY);
  });

  test('of one Alert Group, which may be resolved, is edited when it shows something else without an event', async () => {
    const world = await begun();
    await world.create('A');
    await world.create('B');
    await world.event('A', 'resolved', { status: 'resolved', ...PERSON });
    await world.crash();
    for (const name of ['A', 'B']) world.look(name);
    world.calls();
    await world.give(ONE, { type: 'rerender', routeId: ROUTE, groupId: 'A' as PublicId });
    await world.advance(10);
    expect(world.calls()).toEqual(['edit A']);
  });

  test('is edited when what it is rendered with changed while it was published', async () => {
    const world = await begun();
    world.pause();
    await world.create('A');
    await world.give(ONE, { type: 'rerender', routeId: ROUTE });
    await world.advance(10);
    await world.answer(accepted({ hash: 'older' }));
    expect(world.waiting()).toMatchObject([{ operation: { kind: 'edit', hash: 'older' } }]);
    await world.resume();
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
  });

  test('shows the newest state after changes that came during a call', async () => {
    const world = await begun();
    world.pause();
    await world.create('A');
    await world.event('A', 'acknowledged', { status: 'acknowledged', ...PERSON });
    await world.event('A', 'unacknowledged', { status: 'firing', ...PERSON });
    await world.answer(accepted({ hash: 'older' }));
    expect(world.waiting()).toMatchObject([{ operation: { kind: 'edit', hash: 'older' } }]);
    await world.resume();
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
  });

  test('has at most one call under way, and a Destination at most 4', async () => {
    const world = await begun();
    world.pause();
    for (const name of ['A', 'B', 'C', 'D', 'E', 'F']) await world.create(name);
    await world.event('A', 'severity_raised');
    const subjects = world.waiting().map((call) => ('subject' in call ? call.subject : null));
    expect(subjects).toHaveLength(4);
    expect(new Set(subjects.map((subject) => JSON.stringify(subject))).size).toBe(4);
  });

  test('of an Urgent group goes first, then what came due first', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 10 } });
    for (const name of ['A', 'B', 'C']) await world.create(name);
    await world.create('U', { urgent: true });
    await world.event('A', 'severity_raised');
    await world.advance(2 * MINUTE);
    expect(world.calls()).toEqual([
      'publish A L [new_alert_group]',
      'publish U L [new_alert_group]',
      'publish B L [new_alert_group]',
      'publish C L [new_alert_group]',
      'edit A',
    ]);
  });

  test('that a first one published tells the group, and so does a Reminder that arrived', async () => {
    const world = await begun();
    await world.create('A');
    const owner = { id: 'US1', name: 'Ann', login: 'ann' } as never;
    await world.event('A', 'reminder', { mentions: ['owner'], facts: { event: 'reminder', owner } });
    expect(world.others).toEqual([
      { groupId: 'A', type: 'published' },
      { groupId: 'A', type: 'notice_delivered' },
    ]);
  });
});

describe('a Broken webhook in template mode', () => {
  test('is tried by its oldest message', async () => {
    const world = await begun({ type: 'webhook' });
    world.script(fatal);
    await world.create('A');
    await world.create('B');
    world.calls();
    world.script(fatal);
    await world.advance(5 * MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    await world.advance(5 * MINUTE);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish B L [new_alert_group]']);
    expect(world.health()).toEqual({ state: 'healthy' });
  });
});
