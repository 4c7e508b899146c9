/** alert-groups §11, rows 1 to 19: what Snapshots do to an Alert Group. */
import { expect } from 'vitest';
import { SECOND } from '../../../runtime/clock.ts';
import { casesOf } from '../case.ts';

const { cases, row } = casesOf('alert-groups');
export const GROUPING = cases;

row(1, 'Alerts of one Snapshot and key create one Alert Group', async (s) => {
  await s.play('t0 +X1 & +X2');
  await s.shows(1, {
    status: 'firing',
    title: 'X',
    counts: '2/0',
    severity: 'warning',
    urgent: false,
    next_notice: 'ack_timeout t15',
  });
  expect(await s.events(1, 'all')).toEqual(['t0 created L [new_alert_group]']);
  expect((await s.lifecycle())[0]?.fingerprints).toEqual(['X1', 'X2']);
});

row(2, 'another key is another Alert Group', async (s) => {
  await s.play('t0 +X1 & +Xb');
  for (const number of [1, 2]) {
    expect(await s.events(number, 'all')).toEqual(['t0 created L [new_alert_group]']);
  }
});

row(3, 'a later Alert joins, Loud while firing', async (s) => {
  await s.play('t0 +X1; t2 +X2');
  await s.shows(1, { status: 'firing', counts: '2/0' });
  await s.tells(1, ['t2 alerts_added L [new_alerts]']);
});

row(4, 'an Alert that joins while acknowledged is Quiet', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 +X2');
  await s.tells(1, ['t1 acknowledged Q', 't2 alerts_added Q']);
  await s.shows(1, { status: 'acknowledged', owner: 'Ann' });
});

row(5, 'the end of a Snooze names the Alerts that joined and still fire', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes until t30; t5 +X2; t6 +X3 & -X1; t30');
  await s.tells(1, [
    't1 snoozed Q',
    't5 alerts_added Q',
    't6 alerts_added Q',
    't6 alert_resolved Q',
    't30 snooze_ended L [snooze_ended]',
  ]);
  expect((await s.lifecycle()).at(-1)?.fingerprints).toEqual(['X2', 'X3']);
  await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t45' });
});

row(6, 'an Alert of another instance replaces the one that resolved', async (s) => {
  await s.play('t0 +P1; t1 +P2 & -P1');
  await s.tells(1, ['t1 alert_replaced Q', 't1 alert_resolved Q']);
  expect((await s.lifecycle())[1]?.replaced_label).toBe('pod');
  await s.shows(1, { status: 'firing', notices: ['replacement pod'] });
});

row(7, 'a Continuation is Quiet', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 ^X1');
  await s.tells(1, ['t1 acknowledged Q', 't2 alert_continued Q']);
  await s.shows(1, { status: 'acknowledged' });
});

row(8, 'the summary is that of an Alert that fires', async (s) => {
  const shows = async (steps: string, summary: string | null) => {
    await s.play(steps);
    await s.shows(1, { summary });
  };
  await shows('t0 +X1', null);
  s.sender().annotate('X1', { summary: 's' });
  await shows('t1 +X1', 's');
  s.sender().annotate('X1', { summary: 'z' });
  await shows('t2 +X1', 'z');
  s.sender().annotate('X2', { summary: 'y' });
  await shows('t3 +X2', 'z');
  await shows('t4 -X1', 'y');
  await shows('t5 -X2', 'y');
  await shows('t6 +X1', 'z');
  await s.tells(1, [
    ...['t1 annotations_changed Q', 't2 annotations_changed Q', 't3 alerts_added L [new_alerts]'],
    ...['t4 alert_resolved Q', 't5 resolved Q', 't6 reopened L [reopen]'],
  ]);
});

row(9, 'the last firing Alerts resolve the Alert Group', async (s) => {
  await s.play('t0 +X1 & +X2; t3 -X1 & -X2');
  await s.tells(1, ['t3 resolved Q']);
  expect((await s.lifecycle()).at(-1)?.fingerprints).toEqual(['X1', 'X2']);
  await s.shows(1, { status: 'resolved', resolution: 'system resolved' });
});

row(10, 'an Alert that is not listed for five minutes is gone', async (s) => {
  await s.play('t0 +X1; t1 !X1; t5');
  await s.shows(1, { status: 'firing' });
  await s.play('t6 !X1');
  await s.tells(1, ['t6 resolved Q']);
  await s.shows(1, { resolution: 'system gone' });
});

row(
  11,
  'a silent group under a live Heartbeat goes stale',
  async (s) => {
    const sender = s.sender();
    const repeat = { notification_reason: 'repeat interval elapsed' };
    for (let minute = 0; minute <= 25; minute++) {
      await s.at(`t${minute}`, 10 * SECOND);
      expect(await sender.heartbeat()).toBe(204);
      // The third one teaches five minutes, and is the last.
      if (minute > 10 || minute % 5 > 0) continue;
      await sender.post({ ...sender.snapshot('G', ['+X1'], s.world.clock.now()), ...repeat });
    }
    await s.at('t26', 10 * SECOND);
    const [reminded, resolved] = await s.events(1);
    expect(reminded).toBe('t15 ack_timeout 1 L [ack_timeout]');
    expect(resolved).toMatch(/^t25(:[012]\d|:30)? resolved Q$/);
    await s.shows(1, { status: 'resolved', resolution: 'system stale' });
  },
  { integration: { heartbeat: { enabled: true, timeout_seconds: 300 } } },
);

row(12, 'deleting Integrations ends their Alerts', async (s) => {
  await s.integrate('J');
  await s.play('t0 +X1; J/G: +X2; t1');
  await s.deleteIntegration('I');
  await s.tells(1, ['t0 alerts_added L [new_alerts]', 't1 alert_resolved Q']);
  expect((await s.lifecycle()).at(-1)?.reason).toBe('integration_deleted');
  await s.shows(1, { status: 'firing' });
  await s.at('t2');
  await s.deleteIntegration('J');
  expect((await s.events()).at(-1)).toBe('t2 resolved Q');
  await s.shows(1, { resolution: 'system integration_deleted' });
});

row(13, 'the same key fires again within the Reopen window', async (s) => {
  await s.play('t0 +X1; t5 -X1; t13 +X2');
  await s.tells(1, ['t5 resolved Q', 't13 reopened L [reopen]']);
  await s.shows(1, { status: 'firing', reopen_count: 1, next_notice: 'ack_timeout t28' });
  expect(await s.count()).toBe(1);
});

row(14, 'a firing at the end of the Reopen window starts a new Alert Group', async (s) => {
  await s.play('t0 +X1; t5 -X1; t20 +X1');
  await s.tells(1, ['t5 resolved Q']);
  expect(await s.events(2, 'all')).toEqual(['t20 created L [new_alert_group]']);
});

row(14, 'a firing one second before the end of the Reopen window reopens', async (s) => {
  await s.play('t0 +X1; t5 -X1; t19:59 +X1');
  await s.tells(1, ['t5 resolved Q', 't19:59 reopened L [reopen]']);
  expect(await s.count()).toBe(1);
});

row(15, 'a Reopen returns to the Owner', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t5 -X1; t10 +X1');
  await s.tells(1, ['t1 acknowledged Q', 't5 resolved Q', 't10 reopened L [owner]']);
  await s.shows(1, { status: 'acknowledged', owner: 'Ann', next_notice: 'reminder t250' });
});

row(16, 'a Reopen returns to the Snooze', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes until t60; t5 -X1; t10 +X1');
  await s.shows(1, { status: 'snoozed', snooze: 't60 Ann' });
  await s.play('t60');
  await s.tells(1, ['t1 snoozed Q', 't5 resolved Q', 't10 reopened Q', 't60 snooze_ended L [snooze_ended]']);
  expect((await s.lifecycle()).at(-1)?.fingerprints).toEqual(['X1']);
});

row(17, 'a Snooze that ended meanwhile is not returned to', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes until t8; t5 -X1; t10 +X1');
  await s.tells(1, ['t1 snoozed Q', 't5 resolved Q', 't10 reopened L [reopen]']);
  await s.shows(1, { status: 'firing' });
});

row(18, 'an Owner who was disabled meanwhile does not return', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t5 -X1; t6');
  await s.disable('Ann');
  await s.at('t7');
  await s.enable('Ann');
  await s.play('t10 +X1');
  await s.tells(1, ['t1 acknowledged Q', 't5 resolved Q', 't10 reopened L [reopen]']);
  await s.shows(1, { status: 'firing', owner: null });
});

row(19, 'a Reopen by a critical Alert ends the Snooze it returns to', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes no end; t5 -X1; t10 +XC');
  await s.tells(1, [
    't1 snoozed Q',
    't5 resolved Q',
    't10 reopened Q',
    't10 urgency_raised L [owner, rise_to_urgent]',
  ]);
  await s.shows(1, { status: 'firing', urgent: true });
});
