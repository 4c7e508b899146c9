/** The scenarios of alert-groups §11 about people, Severity and configuration. Minutes are virtual. */
import { beforeEach, describe, expect, test } from 'vitest';
import { formatInstant, MINUTE } from '../../../runtime/clock.ts';
import { ON_CALL_POLICY } from '../../route/policy.ts';
import { ACKNOWLEDGE, DONE, eventsAfterCreated, RESOLVE, refused, snooze } from '../scenarios.fixture.ts';
import { ANN, BOB, createWorld, DEFAULT_ROUTE, OTHER_ROUTE, ROB, ROUTE } from '../world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

const events = (number: number) => eventsAfterCreated(world, number);

describe('Commands', () => {
  test('28 Snoozes', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(30), ANN);
    await world.at(5);
    await world.command(1, snooze(60), BOB);
    expect(await world.command(1, snooze(60), BOB)).toEqual({ outcome: 'unchanged' });
    expect(world.row(1).snoozedBy).toEqual(BOB);
    await world.at(40);
    await world.command(1, { name: 'unsnooze' }, BOB);
    await world.at(61);
    expect(events(1)).toEqual(['snoozed Q', 'snoozed Q', 'unsnoozed Q']);
  });

  test('29 an acknowledgement ends the Snooze', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(30), ANN);
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(31);
    expect(events(1)).toEqual(['snoozed Q', 'acknowledged Q']);
    expect(world.row(1)).toMatchObject({ snoozedBy: null, snoozeUntil: null });
  });

  test('30 and 53 acknowledge by another user moves ownership and mentions the previous Owner', async () => {
    await world.tell({ fires: ['X1'] });
    expect(await world.command(1, ACKNOWLEDGE, ANN)).toEqual(DONE);
    expect(await world.command(1, ACKNOWLEDGE, ANN)).toEqual({ outcome: 'unchanged' });
    expect(await world.command(1, ACKNOWLEDGE, BOB)).toEqual(DONE);
    expect(events(1)).toEqual(['acknowledged Q', 'takeover L [previous_owner]']);
    expect(world.entries(1).at(-1)).toMatchObject({ previousOwner: { id: ANN.id }, owner: { id: BOB.id } });
    expect(world.audit()).toEqual(['alert_group.acknowledged ann', 'alert_group.taken_over bob']);
  });

  test('54 an Acknowledge that spares the Owner takes what is free, and no more', async () => {
    const sparing = { name: 'acknowledge', sparesOwner: true } as const;
    await world.tell({ fires: ['X1'] });
    expect(await world.command(1, sparing, ANN)).toEqual(DONE);
    expect(await world.command(1, sparing, ANN)).toEqual({ outcome: 'unchanged' });
    expect(await world.command(1, sparing, BOB)).toMatchObject({ outcome: 'skipped', owner: { id: ANN.id } });
    expect(events(1)).toEqual(['acknowledged Q']);
    expect(world.audit()).toEqual(['alert_group.acknowledged ann']);
  });

  test('31 anybody may give it back', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.command(1, { name: 'unacknowledge' }, BOB);
    expect(world.entries(1).at(-1)).toMatchObject({
      event: 'unacknowledged',
      previousOwner: { id: ANN.id },
    });
  });

  test.each([
    ['unacknowledge', 'not_acknowledged'],
    ['unsnooze', 'not_snoozed'],
    ['still_on_it', 'not_owner'],
  ] as const)('%s on firing is refused: %s', async (name, code) => {
    await world.tell({ fires: ['X1'] });
    expect(await world.command(1, { name }, ANN)).toEqual(refused(code));
  });

  test.each([ACKNOWLEDGE, RESOLVE, snooze(null)])('$name on resolved is refused', async (command) => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ resolves: ['X1'] });
    expect(await world.command(1, command, ANN)).toEqual(refused('already_resolved'));
    expect(world.audit()).toEqual([]);
  });

  test('45 without a Reminder there is nothing to answer', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    expect(await world.command(1, { name: 'still_on_it' }, ANN)).toEqual(refused('no_reminder_pending'));
  });

  test('51 a Service account owns nothing, but snoozes, resolves and notes', async () => {
    await world.tell({ fires: ['X1'] });
    expect(await world.command(1, ACKNOWLEDGE, ROB)).toEqual(refused('owner_must_be_user'));
    await world.command(1, snooze(null), ROB);
    expect(await world.command(1, { name: 'resolve', note: 'done' }, ROB)).toMatchObject(DONE);
    expect(events(1)).toEqual(['snoozed Q', 'resolved Q', 'note_added Q']);
    expect(world.entries(1).at(-1)).toMatchObject({ actor: ROB, body: 'done' });
    expect(world.audit()).toEqual(['alert_group.snoozed rob', 'alert_group.resolved rob']);
  });

  test('a Note goes on a resolved Alert Group, too', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ resolves: ['X1'] });
    expect(await world.command(1, { name: 'add_note', body: 'why' }, ANN)).toMatchObject({ outcome: 'done' });
    expect(world.audit()).toEqual(['alert_group.note_added ann']);
  });
});

describe('Severity', () => {
  test('32 a rise without urgency', async () => {
    await world.tell({ fires: ['XI'] });
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['alerts_added L [new_alerts]', 'severity_raised Q']);
    expect(world.entries(1).at(-1)).toMatchObject({ fromSeverityLevel: 'info', toSeverityLevel: 'warning' });
  });

  test('33 a rise to Urgent while firing', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['XC'] });
    expect(events(1)).toEqual(['alerts_added L [new_alerts]', 'urgency_raised Q']);
  });

  test('34 takes the acknowledgement away', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.tell({ fires: ['XC'] });
    expect(events(1).slice(1)).toEqual(['alerts_added Q', 'urgency_raised L [owner, rise_to_urgent]']);
    expect(world.entries(1).at(-1)).toMatchObject({
      previousOwner: { id: ANN.id },
      reason: 'rise_to_urgent',
      reasonText: 'Severity rose to critical',
    });
    expect(world.row(1).status).toBe('firing');
  });

  test('35 unless the Route says not to', async () => {
    world.route(ROUTE, { policy: { ...ON_CALL_POLICY, urgent_rise_removes_ack: false } });
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.tell({ fires: ['XC'] });
    expect(events(1).slice(1)).toEqual(['alerts_added Q', 'urgency_raised Q']);
    expect(world.row(1).status).toBe('acknowledged');
  });

  test('36 ends a Snooze', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(null), ANN);
    await world.tell({ fires: ['XC'] });
    expect(events(1).slice(1)).toEqual(['alerts_added Q', 'urgency_raised L [owner, rise_to_urgent]']);
    expect(world.row(1).status).toBe('firing');
  });

  test('37 but not one that was set while Urgent', async () => {
    await world.tell({ fires: ['X1', 'XC'] });
    await world.command(1, snooze(null), ANN);
    await world.at(2);
    await world.tell({ resolves: ['XC'] });
    await world.at(3);
    await world.tell({ fires: ['XC'] });
    expect(events(1).slice(1)).toEqual(['alert_resolved Q', 'alerts_added Q', 'urgency_raised Q']);
    expect(world.row(1).status).toBe('snoozed');
  });

  test('38 an edit of the Route is no rise', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    world.route(ROUTE, { urgent: true });
    await world.tell({ fires: ['XC'] });
    expect(events(1).slice(1)).toEqual(['alerts_added Q', 'severity_raised Q']);
    expect(world.row(1).status).toBe('acknowledged');
  });
});

describe('configuration', () => {
  test.each(['owner_disabled', 'owner_deleted'] as const)(
    '39 %s releases the Alert Group',
    async (reason) => {
      await world.tell({ fires: ['X1'] });
      await world.command(1, ACKNOWLEDGE, ANN);
      await world.send(1, { type: 'owner_released', userId: ANN.id, reason });
      expect(events(1).slice(1)).toEqual(['unacknowledged L']);
      expect(world.entries(1).at(-1)).toMatchObject({ reason, previousOwner: { id: ANN.id } });
      expect(world.row(1)).toMatchObject({ status: 'firing', ownerId: null });
    },
  );

  test('40 a moved Alert Group takes no new Alerts and never reopens', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.send(1, { type: 'route_moved', fromRouteId: ROUTE, toRouteId: DEFAULT_ROUTE });
    await world.at(2);
    await world.tell({ fires: ['X2'] });
    await world.at(3);
    await world.tell({ resolves: ['X1'] });
    await world.at(4);
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['moved_to_default_route Q', 'resolved Q']);
    expect(world.row(1)).toMatchObject({ routeId: DEFAULT_ROUTE, originalRouteId: ROUTE });
    expect(world.row(2)).toMatchObject({ routeId: ROUTE, firingAlertCount: 2 });
    expect(world.context(1).reopenDeadline).toBeNull();
  });

  test('58 the title becomes the key for good when alertnames differ', async () => {
    world.route(ROUTE, { groupKey: ['cluster'] });
    await world.tell({ fires: ['L1'] });
    expect(world.row(1).title).toBe('L');
    await world.tell({ fires: ['H1'] });
    expect(world.row(1).title).toBe('cluster=a');
    await world.tell({ resolves: ['L1'] });
    expect(world.row(1).title).toBe('cluster=a');
  });

  test('the title by key is in the order of the Group key, also when the group was stored meanwhile', async () => {
    world.route(ROUTE, { groupKey: ['severity', 'cluster'] });
    await world.tell({ fires: ['L1'] });
    await world.tell({ fires: ['H1'] });
    expect(world.row(1).title).toBe('severity=warning, cluster=a');
  });

  test('62 an Alert stays where it fires, whatever Routes and feeds come', async () => {
    await world.tell({ fires: ['X1'], feed: 'G' });
    world.route(ROUTE, { matchers: [{ label: 'n', op: '=', value: 'none' }] });
    await world.at(2);
    await world.tell({ fires: ['X1'], feed: 'H' });
    await world.at(9);
    await world.tell({ gone: ['X1'], feed: 'G' });
    expect(events(1)).toEqual([]);
    await world.at(26);
    await world.tell({ gone: ['X1'], feed: 'H' });
    expect(events(1)).toEqual(['resolved Q']);
    expect(world.count()).toBe(1);
  });

  test('63 and fires there again while the group is open', async () => {
    await world.tell({ fires: ['X1', 'X2'] });
    await world.at(1);
    await world.tell({ resolves: ['X1'] });
    world.route(ROUTE, { matchers: [{ label: 'n', op: '=', value: '2' }] });
    await world.at(3);
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['alert_resolved Q', 'alerts_added L [new_alerts]']);
    expect(world.count()).toBe(1);
  });

  test('an Alert Group never starts on a deleted Route', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ resolves: ['X1'] });
    await world.at(20);
    world.route(ROUTE, { deleted: true });
    await world.tell({ fires: ['X1'] });
    expect(world.row(2).routeId).toBe(OTHER_ROUTE);
  });

  test('48 a downtime of the service is an entry without a lifecycle event', async () => {
    await world.tell({ fires: ['X1', 'Xb'] });
    await world.tell({ resolves: ['Xb'] });
    await world.at(5);
    const downtime = { type: 'downtime', from: 1 * MINUTE, to: 4 * MINUTE } as const;
    const hinted = world.hints().length;
    await world.send(1, downtime);
    await world.send(2, downtime);
    expect(world.hints().slice(hinted)).toEqual([world.idOf(1)]);
    expect(events(1)).toEqual(['service_unavailable']);
    expect(world.entries(1).at(-1)).toMatchObject({
      at: 5 * MINUTE,
      kind: 'system',
      actor: { kind: 'system', reason: 'downtime' },
      periodFrom: 1 * MINUTE,
      periodTo: 4 * MINUTE,
    });
    expect(world.row(1).lastChangedAt).toBe(0);
    expect(events(2)).toEqual(['resolved Q']);
  });

  test('the severity level stays while a group is resolved, and is worked out anew when it opens', async () => {
    await world.tell({ fires: ['XC', 'X1'] });
    await world.command(1, { name: 'resolve', note: null }, BOB);
    await world.tell({ resolves: ['XC'] });
    expect(world.row(1).severityLevel).toBe('critical');
    await world.command(1, { name: 'unresolve' }, BOB);
    expect(world.row(1)).toMatchObject({ status: 'firing', severityLevel: 'warning' });
    expect(events(1)).not.toContain('severity_raised Q');
  });

  test('an Acknowledge that races the disabling of its caller is released again', async () => {
    await world.tell({ fires: ['X1'] });
    world.disable(ANN);
    expect(await world.command(1, ACKNOWLEDGE, ANN)).toEqual(DONE);
    expect(events(1)).toEqual(['acknowledged Q', 'unacknowledged L']);
    expect(world.entries(1).at(-1)).toMatchObject({
      actor: { kind: 'system', reason: 'owner_disabled' },
      previousOwner: { id: ANN.id },
    });
    expect(world.row(1)).toMatchObject({ status: 'firing', ownerId: null });
  });

  test('times of events never decrease', async () => {
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    await world.at(5);
    await world.command(1, ACKNOWLEDGE, ANN);
    const times = world.entries(1).map(({ at }) => formatInstant(at));
    expect(times).toEqual(['1970-01-01T00:10:00Z', '1970-01-01T00:10:00Z']);
  });
});
