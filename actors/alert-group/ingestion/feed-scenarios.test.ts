/** What an Alert Group and the feeds of its Alerts tell each other. */
import { beforeEach, describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { slotFor } from '../../route/evaluate.ts';
import type { SnapshotPart } from '../messages.ts';
import { eventsAfterCreated, partOf, resolvesOf } from '../scenarios.fixture.ts';
import { createWorld, ROUTE, SENDER } from '../world.fixture.ts';

let world: ReturnType<typeof createWorld>;
beforeEach(() => {
  world = createWorld();
});

const events = (number: number) => eventsAfterCreated(world, number);

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

test('an absence that arrives after a newer listing of the same feed ends nothing', async () => {
  await world.tell({ fires: ['X1'] });
  await world.at(10);
  await world.tell({ fires: ['X1'], annotations: { summary: 'new' } });
  for (const state of ['missed', 'gone', 'stale'] as const) {
    await world.send(1, partOf(9, { presences: [{ fingerprint: 'X1', state, since: 9 * MINUTE }] }));
    expect(world.alert(1, 'X1')).toMatchObject({
      state: 'firing',
      feeds: { [`${SENDER}.G`]: { state: 'listed' } },
    });
  }
  await world.send(1, partOf(16, { presences: [{ fingerprint: 'X1', state: 'gone', since: 16 * MINUTE }] }));
  expect(world.alert(1, 'X1')).toMatchObject({ state: 'resolved', resolvedBy: 'gone' });
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
