import { expect, test } from 'vitest';
import { MINUTE } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { loadedFlight, newLine } from '../rows.ts';
import { wished } from './apply-event.ts';
import { type Delivery, newDelivery } from './delivery.ts';
import {
  forgetIdle,
  hold,
  knowsOf,
  MOST_WANTED,
  messageRows,
  PAGE_DELIVERIES,
  takeDeliveries,
  takeSubjects,
  wantedKeys,
  wantsDeliveries,
} from './rows.ts';

const T = 1_791_020_467_000_000;

function wanted(number: number, urgent = false): Delivery {
  const first = newDelivery({
    subject: { kind: 'group', groupId: `AG${number}` as PublicId },
    target: 1,
    connectionId: null,
    routeId: 'RT1' as PublicId,
    number,
    urgent,
    status: 'firing',
    changedAt: T,
    renewedAt: T,
  });
  return wished(first, 'judged_free', { loudness: 'loud', mentions: [] }, { now: T, isBroken: false });
}

function done(delivery: Delivery): Delivery {
  return { ...delivery, root: 'current', post: null };
}

test('what is to be done has a bound in memory; the rest waits in storage and is read as room comes', () => {
  const rows = messageRows({ deliveries: [], more: false });
  for (let number = 1; number <= MOST_WANTED + 3; number++) hold(rows, wanted(number), T);
  expect([wantedKeys(rows).length, rows.overflow, wantsDeliveries(rows)]).toEqual([MOST_WANTED, true, false]);
  const left = MOST_WANTED - PAGE_DELIVERIES + 1;
  for (let number = 1; number <= left; number++) hold(rows, done(wanted(number)), T);
  expect(wantsDeliveries(rows)).toBe(true);
  const parked = [1, 2, 3].map((more) => wanted(MOST_WANTED + more));
  takeDeliveries(rows, { deliveries: parked, more: false }, T);
  expect([wantedKeys(rows).length, wantsDeliveries(rows)]).toEqual([PAGE_DELIVERIES + 2, false]);
});

test('what is not needed any more is forgotten, but not before its commit shows in storage', () => {
  const rows = messageRows({ deliveries: [], more: false });
  for (let number = 1; number <= 3_000; number++) hold(rows, done(wanted(number)), T);
  forgetIdle(rows, T + 1);
  expect(rows.byKey.size).toBe(3_000);
  forgetIdle(rows, T + MINUTE);
  expect(rows.byKey.size).toBe(2_000);
});

test('what was looked for and is not there is known, until it was there and is forgotten', () => {
  const rows = messageRows({ deliveries: [], more: false });
  const { subject } = wanted(1);
  const knows = () => knowsOf(rows, subject, 1);
  expect(knows()).toBe(false);
  takeSubjects(rows, ['AG1', 'AG2'], [wanted(2)], T);
  expect(knows()).toBe(true);
  for (let number = 1; number <= 2_002; number++) hold(rows, done(wanted(number)), T);
  expect(knows()).toBe(true);
  forgetIdle(rows, T + MINUTE);
  expect(knows()).toBe(false);
});

/** As many as fit, and three more in storage. */
function crowded() {
  const rows = messageRows({ deliveries: [], more: false });
  for (let number = 1; number <= MOST_WANTED + 3; number++) hold(rows, wanted(number), T);
  return rows;
}

test('what is Urgent never waits in storage behind what is not', () => {
  const rows = crowded();
  hold(rows, wanted(99_999, true), T);
  expect(rows.agendas.get('')?.next(T)).toBe('AG99999/1');
});

test('what comes while others wait in storage goes behind them', () => {
  const rows = crowded();
  for (let number = 1; number <= 10; number++) hold(rows, done(wanted(number)), T);
  hold(rows, wanted(99_999), T);
  expect(wantedKeys(rows)).not.toContain('AG99999/1');
});

test('what was parked a moment ago is taken up, though a page was read before its commit', () => {
  const rows = crowded();
  for (let number = 1; number <= MOST_WANTED - PAGE_DELIVERIES + 1; number++)
    hold(rows, done(wanted(number)), T);
  const committed = [1, 2].map((more) => wanted(MOST_WANTED + more));
  takeDeliveries(rows, { deliveries: committed, more: false }, T);
  expect(wantedKeys(rows)).toContain(`AG${MOST_WANTED + 3}/1`);
  expect(rows.overflow).toBe(false);
});

test('events that wait take no room of messages, and messages in storage do not wait for them', () => {
  const rows = messageRows({ deliveries: [], more: true });
  const event = { id: 'e', sequence: 1, event: 'created', urgent: false, occurredAt: T, calls: 1 } as const;
  const line = (number: number): Delivery => ({
    ...newLine(`AG${number}` as PublicId),
    ...{ root: 'wanted', events: [event] },
  });
  for (let number = 1; number <= MOST_WANTED; number++) hold(rows, line(number), T);
  expect(wantsDeliveries(rows)).toBe(true);
  takeDeliveries(rows, { deliveries: [wanted(1)], more: false }, T);
  expect([rows.overflow, rows.idle.has('AG1/1')]).toEqual([false, false]);
  hold(rows, { ...line(1), root: 'publishing', call: loadedFlight(event, T) }, T);
  for (let number = 2; number <= MOST_WANTED; number++)
    hold(rows, { ...line(number), root: 'current', events: [] }, T);
  for (let number = 2; number <= PAGE_DELIVERIES; number++) hold(rows, wanted(number), T);
  rows.overflow = true;
  expect(wantsDeliveries(rows)).toBe(false);
  hold(rows, done(wanted(1)), T);
  expect(wantsDeliveries(rows)).toBe(true);
});

test('a delivery that changes again and again while nothing is sent takes no more room', () => {
  const rows = messageRows({ deliveries: [], more: false });
  for (let change = 1; change <= 1_000; change++) hold(rows, { ...wanted(1), changedAt: T + change }, T);
  expect(rows.agendas.get('')?.size).toBe(1);
  expect(rows.agendas.get('')?.room).toBeLessThan(100);
});
