/** The scenarios of alert-groups §11 about Grace periods, and Alerts that come from other groups. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { AlertReport } from '../../model.ts';
import { slotFor } from '../../route/evaluate.ts';
import type { SnapshotPart } from '../messages.ts';
import {
  ACKNOWLEDGE,
  CREATED,
  DONE,
  eventsAfterCreated,
  partOf,
  RESOLVE,
  refused,
  resolvesOf,
  UNRESOLVE,
} from '../scenarios.fixture.ts';
import { ANN, BOB, createWorld, DEFAULT_ROUTE, OTHER_ROUTE, ROUTE, SENDER } from '../world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

const events = (number: number) => eventsAfterCreated(world, number);

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
