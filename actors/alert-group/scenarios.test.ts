/** The scenarios of the Alert Group chapter §11 that need neither notices nor delivery. Minutes are virtual. */
import { beforeEach, describe, expect, test } from 'vitest';
import { formatInstant, MINUTE, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertReport } from '../model.ts';
import { slotFor } from '../route/group-key.ts';
import { ON_CALL_POLICY } from '../route/profiles.ts';
import type { Command, SnapshotPart } from './messages.ts';
import {
  ANN,
  BOB,
  createWorld,
  DEFAULT_ROUTE,
  OTHER_ROUTE,
  OTHER_SENDER,
  ROB,
  ROUTE,
  SENDER,
} from './world.fixture.ts';

const ACKNOWLEDGE: Command = { name: 'acknowledge' };
const UNRESOLVE: Command = { name: 'unresolve' };
const RESOLVE: Command = { name: 'resolve', note: null };
const CREATED = 'created L [new_alert_group]';
const DONE = { outcome: 'done' };
const refused = (code: string, related: unknown = null) => ({ outcome: 'refused', code, related });
const snooze = (minute: number | null): Command => ({
  name: 'snooze',
  until: minute === null ? null : minute * MINUTE,
});

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

/** Events of a group after its `created`. */
const events = (number: number) => {
  const [first, ...rest] = world.events(number);
  expect(first).toBe(CREATED);
  return rest;
};

/** What a feed tells the group it told before, wherever the Alert is now. */
const partOf = (minute: number, said: Partial<SnapshotPart>): SnapshotPart => ({
  type: 'part',
  snapshotId: 'SS000000000000' as PublicId,
  receivedAt: minute * MINUTE,
  late: false,
  integrationId: SENDER,
  feed: `${SENDER}.G`,
  groupKey: 'G',
  duplicateWindow: 45 * SECOND,
  firing: [],
  resolved: [],
  groupWideResolved: [],
  presences: [],
  hops: 0,
  ...said,
});

const resolvesOf = (fingerprint: string, minute: number): SnapshotPart =>
  partOf(minute, { resolved: [{ fingerprint, startsAt: 0 }] });

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

  test('8 the first summary stays', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X1'], annotations: { summary: 's' } });
    await world.tell({ fires: ['X1'], annotations: { summary: 'z' } });
    expect(events(1)).toEqual(['annotations_changed Q', 'annotations_changed Q']);
    expect(world.row(1)).toMatchObject({ summary: 's', commonAnnotations: { summary: 'z' } });
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

describe('Grace period', () => {
  /** Row 20 up to the resolve. */
  const resolvedByBob = async () => {
    await world.tell({ fires: ['X1'] });
    await world.at(1);
    await world.command(1, RESOLVE, BOB);
  };

  test('20 tails start a new Alert Group at its end', async () => {
    await resolvedByBob();
    expect(world.row(1)).toMatchObject({ resolvedBy: 'user', firingAlertCount: 1, inGrace: true });
    await world.at(16);
    expect(events(1)).toEqual(['resolved Q']);
    expect(world.events(2)).toEqual([CREATED]);
    expect(world.entries(2)[0]).toMatchObject({ actor: { reason: 'grace_period_ended' } });
    expect(world.row(2)).toMatchObject({ firingAgainAfter: 1, firingAlertCount: 1 });
    expect(world.row(1)).toMatchObject({ firingAlertCount: 0, inGrace: false });
    expect(world.alert(1, 'X1')).toMatchObject({ resolvedBy: 'moved', movedTo: world.idOf(2) });
  });

  test('21 or join the one that a new Alert started', async () => {
    await resolvedByBob();
    await world.at(5);
    await world.tell({ fires: ['X2'] });
    expect(world.row(2)).toMatchObject({ firingAgainAfter: null, startedAt: 5 * MINUTE });
    await world.at(16);
    expect(events(2)).toEqual(['alerts_added L [new_alerts]']);
    expect(world.entries(2).at(-1)).toMatchObject({ fingerprints: ['X1'] });
  });

  test('22 Quiet while that one is acknowledged', async () => {
    await resolvedByBob();
    await world.at(5);
    await world.tell({ fires: ['X2'] });
    await world.at(6);
    await world.command(2, ACKNOWLEDGE, ANN);
    await world.at(16);
    expect(events(2)).toEqual(['acknowledged Q', 'alerts_added Q']);
  });

  test('23 or reopen it', async () => {
    await resolvedByBob();
    await world.at(3);
    await world.tell({ fires: ['X2'] });
    await world.at(4);
    await world.tell({ resolves: ['X2'] });
    await world.at(16);
    expect(events(2)).toEqual(['resolved Q', 'reopened L [reopen]']);
    expect(world.alert(2, 'X1')?.state).toBe('firing');
  });

  test('24 a tail that resolves first goes nowhere, and starts anew when it fires again', async () => {
    await resolvedByBob();
    await world.at(5);
    await world.tell({ resolves: ['X1'] });
    expect(events(1)).toEqual(['resolved Q', 'alert_resolved Q']);
    expect(world.row(1)).toMatchObject({ resolvedBy: 'user' });
    await world.at(6);
    await world.tell({ fires: ['X1'] });
    expect(world.events(2)).toEqual([CREATED]);
    await world.at(16);
    expect(world.count()).toBe(2);
  });

  test('25 a tail that continues stays a tail', async () => {
    await resolvedByBob();
    await world.at(5);
    await world.tell({ fires: ['X1'], newStart: true });
    expect(events(1)).toEqual(['resolved Q', 'alert_continued Q']);
    expect(world.count()).toBe(1);
    await world.at(16);
    expect(world.count()).toBe(2);
  });

  test('26 Unresolve ends it', async () => {
    await resolvedByBob();
    await world.at(5);
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(DONE);
    await world.at(16);
    expect(events(1)).toEqual(['resolved Q', 'unresolved Q']);
    expect(world.row(1)).toMatchObject({ status: 'firing', ownerId: null });
    expect(world.count()).toBe(1);
  });

  test('an Alert Group that is open again takes the new Alerts of its key, not the one that came after it', async () => {
    await resolvedByBob();
    await world.at(3);
    await world.tell({ fires: ['X2'] });
    await world.at(4);
    await world.tell({ resolves: ['X2'] });
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(DONE);
    await world.at(5);
    await world.tell({ fires: ['X3'] });
    expect(events(1)).toEqual(['resolved Q', 'unresolved Q', 'alerts_added L [new_alerts]']);
    expect(world.row(2).status).toBe('resolved');
  });

  test('tails of a later group go to the one that is open again', async () => {
    await resolvedByBob();
    await world.at(3);
    await world.tell({ fires: ['X2'] });
    await world.command(2, RESOLVE, BOB);
    await world.command(1, UNRESOLVE, ANN);
    await world.at(18);
    expect(world.alert(1, 'X2')?.state).toBe('firing');
    expect(world.count()).toBe(2);
  });

  test('27 Unresolve is refused in this order', async () => {
    await world.tell({ fires: ['X1'] });
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(refused('not_resolved'));
    await world.tell({ resolves: ['X1'] });
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(refused('resolved_automatically'));

    world = createWorld();
    await resolvedByBob();
    await world.at(5);
    await world.tell({ fires: ['X2'] });
    const newer = { id: world.idOf(2), number: 2 };
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(refused('newer_alert_group_exists', newer));
    world.route(ROUTE, { deleted: true });
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(refused('route_deleted'));

    world = createWorld();
    await resolvedByBob();
    await world.tell({ resolves: ['X1'] });
    expect(await world.command(1, UNRESOLVE, ANN)).toEqual(refused('all_alerts_resolved'));
  });

  test('tails of a deleted Route go to the Default route', async () => {
    await resolvedByBob();
    world.route(ROUTE, { deleted: true });
    await world.at(16);
    expect(world.row(2)).toMatchObject({ routeId: DEFAULT_ROUTE, firingAgainAfter: 1 });
  });

  test('tails are grouped by the Group key of now', async () => {
    await world.tell({ fires: ['X1', 'X2'] });
    await world.command(1, RESOLVE, BOB);
    world.route(ROUTE, { groupKey: ['alertname', 'n'] });
    await world.at(16);
    expect(world.row(2).groupLabels).toEqual({ alertname: 'X', n: '1' });
    expect(world.row(3).groupLabels).toEqual({ alertname: 'X', n: '2' });
  });

  test('what is said of a tail after it moved reaches its new home', async () => {
    await resolvedByBob();
    await world.at(16);
    await world.send(1, resolvesOf('X1', 17));
    expect(events(2)).toEqual(['resolved Q']);
  });

  test('however often it moved', async () => {
    await world.tell({ fires: ['X1'] });
    for (let number = 1; number <= 20; number++) {
      await world.command(number, RESOLVE, BOB);
      await world.at(16 * number);
    }
    await world.send(1, resolvesOf('X1', 400));
    expect(events(21)).toEqual(['resolved Q']);
  });
});

describe('an Alert whose first entry was passed on', () => {
  const PASSER = 'AG0000000000ZZ' as PublicId;
  const slot = (routeId: PublicId, labels: Record<string, string>) =>
    slotFor({ id: routeId, groupKey: ['alertname', 'cluster'] }, labels);

  /** The group that a feed was told to address hands the entry to the Alert Group #1, and keeps nothing. */
  const cases: [string, () => Promise<void>][] = [
    [
      'because another feed had it fire elsewhere first',
      async () => {
        await world.tell({ fires: ['X1'] });
        const report = world.alert(1, 'X1')?.report;
        if (!report) throw new Error('X1 does not fire');
        world.contest('X1');
        const entry = { report, slot: slot(OTHER_ROUTE, report.labels), history: null };
        await world.sendTo(PASSER, partOf(0, { feed: `${SENDER}.H`, groupKey: 'H', firing: [entry] }));
        await world.tell({ gone: ['X1'] });
      },
    ],
    [
      'because the Route was deleted meanwhile',
      async () => {
        const labels = { alertname: 'X', cluster: 'a' };
        const report = reportOf('X1', labels);
        world.route(OTHER_ROUTE, { deleted: true });
        const entry = { report, slot: slot(OTHER_ROUTE, labels), history: null };
        await world.sendTo(PASSER, partOf(0, { feed: `${SENDER}.H`, groupKey: 'H', firing: [entry] }));
      },
    ],
  ];

  describe.each(cases)('%s', (_, passOn) => {
    test.each<[string, Partial<SnapshotPart>, string]>([
      ['its own resolve', { resolved: [{ fingerprint: 'X1', startsAt: 0 }] }, 'resolved'],
      ['a group-wide resolve', { groupWideResolved: ['X1'] }, 'resolved'],
      ['absence', { presences: [{ fingerprint: 'X1', state: 'gone', since: 5 * MINUTE }] }, 'gone'],
    ])('is ended by %s', async (_name, said, reason) => {
      await passOn();
      expect(world.row(1).status).toBe('firing');
      await world.at(5);
      await world.sendTo(PASSER, partOf(5, { feed: `${SENDER}.H`, groupKey: 'H', ...said }));
      expect(world.row(1)).toMatchObject({ status: 'resolved', resolveReason: reason });
      expect(world.count()).toBe(1);
    });
  });

  const reportOf = (fingerprint: string, labels: Record<string, string>): AlertReport => ({
    fingerprint,
    labels,
    annotations: {},
    startsAt: 0,
    generatorUrl: null,
    severityLevel: 'warning',
    severityRaw: null,
    labelConflicts: [],
  });
});

describe('feeds are told that a firing ended', () => {
  const H = { feed: `${SENDER}.H`, groupKey: 'H' };

  test('with everything that was heard of them, also what came after the Snapshot that ends it, and nothing else', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X1'], feed: 'H' });
    await world.at(10);
    await world.tell({ fires: ['X1'], annotations: { summary: 'new' } });
    await world.send(1, { ...resolvesOf('X1', 10), ...H, receivedAt: 10 * MINUTE - SECOND });
    expect(world.row(1).status).toBe('resolved');
    expect(world.ended()).toEqual(['G X1 600', 'H X1 0']);
  });

  test('again when they miss it later', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X1'], feed: 'H' });
    await world.send(1, { ...resolvesOf('X1', 1), ...H });
    const missed = { fingerprint: 'X1', state: 'missed', since: 2 * MINUTE } as const;
    await world.send(1, partOf(2, { presences: [missed] }));
    expect(world.ended()).toEqual(['G X1 0', 'H X1 0', 'G X1 120']);
  });

  test('and a listing after that fires anew', async () => {
    await world.tell({ fires: ['X1'] });
    const report = world.alert(1, 'X1')?.report;
    if (!report) throw new Error('X1 does not fire');
    await world.tell({ missed: ['X1'], fires: ['X2'] });
    await world.send(1, { ...resolvesOf('X1', 1), ...H });
    await world.at(2);
    const slot = slotFor({ id: ROUTE, groupKey: ['alertname', 'cluster'] }, report.labels);
    await world.send(1, partOf(2, { firing: [{ report, slot, history: null }] }));
    expect(world.alert(1, 'X1')?.state).toBe('firing');
    expect(events(1)).toEqual([
      'alerts_added L [new_alerts]',
      'alert_resolved Q',
      'alerts_added L [new_alerts]',
    ]);
  });
});

describe('an ending older than a repeat that no group was told of', () => {
  const H = { feed: `${SENDER}.H`, groupKey: 'H' };

  test.each<[string, Partial<SnapshotPart>]>([
    ['a resolve of another feed', { ...H, resolved: [{ fingerprint: 'X1', startsAt: 0 }] }],
    ['a late resolve of the same feed', { late: true, resolved: [{ fingerprint: 'X1', startsAt: 0 }] }],
    ['a group-wide resolve of another feed', { ...H, groupWideResolved: ['X1'] }],
  ])('%s leaves the Alert firing', async (_, said) => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X1'], feed: 'H' });
    await world.at(10);
    world.repeat('G');
    await world.send(1, partOf(5, said));
    expect(world.row(1).status).toBe('firing');
    await world.send(1, partOf(11, said));
    expect(world.row(1).status).toBe('resolved');
  });

  test('does not matter when the repeating feed misses the Alert by now', async () => {
    await world.tell({ fires: ['X1'] });
    await world.tell({ fires: ['X1'], feed: 'H' });
    await world.at(10);
    await world.tell({ missed: ['X1'] });
    world.repeat('G');
    await world.send(1, partOf(5, { ...H, resolved: [{ fingerprint: 'X1', startsAt: 0 }] }));
    expect(world.row(1).status).toBe('resolved');
  });

  test('is looked up only when another feed lists the Alert', async () => {
    await world.tell({ fires: ['X1', 'X2'] });
    await world.tell({ fires: ['X2'], feed: 'H' });
    await world.tell({ fires: ['X3'], missed: ['X2'] });
    await world.tell({ resolves: ['X1'] });
    expect(world.feedsAsked()).toEqual([]);
    await world.tell({ resolves: ['X2'] });
    expect(world.feedsAsked()).toEqual([`${SENDER}.H`]);
  });
});

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
