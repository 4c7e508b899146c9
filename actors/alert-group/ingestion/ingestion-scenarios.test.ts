/** The scenarios of alert-groups §11 about what senders say. Minutes are virtual. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import { ACKNOWLEDGE, CREATED, eventsAfterCreated, snooze } from '../scenarios.fixture.ts';
import { ANN, createWorld, OTHER_SENDER, SENDER, type Telling } from '../world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

const events = (number: number) => eventsAfterCreated(world, number);

describe('ingestion', () => {
  test('1 Alerts of one Snapshot and key create one Alert Group', async () => {
    await world.tell({ fires: ['X1', 'X2'] });
    expect(world.events(1)).toEqual([CREATED]);
    expect(world.row(1)).toMatchObject({
      status: 'firing',
      title: 'X',
      firingAlertCount: 2,
      resolvedAlertCount: 0,
      severityLevel: 'warning',
      commonLabels: { alertname: 'X', cluster: 'a', severity: 'warning' },
    });
    expect(world.entries(1)[0]).toMatchObject({
      fingerprints: ['X1', 'X2'],
      fromStatus: null,
      actor: { reason: 'alert' },
    });
  });

  test('2 another key is another Alert Group', async () => {
    await world.tell({ fires: ['X1', 'Xb'] });
    expect([world.events(1), world.events(2)]).toEqual([[CREATED], [CREATED]]);
  });

  test('3 a later Alert joins, Loud while firing', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(2);
    await world.tell({ fires: ['X2'] });
    expect(events(1)).toEqual(['alerts_added L [new_alerts]']);
  });

  test('4 and Quiet while acknowledged', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.tell({ fires: ['X2'] });
    expect(events(1)).toEqual(['acknowledged Q', 'alerts_added Q']);
    expect(world.row(1)).toMatchObject({ status: 'acknowledged', ownerId: ANN.id });
  });

  test('5 the end of a Snooze names the Alerts that joined and still fire', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.command(1, snooze(30), ANN);
    await world.at(5);
    await world.tell({ fires: ['X2'] });
    await world.at(6);
    await world.tell({ fires: ['X3'], resolves: ['X1'] });
    await world.at(30);
    expect(events(1)).toEqual([
      'snoozed Q',
      'alerts_added Q',
      'alerts_added Q',
      'alert_resolved Q',
      'snooze_ended L [snooze_ended]',
    ]);
    expect(world.entries(1).at(-1)).toMatchObject({ fingerprints: ['X2', 'X3'], toStatus: 'firing' });
    expect(world.row(1)).toMatchObject({ status: 'firing', ownerId: null });
  });

  test('6 another instance replaces', async () => {
    await world.tell({ fires: ['P1'] });
    await world.tell({ fires: ['P2'], resolves: ['P1'] });
    expect(events(1)).toEqual(['alert_replaced Q', 'alert_resolved Q']);
    expect(world.row(1)).toMatchObject({ status: 'firing', replacedLabel: 'pod' });
  });

  test('7 a Continuation is Quiet', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(2);
    await world.tell({ fires: ['X1'], newStart: true });
    expect(events(1)).toEqual(['acknowledged Q', 'alert_continued Q']);
    expect(world.alert(1, 'X1')).toMatchObject({ startsAt: 2 * MINUTE });
  });

  test('8 the summary is that of an Alert that fires', async () => {
    const steps: Telling[] = [
      { fires: ['X1'] },
      { fires: ['X1'], annotations: { summary: 's' } },
      { fires: ['X1'], annotations: { summary: 'z' } },
      { fires: ['X2'], annotations: { summary: 'y' } },
      { resolves: ['X1'] },
      { resolves: ['X2'] },
      { fires: ['X1'], annotations: { summary: 'z' } },
    ];
    const shown: (string | null)[] = [];
    for (const [minute, step] of steps.entries()) {
      await world.at(minute);
      await world.tell(step);
      shown.push(world.row(1).summary);
    }
    expect(shown).toEqual([null, 's', 'z', 'z', 'y', 'y', 'z']);
    expect(events(1)).toEqual([
      'annotations_changed Q',
      'annotations_changed Q',
      'alerts_added L [new_alerts]',
      'alert_resolved Q',
      'resolved Q',
      'reopened L [reopen]',
    ]);
  });

  test('9 the last resolutions are one resolved', async () => {
    await world.tell({ fires: ['X1', 'X2'] });
    await world.at(3);
    await world.tell({ resolves: ['X1', 'X2'] });
    expect(events(1)).toEqual(['resolved Q']);
    expect(world.entries(1).at(-1)).toMatchObject({ fingerprints: ['X1', 'X2'], reason: 'resolved' });
    expect(world.row(1)).toMatchObject({ resolvedBy: 'system', resolveReason: 'resolved' });
  });

  test('10 an Alert that goes missing is gone', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.tell({ missed: ['X1'] });
    expect(world.row(1).status).toBe('firing');
    await world.at(6);
    await world.tell({ gone: ['X1'] });
    expect(events(1)).toEqual(['resolved Q']);
    expect(world.row(1).resolveReason).toBe('gone');
  });

  test('11 or stale', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(15);
    await world.tell({ stale: ['X1'] });
    expect(world.row(1)).toMatchObject({ status: 'resolved', resolveReason: 'stale' });
  });

  test('12 deleting an Integration resolves its Alerts only', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X2'], integration: OTHER_SENDER });
    await world.at(1);
    const deleted = { type: 'integration_deleted', name: 'lab', at: MINUTE } as const;
    await world.send(1, { ...deleted, integrationId: SENDER });
    expect(world.row(1).status).toBe('firing');
    await world.send(1, { ...deleted, integrationId: OTHER_SENDER });
    expect(events(1)).toEqual(['alerts_added L [new_alerts]', 'alert_resolved Q', 'resolved Q']);
    expect(world.entries(1).at(-1)).toMatchObject({ reason: 'integration_deleted' });
    expect(world.row(1).integrationIds).toEqual([SENDER, OTHER_SENDER]);
  });
});

describe('Reopen', () => {
  test('13 within the window by any Alert of the key', async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    await world.at(13);
    await world.tell({ fires: ['X2'] });
    expect(events(1)).toEqual(['resolved Q', 'reopened L [reopen]']);
    expect(world.row(1)).toMatchObject({ status: 'firing', reopenCount: 1, number: 1 });
  });

  test('14 the window is half-open', async () => {
    for (const [minute, groups] of [
      [20, 2],
      [20 - 1 / 60, 1],
    ] as const) {
      world = createWorld();
      await world.tell({ fires: ['X1'] });
      await world.at(5);
      await world.tell({ resolves: ['X1'] });
      await world.at(minute);
      await world.tell({ fires: ['X1'] });
      expect(world.count()).toBe(groups);
    }
  });

  test('15 returns to the Owner', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    expect(world.entries(1).at(-1)).toMatchObject({ previousOwner: { id: ANN.id }, owner: null });
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['acknowledged Q', 'resolved Q', 'reopened L [owner]']);
    expect(world.row(1)).toMatchObject({ status: 'acknowledged', ownerId: ANN.id });
  });

  test('16 returns to the Snooze, which ends when it was to end', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(60), ANN);
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(world.row(1)).toMatchObject({ status: 'snoozed', snoozeUntil: 60 * MINUTE, snoozedBy: ANN });
    await world.at(60);
    expect(events(1)).toEqual(['snoozed Q', 'resolved Q', 'reopened Q', 'snooze_ended L [snooze_ended]']);
    expect(world.entries(1).at(-1)).toMatchObject({ fingerprints: ['X1'] });
  });

  test('17 not to one that is over', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(8), ANN);
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['snoozed Q', 'resolved Q', 'reopened L [reopen]']);
  });

  test('18 not to an Owner who was disabled in between', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    await world.send(1, { type: 'owner_released', userId: ANN.id, reason: 'owner_disabled' });
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(events(1)).toEqual(['acknowledged Q', 'resolved Q', 'reopened L [reopen]']);
    expect(world.row(1)).toMatchObject({ status: 'firing', ownerId: null });
  });

  test('18 nor to one who is disabled when the release has not arrived yet', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, ACKNOWLEDGE, ANN);
    await world.tell({ resolves: ['X1'] });
    world.disable(ANN);
    await world.at(10);
    await world.tell({ fires: ['X1'] });
    expect(events(1).at(-1)).toBe('reopened L [reopen]');
  });

  test('19 a Snooze set before anything was Urgent does not hide a critical Alert', async () => {
    await world.tell({ fires: ['X1'] });
    await world.command(1, snooze(null), ANN);
    await world.tell({ resolves: ['X1'] });
    await world.at(10);
    await world.tell({ fires: ['XC'] });
    expect(events(1)).toEqual([
      'snoozed Q',
      'resolved Q',
      'reopened Q',
      'urgency_raised L [owner, rise_to_urgent]',
    ]);
    expect(world.row(1).status).toBe('firing');
  });
});
