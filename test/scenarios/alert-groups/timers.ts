/** alert-groups §11, rows 41 to 49, 59 and 61: what happens because time passes. */
import { expect } from 'vitest';
import { casesOf } from '../case.ts';
import type { Scenario } from '../scenario.ts';

const { cases, row } = casesOf('alert-groups');
export const TIMERS = cases;

const notice = (at: string, number: number) => `${at} ack_timeout ${number} L [ack_timeout]`;
const reminder = (at: string, number: number) => `${at} reminder ${number} L [owner]`;

/** R gets its Destination. Events that were recorded before are not sent there: a Note is the first one it accepts. */
async function publishNow(s: Scenario): Promise<void> {
  await s.edit((route) => ({ ...route, destination_ids: [s.destination.id] }));
  await s.play('Bob notes hello');
}

row(41, 'three notices, then Unclaimed', async (s) => {
  await s.play('t0 +X1; t110');
  await s.tells(1, [notice('t15', 1), notice('t45', 2), notice('t105', 3), 't105 unclaimed Q']);
  await s.shows(1, { next_notice: null, unclaimed: true, status: 'firing' });
  await s.play('t110 Ann acknowledges');
  await s.shows(1, { unclaimed: false, status: 'acknowledged' });
});

row(42, 'the ack timeout starts over with each entry to firing', async (s) => {
  await s.play('t0 +X1; t20 Ann acknowledges; t30 Ann unacknowledges');
  await s.tells(1, [notice('t15', 1), 't20 acknowledged Q', 't30 unacknowledged Q']);
  await s.shows(1, { next_notice: 'ack_timeout t45' });
  await s.play('t45');
  expect((await s.events()).at(-1)).toBe(notice('t45', 1));
});

row(
  43,
  'no notice before the first Publication',
  async (s) => {
    await s.play('t0 +X1; t40');
    await s.tells(1, []);
    await s.shows(1, { next_notice: null });
    await publishNow(s);
    await s.tells(1, ['t40 note_added Q']);
    await s.shows(1, { next_notice: 'ack_timeout t55' });
  },
  { withoutDestination: true },
);

row(44, 'Reminders, and a new Owner starts them over', async (s) => {
  await s.play('t0 +X1; t0 Ann acknowledges; t13h Bob acknowledges');
  await s.tells(1, [
    't0 acknowledged Q',
    reminder('t4h', 1),
    reminder('t12h', 2),
    't13h takeover L [previous_owner]',
  ]);
  await s.shows(1, { next_notice: 'reminder t17h' });
  await s.play('t17h');
  expect((await s.events()).at(-1)).toBe(reminder('t17h', 1));
});

row(45, 'Still on it answers the Reminder that waits', async (s) => {
  await s.play('t0 +X1; t0 Ann acknowledges; t1h Ann still on it; t5h Bob still on it');
  await s.play('t5h Ann still on it; t6h Ann still on it');
  expect(s.answers).toEqual([
    'done',
    '409 no_reminder_pending',
    '409 not_owner',
    'done',
    '409 no_reminder_pending',
  ]);
  await s.tells(1, ['t0 acknowledged Q', reminder('t4h', 1), 't5h reminder_answered Q']);
  await s.shows(1, { next_notice: 'reminder t12h' });
});

row(
  46,
  'two Reminders in a row without an answer take the Alert Group back',
  async (s) => {
    await s.play('t0 +X1; t0 Ann acknowledges; t28h');
    await s.tells(1, [
      't0 acknowledged Q',
      reminder('t4h', 1),
      reminder('t12h', 2),
      't28h auto_unacknowledged L [owner]',
    ]);
    expect((await s.lifecycle()).at(-1)?.reason).toBe('reminders_unanswered');
    await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t1695' });
  },
  { policy: { auto_unacknowledge: true } },
);

row(
  47,
  'a Note of the Owner is an answer',
  async (s) => {
    await s.play('t0 +X1; t0 Ann acknowledges; t5h Ann notes looking; t28h');
    await s.tells(1, [
      't0 acknowledged Q',
      reminder('t4h', 1),
      't5h note_added Q',
      reminder('t12h', 2),
      reminder('t28h', 3),
    ]);
  },
  { policy: { auto_unacknowledge: true } },
);

row(
  47,
  'Reminders that reached nobody ask for no answer',
  async (s) => {
    await s.play('t0 +X1; t0 Ann acknowledges; t3h');
    s.world.receiver.answerAll(() => ({ status: 401 }));
    await s.play('t13h');
    s.world.receiver.answerAll(null);
    await s.play('t28h');
    await s.tells(1, ['t0 acknowledged Q', reminder('t4h', 1), reminder('t12h', 2), reminder('t28h', 3)]);
    await s.shows(1, { status: 'acknowledged', owner: 'Ann' });
  },
  { policy: { auto_unacknowledge: true } },
);

row(48, 'notices that fell due during a downtime are sent as one', async (s) => {
  await s.play('t0 +X1; t1');
  await s.downUntil('t120');
  await s.tells(1, ['t120 notices_missed ×3 L [ack_timeout]', 't120 unclaimed Q']);
  await s.shows(1, { unclaimed: true, next_notice: null });
  const outages = (await s.timeline()).filter(({ system_event }) => system_event === 'service_unavailable');
  expect(outages).toMatchObject([
    { kind: 'system', period_from: s.instant('t1'), period_to: s.instant('t120') },
  ]);
});

row(49, 'one notice that is late is sent as usual', async (s) => {
  await s.play('t0 +X1; t10');
  await s.downUntil('t20');
  await s.tells(1, [notice('t20', 1)]);
  await s.shows(1, { next_notice: 'ack_timeout t45' });
});

row(
  59,
  'an Informational Route never reminds',
  async (s) => {
    await s.play('t0 +X1; t59');
    await s.shows(1, { next_notice: null });
    await s.play('t60 Ann acknowledges; t30h');
    await s.tells(1, ['t60 acknowledged Q']);
    await s.shows(1, { next_notice: null });
  },
  {
    policy: {
      ack_timeout: { enabled: false, first_interval_seconds: 900 },
      reminders: { enabled: false, first_interval_seconds: 14_400, cap_seconds: 86_400 },
    },
  },
);

row(59, 'a notice that is switched off while it waits is dropped', async (s) => {
  await s.play('t0 +X1; t5');
  await s.editPolicy({ ack_timeout: { enabled: false, first_interval_seconds: 900 } });
  await s.play('t16');
  await s.tells(1, []);
  await s.shows(1, { next_notice: null });
});

row(
  61,
  'no Reminder before the first Publication',
  async (s) => {
    await s.play('t0 +X1; t0 Ann acknowledges; t10h');
    await s.tells(1, ['t0 acknowledged Q']);
    await publishNow(s);
    await s.tells(1, ['t0 acknowledged Q', 't10h note_added Q']);
    await s.shows(1, { next_notice: 'reminder t14h' });
  },
  { withoutDestination: true },
);
