/** alert-groups §11, rows 20 to 31: what people do, and the Grace period after a person's resolve. */
import { expect } from 'vitest';
import { casesOf } from '../case.ts';
import { answerText } from '../scenario.ts';

const { cases, row } = casesOf('alert-groups');
export const PEOPLE = cases;

const CREATED = 'created L [new_alert_group]';

row(20, 'Alerts that fire on after the Grace period start a new Alert Group', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 +X1');
  await s.shows(1, { status: 'resolved', resolution: 'user Bob', notices: ['alerts_still_firing 1'] });
  const bob = await s.people.named('Bob');
  expect((await s.group(1, bob)).allowed_commands).toContain('unresolve');
  await s.play('t10 +X1; t16');
  await s.tells(1, ['t1 resolved Q']);
  expect(await s.events(2, 'all')).toEqual([`t16 ${CREATED}`]);
  await s.shows(2, { status: 'firing', notices: ['firing_again_after_manual_resolve #1'] });
  await s.shows(1, { notices: ['newer_alert_group_exists #2'], counts: '0/1' });
  const moved = (await s.alerts(1)).get('X1');
  const number = (await s.group(2)).number;
  expect(moved).toMatchObject({
    state: 'resolved',
    resolve_reason: null,
    resolve_reason_text: `moved to #${number}`,
  });
});

row(21, 'another Alert starts a new Alert Group at once, the tail joins it', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 +X2');
  await s.shows(2, { status: 'firing', notices: [] });
  await s.play('t16');
  expect(await s.events(2, 'all')).toEqual([`t5 ${CREATED}`, 't16 alerts_added L [new_alerts]']);
  expect((await s.lifecycle(2)).at(-1)?.fingerprints).toEqual(['X1']);
});

row(22, 'the tail joins an acknowledged Alert Group Quiet', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 +X2; t6 Ann acknowledges #2; t16');
  expect(await s.events(2, 'all')).toEqual([`t5 ${CREATED}`, 't6 acknowledged Q', 't16 alerts_added Q']);
});

row(23, 'the tail reopens an Alert Group that the system resolved', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t3 +X2; t4 -X2; t16');
  expect(await s.events(2, 'all')).toEqual([`t3 ${CREATED}`, 't4 resolved Q', 't16 reopened L [reopen]']);
  expect((await s.lifecycle(2)).at(-1)?.fingerprints).toEqual(['X1']);
});

row(24, 'a tail that resolves leaves the Grace period nothing to do', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 -X1; t16; t17');
  await s.tells(1, ['t1 resolved Q', 't5 alert_resolved Q']);
  await s.shows(1, { resolution: 'user Bob' });
  expect(await s.count()).toBe(1);
});

row(24, 'a tail that fires anew during the Grace period starts a new Alert Group', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 -X1; t6 +X1; t17');
  expect(await s.events(2, 'all')).toEqual([`t6 ${CREATED}`]);
  await s.tells(1, ['t1 resolved Q', 't5 alert_resolved Q']);
});

row(25, 'a Continuation of a tail is no new firing', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 ^X1; t15');
  await s.tells(1, ['t1 resolved Q', 't5 alert_continued Q']);
  expect(await s.count()).toBe(1);
  await s.play('t16');
  expect(await s.count()).toBe(2);
});

row(26, 'Unresolve ends the Grace period', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 Ann unresolves');
  await s.tells(1, ['t1 resolved Q', 't5 unresolved Q']);
  await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t20' });
  await s.play('t16');
  expect(await s.count()).toBe(1);
});

row(27, 'Unresolve on a firing or system-resolved one', async (s) => {
  await s.play('t0 +X1; t1 Ann unresolves; t2 -X1; t3 Ann unresolves');
  expect(s.answers).toEqual(['409 not_resolved', '409 resolved_automatically']);
});

row(27, 'Unresolve when the Route is deleted', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves');
  expect((await s.admin.call('DELETE', `/routes/${s.route.id}`)).status).toBe(204);
  await s.play('t2 Ann unresolves');
  expect(s.answers.at(-1)).toBe('409 route_deleted');
});

row(27, 'Unresolve beside a newer open Alert Group', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 +X2; t6');
  const refused = await s.command('Ann', 'unresolve');
  expect(answerText(refused)).toBe('409 newer_alert_group_exists');
  expect(s.numberOf(refused.body.related_alert_group.number)).toBe(2);
});

row(27, 'Unresolve when every Alert has resolved', async (s) => {
  await s.play('t0 +X1; t1 Bob resolves; t5 -X1; t6 Ann unresolves');
  expect(s.answers.at(-1)).toBe('409 all_alerts_resolved');
});

row(28, 'another Snooze replaces the present one, the same one changes nothing', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes until t30; t5 Bob snoozes until t60; t5 Bob snoozes until t60');
  expect(s.answers).toEqual(['done', 'done', 'unchanged']);
  await s.shows(1, { snooze: 't60 Bob' });
  await s.play('t40 Bob unsnoozes; t60');
  const told = ['t1 snoozed Q', 't5 snoozed Q', 't40 unsnoozed Q'];
  // Firing again, nobody acts: the ack timeout runs from the end of the Snooze.
  await s.tells(1, [...told, 't55 ack_timeout 1 L [ack_timeout]']);
  await s.shows(1, { status: 'firing', snooze: null });
});

row(29, 'Acknowledge ends a Snooze', async (s) => {
  await s.play('t0 +X1; t1 Ann snoozes until t30; t5 Ann acknowledges; t30');
  await s.tells(1, ['t1 snoozed Q', 't5 acknowledged Q']);
  await s.shows(1, { status: 'acknowledged', owner: 'Ann', snooze: null });
});

row(30, 'Acknowledge by another user moves ownership and mentions the previous Owner', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 Ann acknowledges; t3 Bob acknowledges');
  expect(s.answers).toEqual(['done', 'unchanged', 'done']);
  await s.tells(1, ['t1 acknowledged Q', 't3 takeover L [previous_owner]']);
  expect((await s.lifecycle()).at(-1)?.previous_owner.name).toBe('Ann');
  expect(await s.audit()).toEqual(['acknowledged Ann', 'taken_over Bob']);
  await s.shows(1, { owner: 'Bob' });
});

row(31, 'Unacknowledge returns the Alert Group to firing, without an Owner', async (s) => {
  await s.play('t0 +X1; t1 Ann acknowledges; t2 Bob unacknowledges');
  await s.tells(1, ['t1 acknowledged Q', 't2 unacknowledged Q']);
  expect((await s.lifecycle()).at(-1)?.previous_owner.name).toBe('Ann');
  await s.shows(1, { status: 'firing', owner: null, next_notice: 'ack_timeout t17' });
});
