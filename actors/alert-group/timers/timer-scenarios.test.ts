/** Stories of ack timeouts and Reminders; the numbers are those of the scenario table. Minutes of virtual time. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { RoutePolicy } from '../../directory.ts';
import { ON_CALL_POLICY } from '../../route/policy.ts';
import type { Command, CommandRefusal } from '../messages.ts';
import { isLifecycle } from '../reading/timeline.ts';
import { ANN, BOB, createWorld, DEFAULT_ROUTE, HOOK, ROB, ROUTE } from '../world.fixture.ts';

const HOURS = 60;
const ACKNOWLEDGE: Command = { name: 'acknowledge' };
const STILL_ON_IT: Command = { name: 'still_on_it' };
const NOTE: Command = { name: 'add_note', body: 'on it' };

let world: ReturnType<typeof createWorld>;

beforeEach(() => {
  world = createWorld({ destination: 'accepts' });
});

/** Events after `created`, with their minute and what they count: `15 ack_timeout L [ack_timeout] 1`. */
function story(number = 1): string[] {
  return world.entries(number).flatMap((entry) => {
    if (!isLifecycle(entry) || entry.event === 'created') return [];
    const words = [entry.at / MINUTE, entry.event, entry.loudness === 'loud' ? 'L' : 'Q'];
    const mentions = entry.mentions.length > 0 ? [`[${entry.mentions.join(', ')}]`] : [];
    const counts = entry.kind === 'timers' ? [entry.noticeNumber ?? entry.missedCount ?? ''] : [];
    return [[...words, ...mentions, ...counts].join(' ').trim()];
  });
}

/** The minute of the next notice. */
function nextNotice(number = 1): number | null {
  const { nextNoticeAt } = world.row(number);
  return nextNoticeAt === null ? null : nextNoticeAt / MINUTE;
}

function policy(change: Partial<RoutePolicy>, route = ROUTE): void {
  world.route(route, { policy: { ...ON_CALL_POLICY, ...change } });
}

const refused = (code: CommandRefusal) => ({ outcome: 'refused', code, related: null });

describe('the ack timeout', () => {
  test('41 three notices, then Unclaimed until somebody takes it', async () => {
    await world.tell({ fires: ['X1'] });
    expect(nextNotice()).toBe(15);
    await world.at(105);
    expect(story()).toEqual([
      '15 ack_timeout L [ack_timeout] 1',
      '45 ack_timeout L [ack_timeout] 2',
      '105 ack_timeout L [ack_timeout] 3',
      '105 unclaimed Q',
    ]);
    expect(world.row(1)).toMatchObject({ unclaimed: true, nextNoticeAt: null });
    await world.at(110);
    await world.command(1, ACKNOWLEDGE, ANN);
    expect(world.row(1).unclaimed).toBe(false);
    await world.at(200);
    expect(story().at(-1)).toBe('110 acknowledged Q');
  });

  test('42 it starts over with every entry to firing', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(20);
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(30);
    await world.command(1, { name: 'unacknowledge' }, ANN);
    expect(nextNotice()).toBe(45);
    await world.at(45);
    expect(story().at(-1)).toBe('45 ack_timeout L [ack_timeout] 1');
  });

  test('43 it does not run before the first Publication', async () => {
    world = createWorld();
    await world.tell({ fires: ['X1'] });
    await world.at(40);
    expect(nextNotice()).toBeNull();
    await world.destination('accepts');
    expect(nextNotice()).toBe(55);
    await world.at(55);
    expect(story()).toEqual(['55 ack_timeout L [ack_timeout] 1']);
  });

  test.each<[string, (minute: number) => Promise<void>]>([
    ['snooze-end', (minute) => snoozeUntil(minute)],
    [
      'unsnooze',
      async (minute) => {
        await snoozeUntil(minute + 1);
        await world.at(minute);
        await world.command(1, { name: 'unsnooze' }, ANN);
      },
    ],
    [
      'unresolve',
      async (minute) => {
        await world.command(1, { name: 'resolve', note: null }, ANN);
        await world.at(minute);
        await world.command(1, { name: 'unresolve' }, ANN);
      },
    ],
    [
      'urgent-unack',
      async (minute) => {
        await world.command(1, ACKNOWLEDGE, ANN);
        await world.at(minute);
        await world.tell({ fires: ['XC'] });
      },
    ],
    [
      'owner-release',
      async (minute) => {
        await world.command(1, ACKNOWLEDGE, ANN);
        await world.at(minute);
        await world.send(1, { type: 'owner_released', userId: ANN.id, reason: 'owner_disabled' });
      },
    ],
    [
      'reopen-firing',
      async (minute) => {
        await world.tell({ resolves: ['X1'] });
        await world.at(minute);
        await world.tell({ fires: ['X1'] });
      },
    ],
  ])('%s starts it over', async (_, happens) => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await happens(5);
    await world.at(5);
    expect(world.row(1).status).toBe('firing');
    expect(nextNotice()).toBe(20);
  });

  async function snoozeUntil(minute: number): Promise<void> {
    await world.command(1, { name: 'snooze', until: minute * MINUTE }, ANN);
  }

  test('urgent-keep and Alerts that join leave it alone', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(5);
    await world.tell({ fires: ['XC'] });
    expect(nextNotice()).toBe(15);
  });

  test('59 switched off it never starts, and neither do Reminders', async () => {
    policy({
      ack_timeout: { enabled: false, first_interval_seconds: 900 },
      reminders: { ...ON_CALL_POLICY.reminders, enabled: false },
    });
    await world.tell({ fires: ['X1'] });
    await world.at(60);
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(100 * HOURS);
    expect(story()).toEqual(['60 acknowledged Q']);
    expect(nextNotice()).toBeNull();
  });

  test('switched off while it runs, it is dropped at its next deadline, and switching on starts nothing', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    policy({ ack_timeout: { enabled: false, first_interval_seconds: 900 } });
    expect(nextNotice()).toBe(15);
    await world.at(16);
    expect(nextNotice()).toBeNull();
    policy({});
    await world.at(500);
    expect(story()).toEqual([]);
  });

  test('a changed interval counts from the next notice on', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    policy({ ack_timeout: { enabled: true, first_interval_seconds: 60 } });
    expect(nextNotice()).toBe(15);
    await world.at(15);
    expect(nextNotice()).toBe(17);
  });

  test('a moved group keeps its deadline and goes on by the policy of its Route', async () => {
    policy({ ack_timeout: { enabled: true, first_interval_seconds: 60 } }, DEFAULT_ROUTE);
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.send(1, { type: 'route_moved', fromRouteId: ROUTE, toRouteId: DEFAULT_ROUTE });
    expect(nextNotice()).toBe(15);
    await world.at(15);
    expect(nextNotice()).toBe(17);
  });
});

describe('Reminders', () => {
  beforeEach(async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
  });

  test('44 they come after 4 and 12 hours, and start over with a Takeover', async () => {
    await world.at(13 * HOURS);
    await world.command(1, ACKNOWLEDGE, BOB);
    expect(world.row(1).reminderPending).toBe(false);
    await world.at(17 * HOURS);
    expect(story()).toEqual([
      '0 acknowledged Q',
      `${4 * HOURS} reminder L [owner] 1`,
      `${12 * HOURS} reminder L [owner] 2`,
      `${13 * HOURS} takeover L [previous_owner]`,
      `${17 * HOURS} reminder L [owner] 1`,
    ]);
  });

  test('from 28 hours on every day', async () => {
    await world.at(124 * HOURS);
    const reminders = story().slice(1);
    expect(reminders.map((line) => Number(line.split(' ')[0]) / HOURS)).toEqual([
      4, 12, 28, 52, 76, 100, 124,
    ]);
  });

  test('45 Still on it: only by the Owner, only while one is pending', async () => {
    await world.at(1 * HOURS);
    expect(await world.command(1, STILL_ON_IT, ANN)).toEqual(refused('no_reminder_pending'));
    await world.at(5 * HOURS);
    expect(world.row(1).reminderPending).toBe(true);
    expect(await world.command(1, STILL_ON_IT, BOB)).toEqual(refused('not_owner'));
    expect(await world.command(1, STILL_ON_IT, ROB)).toEqual(refused('owner_must_be_user'));
    expect(await world.command(1, STILL_ON_IT, ANN)).toEqual({ outcome: 'done' });
    expect(world.row(1).reminderPending).toBe(false);
    await world.at(6 * HOURS);
    expect(await world.command(1, STILL_ON_IT, ANN)).toEqual(refused('no_reminder_pending'));
    expect(await world.command(1, STILL_ON_IT, BOB)).toEqual(refused('not_owner'));
    expect(nextNotice()).toBe(12 * HOURS);
    expect(story().at(-1)).toBe(`${5 * HOURS} reminder_answered Q`);
    expect(world.audit()).toEqual(['alert_group.acknowledged ann', 'alert_group.reminder_answered ann']);
  });

  test.each<[string, Command, boolean]>([
    ['an Acknowledge that changes nothing', ACKNOWLEDGE, false],
    ['an Acknowledge in bulk', { name: 'acknowledge', sparesOwner: true }, false],
    ['a Note', NOTE, false],
  ])('%s of the Owner is an answer', async (_, command, pending) => {
    await world.at(5 * HOURS);
    await world.command(1, command, ANN);
    expect(world.row(1).reminderPending).toBe(pending);
  });

  test('what others do is none', async () => {
    await world.at(5 * HOURS);
    await world.command(1, NOTE, BOB);
    await world.command(1, NOTE, ROB);
    await world.command(1, { name: 'acknowledge', sparesOwner: true }, BOB);
    expect(world.row(1).reminderPending).toBe(true);
  });

  describe('with auto-unacknowledge', () => {
    beforeEach(() => policy({ auto_unacknowledge: true }));

    test('46 two delivered Reminders without an answer cost the Owner the group', async () => {
      await world.at(28 * HOURS);
      expect(story().slice(1)).toEqual([
        `${4 * HOURS} reminder L [owner] 1`,
        `${12 * HOURS} reminder L [owner] 2`,
        `${28 * HOURS} auto_unacknowledged L [owner]`,
      ]);
      expect(world.entries(1).at(-1)).toMatchObject({
        kind: 'status',
        fromStatus: 'acknowledged',
        toStatus: 'firing',
        reason: 'reminders_unanswered',
        reasonText: 'The Owner did not answer two Reminders in a row',
        previousOwner: { id: ANN.id },
        actor: { kind: 'system', reason: 'reminders_unanswered' },
      });
      expect(nextNotice()).toBe(28 * HOURS + 15);
    });

    test('47 a Note is an answer: the count starts over', async () => {
      await world.at(5 * HOURS);
      await world.command(1, NOTE, ANN);
      await world.at(28 * HOURS);
      expect(story().at(-1)).toBe(`${28 * HOURS} reminder L [owner] 3`);
      await world.at(52 * HOURS);
      expect(story().at(-1)).toBe(`${52 * HOURS} auto_unacknowledged L [owner]`);
    });

    test('47 what reached nobody is not left unanswered', async () => {
      await world.at(3 * HOURS);
      await world.destination('broken');
      await world.at(13 * HOURS);
      await world.destination('accepts');
      await world.at(28 * HOURS);
      expect(story().at(-1)).toBe(`${28 * HOURS} reminder L [owner] 3`);
    });

    test('without a Destination that delivers it never happens', async () => {
      await world.destination('broken');
      await world.at(200 * HOURS);
      expect(story().filter((line) => line.includes('auto_unacknowledged'))).toEqual([]);
    });

    test('it is judged before the collapse, by the policy of the moment', async () => {
      await world.at(13 * HOURS);
      await world.awayUntil(100 * HOURS);
      expect(story().at(-1)).toBe(`${100 * HOURS} auto_unacknowledged L [owner]`);
    });

    test('a collapsed Reminder counts as one', async () => {
      await world.at(5 * HOURS);
      await world.awayUntil(30 * HOURS);
      expect(story().at(-1)).toBe(`${30 * HOURS} notices_missed L [owner] 2`);
      expect(nextNotice()).toBe(54 * HOURS);
      await world.at(54 * HOURS);
      expect(story().at(-1)).toBe(`${54 * HOURS} auto_unacknowledged L [owner]`);
    });
  });

  test('a Reopen goes on with the counters, one interval of its step later', async () => {
    await world.at(5 * HOURS);
    await world.tell({ resolves: ['X1'] });
    expect(nextNotice()).toBeNull();
    await world.at(5 * HOURS + 10);
    await world.tell({ fires: ['X1'] });
    expect(world.row(1)).toMatchObject({ status: 'acknowledged', reminderPending: true });
    expect(nextNotice()).toBe(13 * HOURS + 10);
    await world.at(13 * HOURS + 10);
    expect(story().at(-1)).toBe(`${13 * HOURS + 10} reminder L [owner] 2`);
  });

  test('15 a Reopen before the first one waits for it once more', async () => {
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(nextNotice()).toBe(250);
  });

  test('switched off while they run, they end with the next deadline', async () => {
    policy({ reminders: { ...ON_CALL_POLICY.reminders, enabled: false } });
    await world.at(4 * HOURS);
    expect(story()).toEqual(['0 acknowledged Q']);
    expect(nextNotice()).toBeNull();
  });
});

test('61 no Reminder comes before the first Publication', async () => {
  world = createWorld();
  await world.tell({ fires: ['X1'] });
  await world.command(1, ACKNOWLEDGE, ANN);
  await world.at(10 * HOURS);
  expect(nextNotice()).toBeNull();
  await world.destination('accepts');
  expect(nextNotice()).toBe(14 * HOURS);
});

describe('after a downtime', () => {
  test('48 missed notices become one event, and the third makes it Unclaimed', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.awayUntil(120);
    await world.send(1, { type: 'downtime', from: 1 * MINUTE, to: 120 * MINUTE });
    expect(story()).toEqual(['120 notices_missed L [ack_timeout] 3', '120 unclaimed Q']);
    expect(world.entries(1).at(-1)).toMatchObject({ systemEvent: 'service_unavailable' });
    expect(world.row(1)).toMatchObject({ unclaimed: true, nextNoticeAt: null });
  });

  test('two missed: the third follows an interval of its own later', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(10);
    await world.awayUntil(50);
    expect(story()).toEqual(['50 notices_missed L [ack_timeout] 2']);
    expect(nextNotice()).toBe(110);
    await world.at(110);
    expect(story().slice(1)).toEqual(['110 ack_timeout L [ack_timeout] 3', '110 unclaimed Q']);
  });

  test('49 a single one is sent late, and the schedule stays', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(10);
    await world.awayUntil(20);
    expect(story()).toEqual(['20 ack_timeout L [ack_timeout] 1']);
    expect(nextNotice()).toBe(45);
  });

  test('missed Reminders name the Owner and wait for an answer', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.awayUntil(300 * HOURS);
    expect(story().slice(1)).toEqual([`${300 * HOURS} notices_missed L [owner] 14`]);
    expect(nextNotice()).toBe(324 * HOURS);
    expect(world.row(1).reminderPending).toBe(true);
  });
});

describe('an events-mode webhook is told', () => {
  beforeEach(async () => {
    world.route(ROUTE, {
      destinationIds: [HOOK.id],
      policy: { ...ON_CALL_POLICY, auto_unacknowledge: true },
    });
    await world.tell({ fires: ['X1'] });
  });

  test('of ack notices with the Mention setting, of Unclaimed quietly', async () => {
    await world.at(105);
    const notice = 'ack_timeout true oncall';
    expect(world.webhooks()).toEqual(['created true', notice, notice, notice, 'unclaimed false']);
  });

  test('with the status that each event left, where one Snapshot records several', async () => {
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.tell({ fires: ['XC'] });
    expect(world.webhookStates()).toEqual([
      'created true firing -',
      'acknowledged false acknowledged ann',
      'alerts_added false acknowledged ann',
      'urgency_raised true firing -',
    ]);
  });

  test('of Reminders, answers and the end of an acknowledgement with the Owner', async () => {
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(5 * HOURS);
    await world.command(1, STILL_ON_IT, ANN);
    await world.at(52 * HOURS);
    expect(world.webhooks().slice(2)).toEqual([
      'reminder true ann',
      'reminder_answered false',
      'reminder true ann',
      'reminder true ann',
      'auto_unacknowledged true ann',
    ]);
  });

  test('of missed notices as of those they stand for', async () => {
    await world.awayUntil(50);
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.awayUntil(20 * HOURS);
    expect(world.webhooks().slice(1)).toEqual([
      'notices_missed true oncall',
      'acknowledged false',
      'notices_missed true ann',
    ]);
  });
});
