/** alert-groups §11, rows 32 to 40: severity, urgency, Owners who leave, moves. */
import { expect } from 'vitest';
import { casesOf } from '../case.ts';

const { cases, row } = casesOf('alert-groups');
export const SEVERITY = cases;

row(32, 'a rise of the Severity level is Quiet', async (s) => {
  await s.play('t0 +XI; t1 +X1');
  await s.tells(1, ['t1 alerts_added L [new_alerts]', 't1 severity_raised Q']);
  await s.shows(1, { severity: 'warning' });
});

row(33, 'a rise to Urgent while firing is Quiet', async (s) => {
  await s.play('t0 +X1; t1 +XC');
  await s.tells(1, ['t1 alerts_added L [new_alerts]', 't1 urgency_raised Q']);
  await s.shows(1, { urgent: true, severity: 'critical' });
});

row(34, 'a rise to Urgent takes the acknowledgement away', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 +XC');
  await s.tells(1, ['t1 acknowledged Q', 't2 alerts_added Q', 't2 urgency_raised L [owner, rise_to_urgent]']);
  const [risen] = (await s.lifecycle()).slice(-1);
  expect([risen.previous_owner.name, risen.reason]).toEqual(['Ann', 'rise_to_urgent']);
  await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t17' });
});

row(
  35,
  'a Route may keep the acknowledgement at a rise to Urgent',
  async (s) => {
    await s.play('t0 +X1; t1 Ann acknowledges; t2 +XC');
    await s.tells(1, ['t1 acknowledged Q', 't2 alerts_added Q', 't2 urgency_raised Q']);
    await s.shows(1, { status: 'acknowledged', owner: 'Ann' });
  },
  { policy: { urgent_rise_removes_ack: false } },
);

row(36, 'a rise to Urgent ends a Snooze', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes no end; t2 +XC');
  await s.tells(1, ['t1 snoozed Q', 't2 alerts_added Q', 't2 urgency_raised L [owner, rise_to_urgent]']);
  await s.shows(1, { status: 'firing' });
});

row(37, 'a rise to Urgent keeps a Snooze that was set while Urgent', async (s) => {
  await s.play('t0 +X1 & +XC; t1 Ann snoozes no end; t2 -XC; t3 +XC');
  await s.tells(1, ['t1 snoozed Q', 't2 alert_resolved Q', 't3 alerts_added Q', 't3 urgency_raised Q']);
  await s.shows(1, { status: 'snoozed' });
});

row(38, 'an edit of the Route that makes a group Urgent is no rise', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2');
  await s.edit((route) => ({ ...route, urgent: true }));
  await s.tells(1, ['t1 acknowledged Q']);
  await s.shows(1, { urgent: true, status: 'acknowledged' });
  await s.play('t3 +XC');
  await s.tells(1, ['t1 acknowledged Q', 't3 alerts_added Q', 't3 severity_raised Q']);
  await s.shows(1, { status: 'acknowledged' });
});

for (const [title, leave, reason] of [
  ['an Owner who is disabled gives it back', 'disable', 'owner_disabled'],
  ['an Owner who is deleted gives it back', 'remove', 'owner_deleted'],
] as const) {
  row(39, title, async (s) => {
    await s.play('t0 +X1; t1 Ann acknowledges; t2');
    await s[leave]('Ann');
    await s.tells(1, ['t1 acknowledged Q', 't2 unacknowledged L']);
    const [released] = (await s.lifecycle()).slice(-1);
    const { id } = await s.people.named('Ann');
    const name = leave === 'remove' ? `deleted-user-${id}` : 'Ann';
    expect([released.reason, released.previous_owner.name]).toEqual([reason, name]);
    await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t17' });
    if (leave === 'remove') return;
    await s.enable('Ann');
    await s.shows(1, { status: 'firing', owner: null });
  });
}

row(40, 'a moved Alert Group takes part in grouping no more', async (s) => {
  await s.play('t0 +X1; t1');
  const moved = await s.admin.post(`/routes/${s.route.id}/move-open-alert-groups`);
  expect(moved).toEqual({ moved: 1 });
  await s.world.settle();
  await s.shows(1, { route: 'Default', status: 'firing' });
  await s.tells(1, ['t1 moved_to_default_route Q']);
  await s.play('t2 +X2');
  await s.shows(2, { route: 'R', counts: '1/0' });
  await s.play('t3 -X1');
  await s.shows(1, { status: 'resolved' });
  await s.play('t4 +X1');
  await s.shows(2, { counts: '2/0' });
  await s.shows(1, { status: 'resolved', reopen_count: 0 });
});
