/** What Destinations of messages are told of an Alert Group (delivery §2, §12). Minutes are virtual. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../runtime/clock.ts';
import type { ReplyFacts } from '../channels/calls.ts';
import { ANN, BOB, CHAT, createWorld, DEFAULT_ROUTE, HOOK, ROUTE } from './world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld({ destination: 'accepts' });
  world.route(ROUTE, { destinationIds: [HOOK.id, CHAT.id] });
});

/** Events since the last look: name, Loudness, status afterwards, and what a reply would tell. */
function told() {
  return world.takeToldChat().map((message) => {
    if (message.type === 'rerender') return ['rerender', message.groupId];
    if (message.type === 'group_released') return ['released', message.loudness, message.status];
    const { event, loudness, status, facts, mentions } = message;
    return [event, loudness, status, mentions, facts];
  });
}

const lastFacts = (): ReplyFacts | null => {
  const message = world.takeToldChat().at(-1);
  return message?.type === 'group_event' ? message.facts : null;
};

describe('a channel', () => {
  test('hears of a new Alert Group from its Route alone', async () => {
    await world.tell({ fires: ['X1'] });
    expect(told()).toEqual([]);
    expect(world.takeToldRoutes()).toMatchObject([{ type: 'group_created' }]);
  });

  test('hears of what comes after, with everything a message needs to know', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.tell({ fires: ['X2'] });
    expect(world.takeToldChat()).toEqual([
      {
        type: 'group_event',
        groupId: world.row(1).id,
        number: 1,
        routeId: ROUTE,
        event: 'alerts_added',
        sequence: 2,
        at: MINUTE,
        loudness: 'loud',
        mentions: ['new_alerts'],
        owner: null,
        by: 'system',
        status: 'firing',
        urgent: false,
        facts: { event: 'alerts_added', fingerprints: expect.any(Array) },
      },
    ]);
  });

  test('hears of each event with the status that it left, so that its form is right', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, { name: 'snooze', until: null }, ANN);
    told();
    await world.tell({ fires: ['XC'] });
    expect(told().map(([event, loudness, status]) => `${event} ${loudness} ${status}`)).toEqual([
      'alerts_added quiet snoozed',
      'urgency_raised loud firing',
    ]);
  });

  test('hears nothing of Notes, nor of what no message shows', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, { name: 'add_note', body: 'looking' }, ANN);
    expect(told()).toEqual([]);
  });

  test('renders the messages anew when the Alerts that still fired move on', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, { name: 'resolve', note: null }, ANN);
    told();
    await world.at(16);
    expect(world.row(1)).toMatchObject({ firingAlertCount: 0 });
    expect(told()).toEqual([['rerender', world.idOf(1)]]);
  });

  test('that is on no Route of the group hears nothing', async () => {
    world.route(ROUTE, { destinationIds: [HOOK.id] });
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X2'] });
    expect(told()).toEqual([]);
  });
});

describe('a reply tells', () => {
  beforeEach(async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, { name: 'acknowledge' }, ANN);
    world.takeToldChat();
  });

  test('who took over from whom', async () => {
    await world.command(1, { name: 'acknowledge' }, BOB);
    expect(lastFacts()).toMatchObject({
      event: 'takeover',
      owner: { name: 'bob' },
      formerOwner: { name: 'ann' },
    });
  });

  test('why all is over', async () => {
    await world.tell({ resolves: ['X1'] });
    expect(lastFacts()).toEqual({ event: 'resolved', reason: 'resolved' });
  });

  test('nothing of a resolution by a person', async () => {
    await world.command(1, { name: 'resolve', note: null }, ANN);
    expect(told()).toEqual([['resolved', 'quiet', 'resolved', [], null]]);
  });

  test('to whom the group came back', async () => {
    await world.tell({ resolves: ['X1'] });
    await world.at(1);
    await world.tell({ fires: ['X1'] });
    expect(lastFacts()).toMatchObject({ event: 'reopened', owner: { name: 'ann' } });
  });

  test('whose acknowledgement a rise removed', async () => {
    await world.tell({ fires: ['XC'] });
    const rise = told().find(([event]) => event === 'urgency_raised');
    expect(rise?.[4]).toMatchObject({
      event: 'urgency_raised',
      level: 'critical',
      formerOwner: { name: 'ann' },
    });
  });

  test('whose account it was', async () => {
    await world.send(1, { type: 'owner_released', userId: ANN.id, reason: 'owner_disabled' });
    expect(lastFacts()).toMatchObject({
      event: 'unacknowledged',
      reason: 'owner_disabled',
      formerOwner: { name: 'ann' },
    });
  });

  test('whom it reminds', async () => {
    await world.at(4 * 60);
    expect(lastFacts()).toMatchObject({ event: 'reminder', owner: { name: 'ann' } });
  });
});

test('the last notice of an ack timeout says that it is the last', async () => {
  await world.tell({ fires: ['X1'] });
  await world.at(7 * 15);
  const notices = told().filter(([event]) => event === 'ack_timeout');
  expect(notices.map(([, , , , facts]) => facts)).toEqual([
    { event: 'ack_timeout', last: false },
    { event: 'ack_timeout', last: false },
    { event: 'ack_timeout', last: true },
  ]);
});

describe('the end of a hold', () => {
  beforeEach(async () => {
    await world.tell({ fires: ['X1'] });
    await world.send(1, { type: 'held', at: 0 });
    world.takeToldChat();
  });

  test('is told Quietly when the Storm is over', async () => {
    await world.send(1, { type: 'released', at: 0 });
    expect(told()).toEqual([['released', 'quiet', 'firing']]);
  });

  test('is told Loudly of a group that became Urgent, after the event itself', async () => {
    await world.tell({ fires: ['XC'] });
    expect(told().at(-1)).toEqual(['released', 'loud', 'firing']);
  });

  test('is told where a group moves to, and the move where it leaves', async () => {
    world.route(DEFAULT_ROUTE, { destinationIds: [CHAT.id] });
    await world.send(1, { type: 'route_moved', fromRouteId: ROUTE, toRouteId: DEFAULT_ROUTE });
    expect(told().map(([event, loudness]) => [event, loudness])).toEqual([
      ['moved_to_default_route', 'quiet'],
      ['released', 'quiet'],
    ]);
  });
});
