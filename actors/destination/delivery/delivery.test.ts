/** The test rows of delivery §14, in their order. */
import { describe, expect, test } from 'vitest';
import { HOUR, MINUTE, SECOND } from '../../../runtime/clock.ts';
import type { SendOutcome } from '../../channels/calls.ts';
import {
  accepted,
  CONNECTION,
  createMessageWorld,
  ONE,
  ROUTE,
  TWO,
  type WorldSettings,
} from './world.fixture.ts';

const PERSON = { by: 'person' } as const;
const ACKNOWLEDGED = { status: 'acknowledged', ...PERSON } as const;
const RESOLVED = { status: 'resolved', facts: { event: 'resolved', reason: 'resolved' } } as const;
const ADDED = { mentions: ['new_alerts'], facts: { event: 'alerts_added', fingerprints: ['f'] } } as const;
const transient: SendOutcome = { class: 'transient', error: 'answered 503', unsure: false };
const lost: SendOutcome = { class: 'transient', error: 'timed out', unsure: true };
const fatal: SendOutcome = { class: 'fatal', error: 'not in the channel' };
const unknown: SendOutcome = { class: 'unknown', error: 'answered 400' };
const gone: SendOutcome = { class: 'gone', error: 'answered 404' };

async function begun(settings: WorldSettings = {}) {
  const world = createMessageWorld(settings);
  await world.begin();
  return world;
}

const asked = (
  world: Awaited<ReturnType<typeof begun>>,
  scope: 'connection' | 'destination',
  seconds: number,
) =>
  world.script({ class: 'retry_after', until: world.now() + seconds * SECOND, scope, error: 'answered 429' });

describe('1: retry_after 7 s', () => {
  test('the next call to that Destination comes 7 to 8 s later, and it was no attempt', async () => {
    const world = await begun();
    world.setRoute(ROUTE, [ONE, TWO]);
    asked(world, 'destination', 7);
    await world.create('A');
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'TWO publish A L [new_alert_group]']);
    expect(world.delivery('A')?.delivery.tries.attempts).toBe(0);
    await world.create('B');
    await world.advance(7 * SECOND - 10);
    expect(world.calls()).toEqual(['TWO publish B L [new_alert_group]']);
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish B L [new_alert_group]']);
  });

  test.each(['destination', 'connection'] as const)(
    'of no time at all, for the %s, is a second: refusals are not answered by a call each',
    async (scope) => {
      const world = createMessageWorld({ limiter: { limit: 5, per_seconds: 1 } });
      await world.begin();
      const refusal: SendOutcome = { class: 'retry_after', until: world.now(), scope, error: 'answered 429' };
      world.script(...Array<SendOutcome>(20).fill(refusal));
      await world.create('A');
      await world.advance(3 * SECOND);
      expect([3, 4]).toContain(world.calls().length);
    },
  );

  test('of the scope Connection holds every Destination of it', async () => {
    const world = await begun();
    world.setRoute(ROUTE, [ONE, TWO]);
    asked(world, 'connection', 7);
    await world.create('A');
    await world.create('B');
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    await world.advance(7 * SECOND - 10);
    expect(world.calls()).toEqual([]);
    await world.advance(2 * SECOND);
    expect(world.calls()).toHaveLength(4);
  });
});

describe('2: a limiter of 6 per 60 s', () => {
  test('lets 6 calls of any mix through at once, and the 7th 10 s later', async () => {
    const world = await begun({ limiter: { limit: 6, per_seconds: 60 } });
    for (const name of ['A', 'B', 'C']) await world.create(name);
    for (const name of ['A', 'B', 'C', 'A']) await world.event(name, 'acknowledged', ACKNOWLEDGED);
    expect(world.calls()).toHaveLength(6);
    await world.advance(10 * SECOND - 10);
    expect(world.calls()).toEqual([]);
    await world.advance(SECOND);
    expect(world.calls()).toEqual(['edit A']);
  });

  test('gives back the token of an edit that shows nothing new', async () => {
    const world = await begun({ limiter: { limit: 2, per_seconds: 3600 } });
    await world.create('A');
    await world.give(ONE, { type: 'rerender', routeId: null });
    await world.advance(1);
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
  });
});

test('3: with an empty bucket and deliveries waiting, the next token is for who waits for an answer', async () => {
  const world = await begun({ limiter: { limit: 1, per_seconds: 2 } });
  for (const name of ['A', 'B', 'C']) await world.create(name);
  world.calls();
  const refused = await world.give(ONE, { type: 'take_token' });
  expect(refused).toMatchObject({ granted: false });
  await world.advance(2 * SECOND);
  expect(await world.give(ONE, { type: 'take_token' })).toEqual({ granted: true });
  await world.advance(SECOND);
  expect(world.calls()).toEqual([]);
  await world.advance(2 * SECOND);
  expect(world.calls()).toEqual(['publish B L [new_alert_group]']);
});

test.each(['limiter', 'connectionLimiter'] as const)(
  'with an empty bucket of the %s, deliveries do not wait for a clock that was set back',
  async (which) => {
    const world = await begun({ [which]: { limit: 1, per_seconds: 10 } });
    await world.create('A');
    await world.advance(-HOUR);
    for (const name of ['B', 'C']) await world.create(name);
    expect(world.calls()).toHaveLength(1);
    await world.advance(21 * SECOND);
    expect(world.calls()).toHaveLength(2);
  },
);

test('4: 10 transient answers make it Broken, and the delivery waits', async () => {
  const world = await begun();
  world.script(...Array.from({ length: 10 }, () => transient));
  await world.create('A');
  await world.advance(20 * MINUTE);
  expect(world.calls().filter((call) => call !== 'probe')).toHaveLength(11);
  expect(world.noted('A')).toEqual(['destination_broken', 'destination_recovered', 'publication']);
  expect(world.alerts()).toEqual(['raise SvcDestinationBroken', 'resolve SvcDestinationBroken']);
});

test('4: while it is Broken the reason names the error and the state is pending', async () => {
  const world = await begun();
  world.script(...Array.from({ length: 10 }, () => transient));
  await world.create('A');
  for (let calls = 0; world.health().state === 'healthy' && calls < 60; calls++)
    await world.advance(30 * SECOND);
  expect(world.health()).toMatchObject({ state: 'broken', reason: 'unavailable: answered 503' });
  expect(world.state('A')).toBe('pending');
  expect(world.problem('A')).toBe(true);
});

test('5: a recovery posts what fires Loud, edits once what is published, and withholds what is over', async () => {
  const world = await begun();
  await world.create('B');
  world.script(fatal);
  await world.create('A');
  world.calls();
  expect(world.health()).toMatchObject({ state: 'broken', reason: 'not in the channel' });
  await world.event('B', 'acknowledged', ACKNOWLEDGED);
  await world.event('B', 'alerts_added', { ...ADDED, loudness: 'quiet', mentions: [] });
  await world.create('C');
  await world.event('C', 'resolved', RESOLVED);
  await world.create('D');
  await world.event('D', 'acknowledged', ACKNOWLEDGED);
  expect(world.state('C')).toBe('withheld');
  await world.advance(5 * MINUTE);
  expect(world.calls()).toEqual(['probe', 'publish A L [new_alert_group]', 'edit B', 'publish D Q']);
  expect(world.noted('A')).toEqual(['destination_broken', 'destination_recovered', 'publication']);
  expect(world.problem('A')).toBe(false);
});

test('6: a probe that passes ends Broken with nothing waiting', async () => {
  const world = await begun();
  world.script(fatal);
  await world.create('A');
  await world.event('A', 'resolved', RESOLVED);
  expect(world.state('A')).toBe('withheld');
  await world.advance(5 * MINUTE);
  expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'probe']);
  expect(world.health()).toEqual({ state: 'healthy' });
  expect(world.alerts()).toEqual(['raise SvcDestinationBroken', 'resolve SvcDestinationBroken']);
});

describe('6: the probe', () => {
  test('comes again 5 minutes after it failed, with the new reason', async () => {
    const world = await begun();
    world.script(fatal, { class: 'fatal', error: 'no such channel' });
    await world.create('A');
    await world.advance(5 * MINUTE);
    expect(world.health()).toMatchObject({ reason: 'no such channel' });
    await world.advance(5 * MINUTE);
    expect(world.health()).toEqual({ state: 'healthy' });
  });

  test('comes at once after a save, and is moved by an answer that asks to wait', async () => {
    const world = await begun();
    const until = world.now() + 8 * MINUTE;
    world.script(fatal, { class: 'retry_after', until, scope: 'destination', error: 'answered 429' });
    await world.create('A');
    await world.give(ONE, { type: 'saved' });
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'probe']);
    await world.advance(8 * MINUTE - SECOND);
    expect(world.calls()).toEqual([]);
    await world.advance(2 * SECOND);
    expect(world.calls()[0]).toBe('probe');
  });

  test('is not needed when a check of a person passed', async () => {
    const world = await begun();
    world.script(fatal);
    await world.create('A');
    await world.give(ONE, { type: 'worked', at: world.now() });
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish A L [new_alert_group]']);
  });
});

test('7: an edit that can never succeed is told once, and the next change starts afresh', async () => {
  const world = await begun();
  await world.create('A');
  world.script(unknown);
  await world.event('A', 'severity_raised');
  expect(world.state('A')).toBe('not_delivered');
  expect(world.delivery('A')?.error).toBe('answered 400');
  expect(world.problem('A')).toBe(true);
  await world.advance(HOUR);
  await world.event('A', 'acknowledged', ACKNOWLEDGED);
  expect(world.noted('A')).toEqual(['publication', 'not_delivered']);
  expect(world.state('A')).toBe('delivered');
  expect(world.problem('A')).toBe(false);
});

test('7: a Publication that failed is tried with what it had, Quiet once the group fires no more', async () => {
  const world = await begun();
  world.script(unknown, unknown);
  await world.create('A');
  await world.event('A', 'alerts_added', ADDED);
  await world.event('A', 'acknowledged', ACKNOWLEDGED);
  expect(world.calls()).toEqual([
    'publish A L [new_alert_group]',
    'publish A L [new_alert_group]',
    'publish A Q',
  ]);
});

describe('8: a deleted Root message', () => {
  test('of an open group is published again once, and then left alone', async () => {
    const world = await begun();
    await world.create('A');
    world.script(gone);
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A', 'publish A Q (deletedAt)']);
    world.script(gone);
    await world.event('A', 'severity_raised');
    expect(world.state('A')).toBe('deleted_in_messenger');
    await world.event('A', 'alerts_added', ADDED);
    expect(world.calls()).toEqual(['edit A (deletedAt)']);
    expect(world.noted('A')).toEqual(['publication', 'republished', 'deleted_in_messenger']);
    expect(world.problem('A')).toBe(true);
  });

  test('of a resolved group is left alone at once', async () => {
    const world = await begun();
    await world.create('A');
    world.script(gone);
    await world.event('A', 'resolved', { ...RESOLVED, by: 'person', facts: null });
    expect(world.state('A')).toBe('deleted_in_messenger');
    await world.event('A', 'reopened', { status: 'firing', mentions: ['reopen'] });
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
  });

  test('is known from the messenger too; replies that wait follow the new message', async () => {
    const world = await begun();
    await world.create('A');
    await world.event('A', 'alerts_added', ADDED);
    await world.event('A', 'alerts_added', ADDED);
    world.calls();
    const gonePress = {
      type: 'message_gone',
      messageId: 'M1',
      groupId: world.group('A')?.id ?? null,
    } as const;
    await world.give(ONE, { ...gonePress, at: world.now() });
    await world.give(ONE, { ...gonePress, at: world.now() });
    await world.advance(MINUTE);
    expect(world.calls()).toEqual(['publish A Q (deletedAt)', 'reply A alerts_added 1 L [new_alerts]']);
  });

  test.each([
    ['in memory', async () => undefined],
    ['in storage alone', (world: Awaited<ReturnType<typeof begun>>) => world.crash()],
  ])('a Storm summary follows the row of an open group while it is %s', async (_, lose) => {
    const world = await begun();
    const told = { type: 'storm', routeId: ROUTE, since: world.now(), at: world.now() } as const;
    const deleted = (messageId: string) =>
      world.give(ONE, { type: 'message_gone', messageId, groupId: null, at: world.now() });
    await world.create('A');
    await world.give(ONE, { ...told, change: 'started' });
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish storm L [new_alert_group]']);
    await lose(world);
    await deleted('M1');
    expect(world.calls()).toEqual([]);
    await deleted('M2');
    expect(world.calls()).toEqual(['publish storm Q (deletedAt)']);
    await lose(world);
    await deleted('M2');
    await deleted('M3');
    world.look(`${ROUTE}-${Math.floor(told.since / SECOND)}`);
    await world.give(ONE, { ...told, change: 'changed', at: world.now() });
    expect(world.calls()).toEqual([]);
  });
});

describe('9: a crash after the messenger accepted', () => {
  async function crashed(type: 'bridge' | 'webhook', repeat: SendOutcome) {
    const world = await begun({ type });
    world.pause();
    await world.create('A');
    const [first] = world.waiting();
    await world.crash();
    const [second] = world.waiting();
    expect(second).toMatchObject({ key: first && 'key' in first ? first.key : '', unsureSince: world.now() });
    world.script(repeat);
    await world.resume();
    return world;
  }

  test('bridge: the same key, replayed, then one edit, and no flag', async () => {
    const world = await crashed('bridge', accepted({ replayed: true }));
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
    expect(world.noted('A')).toEqual(['publication']);
    expect(world.delivery('A')?.delivery.possibleDuplicate).toBe(false);
  });

  test('what knows no keys: a second message, flagged', async () => {
    const world = await crashed('webhook', accepted());
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    expect(world.noted('A')).toEqual(['possible_duplicate', 'publication']);
    expect(world.delivery('A')?.delivery.possibleDuplicate).toBe(true);
  });

  test('a repeat later than 23 h is a possible duplicate of a bridge too', async () => {
    const world = await begun();
    world.script(lost, fatal, ...Array.from({ length: 300 }, () => fatal));
    await world.create('A');
    await world.advance(24 * HOUR);
    await world.give(ONE, { type: 'worked', at: world.now() });
    world.script();
    while (world.health().state === 'broken') await world.give(ONE, { type: 'worked', at: world.now() });
    expect(world.noted('A')).toContain('possible_duplicate');
  });

  test('what was begun since then is not repeated at resume', async () => {
    const world = await begun({ type: 'webhook' });
    world.pause();
    await world.create('A');
    await world.crash();
    await world.give(ONE, { type: 'resume' });
    expect(world.waiting()).toHaveLength(1);
  });

  test('in the middle of an edit only repeats the edit', async () => {
    const world = await begun();
    await world.create('A');
    world.pause();
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    await world.crash();
    await world.resume();
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
    expect(world.state('A')).toBe('delivered');
  });

  test('a reply keeps its key', async () => {
    const world = await begun();
    await world.create('A');
    world.pause();
    await world.event('A', 'alerts_added', ADDED);
    const keys = () => world.waiting().map((call) => ('key' in call ? call.key : null));
    await world.answer();
    expect(keys()).toEqual(['reply-DS000000000001-A-1-2']);
    await world.crash();
    expect(keys()).toEqual(['reply-DS000000000001-A-1-2']);
  });
});

describe('10: resolved before it could be published', () => {
  test('while retry_after 30 s pends: Quiet, with the late note', async () => {
    const world = await begun();
    asked(world, 'destination', 30);
    await world.create('A');
    await world.event('A', 'resolved', { status: 'resolved', ...PERSON });
    await world.advance(31 * SECOND);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish A Q (late)']);
    expect(world.noted('A')).toEqual(['publication', 'delivered_late']);
  });

  test('while it waited for a token alone: Quiet, without the note', async () => {
    const world = await begun({ limiter: { limit: 1, per_seconds: 30 } });
    await world.create('A');
    await world.create('B');
    await world.event('B', 'resolved', { status: 'resolved', ...PERSON });
    await world.advance(31 * SECOND);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'publish B Q']);
  });
});

test('11: a Destination that leaves a Route with 2 open groups makes 2 last edits and nothing later', async () => {
  const world = await begun();
  for (const name of ['A', 'B', 'C']) await world.create(name);
  await world.event('C', 'resolved', { status: 'resolved', ...PERSON });
  world.calls();
  world.setRoute(ROUTE, []);
  await world.give(ONE, { type: 'routes_changed', joined: [], left: [ROUTE] });
  await world.advance(MINUTE);
  expect(world.calls()).toEqual(['edit A final', 'edit B final']);
  expect(['A', 'B', 'C'].map((name) => world.state(name))).toEqual(['retired', 'retired', 'delivered']);
  expect(world.noted('A')).toEqual(['publication', 'final_edit']);
});

describe('12: a message past its edit window', () => {
  async function aged() {
    const world = await begun();
    world.script(accepted({ editableUntil: world.now() + 540 * SECOND }));
    await world.create('A');
    await world.event('A', 'snoozed', { status: 'snoozed', ...PERSON });
    await world.advance(541 * SECOND);
    world.calls();
    return world;
  }

  test('is left as it is by a new Alert of a snoozed group; acknowledged, it is continued Quietly', async () => {
    const world = await aged();
    await world.event('A', 'alerts_added', { facts: ADDED.facts });
    expect(world.calls()).toEqual([]);
    expect(world.state('A')).toBe('delivered');
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    expect(world.calls()).toEqual(['publish A Q (continued)']);
    await world.event('A', 'severity_raised');
    expect(world.calls()).toEqual(['edit A (continued)']);
  });

  test('takes replies until the new one stands', async () => {
    const world = await aged();
    await world.event('A', 'alert_replaced', { facts: { event: 'alert_replaced', label: 'pod' } });
    expect(world.calls()).toEqual(['reply A alert_replaced Q']);
  });

  test('is frozen as well when the messenger says so', async () => {
    const world = await begun();
    await world.create('A');
    world.script({ class: 'edit_window_closed', error: 'too old' });
    await world.event('A', 'severity_raised');
    expect(world.state('A')).toBe('delivered');
    world.calls();
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    expect(world.calls()).toEqual(['publish A Q (continued)']);
  });

  test('is retired without a last edit', async () => {
    const world = await aged();
    world.setRoute(ROUTE, []);
    await world.give(ONE, { type: 'routes_changed', joined: [], left: [ROUTE] });
    await world.advance(MINUTE);
    expect(world.calls()).toEqual([]);
    expect(world.state('A')).toBe('retired');
  });
});

describe('13: a button that is pressed', () => {
  test('is answered before the message changes', async () => {
    const world = await begun();
    await world.create('A');
    const groupId = world.group('A')?.id;
    if (!groupId) throw new Error('no group');
    await world.give(ONE, { type: 'press_began', groupId, until: world.now() + 2 * SECOND });
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]']);
    await world.give(ONE, { type: 'press_ended', groupId });
    expect(world.calls()).toEqual(['edit A']);
  });

  test('holds the edit for 2 s at most', async () => {
    const world = await begun();
    await world.create('A');
    const groupId = world.group('A')?.id;
    if (!groupId) throw new Error('no group');
    await world.give(ONE, { type: 'press_began', groupId, until: world.now() + 2 * SECOND });
    await world.event('A', 'acknowledged', ACKNOWLEDGED);
    await world.advance(2 * SECOND);
    expect(world.calls()).toEqual(['publish A L [new_alert_group]', 'edit A']);
  });
});

test('15: of two Destinations of one Route, one Broken, the other is unaffected', async () => {
  const world = await begun();
  world.setRoute(ROUTE, [ONE, TWO]);
  world.script(fatal);
  await world.create('A');
  await world.event('A', 'acknowledged', ACKNOWLEDGED);
  expect(world.calls()).toEqual([
    'publish A L [new_alert_group]',
    'TWO publish A L [new_alert_group]',
    'TWO edit A',
  ]);
  expect([world.health(ONE).state, world.health(TWO).state]).toEqual(['broken', 'healthy']);
});

test('the Connection of the calls is asked for a token each', async () => {
  const world = await begun({ connectionLimiter: { limit: 2, per_seconds: 10 } });
  for (const name of ['A', 'B', 'C']) await world.create(name);
  expect(world.calls()).toHaveLength(2);
  await world.advance(6 * SECOND);
  expect(world.calls()).toHaveLength(1);
  expect(world.performed.every((call) => call.connectionId === CONNECTION)).toBe(true);
});

test('a reply has the time of its event, not that of its turn', async () => {
  const world = await begun();
  await world.create('A');
  await world.event('A', 'alerts_added', ADDED);
  await world.advance(10 * SECOND);
  const at = world.now();
  await world.event('A', 'alerts_added', ADDED);
  await world.advance(MINUTE);
  const last = world.performed.findLast((call) => call.type === 'message.send');
  expect(last?.operation).toMatchObject({ kind: 'reply', reply: { at } });
});

test('a reply that waits for the messenger keeps the time of its event, and one stored without it that of its turn', async () => {
  const world = await begun();
  await world.create('A');
  await world.advance(MINUTE);
  const at = world.now();
  world.script({
    class: 'retry_after',
    until: at + 14 * MINUTE,
    scope: 'destination',
    error: 'answered 429',
  });
  await world.event('A', 'ack_timeout', {
    mentions: ['ack_timeout'],
    facts: { event: 'ack_timeout', last: false },
  });
  const stored = world.delivery('A')?.delivery;
  const { at: _, ...earlier } = stored!.replies[0]!;
  Object.assign(stored!, { replies: [...stored!.replies, { ...earlier, sequence: 99, due: at + MINUTE }] });
  await world.crash();
  await world.advance(15 * MINUTE);
  const said = world.performed.flatMap((call) =>
    call.type === 'message.send' && call.operation.kind === 'reply' ? [call.operation.reply.at] : [],
  );
  expect(said).toEqual([at, at, at + MINUTE]);
});
