import { describe, expect, test } from 'vitest';
import { begin, step } from '../../runtime/actor/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import { BROKEN_PROBE_INTERVAL, type DestinationEvent, destinationMachine } from './machine.ts';

const T = 1_791_020_467_000_000;
const BROKE: DestinationEvent = { type: 'broke', reason: 'answered 401', at: T };
const PROBING: DestinationEvent[] = [BROKE, { type: 'probe_started', probe: 'msg_1' }];
const FAILED: DestinationEvent = {
  type: 'probe_failed',
  reason: 'answered 503',
  at: T + SECOND,
  notBefore: 0,
};
const SAVED: DestinationEvent = { type: 'saved', at: T + 2 * SECOND };

/** Where events lead from the start, and what the last one told. */
function follow(events: readonly DestinationEvent[]) {
  let snapshot = begin(destinationMachine);
  let told: string[] = [];
  for (const event of events) {
    const next = step(destinationMachine, snapshot, event);
    snapshot = next.snapshot;
    told = next.emitted.map((one) => one.type);
  }
  return { state: snapshot.value, told, ...snapshot.context };
}

describe('every transition', () => {
  const waiting = { broken: 'waiting_for_probe' };
  const probing = { broken: 'probing' };
  test.each<[string, readonly DestinationEvent[], object]>([
    ['starts healthy', [], { state: 'healthy', since: null }],
    [
      'what a person started and saw succeed ends it',
      [BROKE, { type: 'worked', at: T + SECOND }],
      { state: 'healthy', told: ['destination_recovered'], since: null },
    ],
    [
      'also while a probe is under way',
      [...PROBING, { type: 'worked', at: T + SECOND }],
      { state: 'healthy', told: ['destination_recovered'], probe: null },
    ],
    ['a save changes nothing while healthy', [SAVED], { state: 'healthy', told: [] }],
    [
      'breaks, and is probed 5 minutes later',
      [BROKE],
      {
        state: waiting,
        told: ['destination_broken'],
        since: T,
        reason: 'answered 401',
        nextProbeAt: T + BROKEN_PROBE_INTERVAL,
      },
    ],
    [
      'a second failure only replaces the reason',
      [BROKE, { type: 'broke', reason: 'answered 403', at: T + SECOND }],
      { state: waiting, told: ['reason_replaced'], since: T, reason: 'answered 403' },
    ],
    ['a save makes the probe due', [BROKE, SAVED], { state: waiting, told: [], nextProbeAt: T + 2 * SECOND }],
    [
      'so does the first event that comes',
      [BROKE, { type: 'first_event', at: T + SECOND }],
      { state: waiting, told: [], nextProbeAt: T + SECOND },
    ],
    ['the probe is under way', PROBING, { state: probing, told: [], probe: 'msg_1', nextProbeAt: null }],
    [
      'a probe that succeeds recovers',
      [...PROBING, { type: 'probe_succeeded', at: T + SECOND }],
      { state: 'healthy', told: ['destination_recovered'], since: null, reason: null, probe: null },
    ],
    [
      'a probe that fails is repeated 5 minutes later',
      [...PROBING, FAILED],
      {
        state: waiting,
        told: ['reason_replaced'],
        reason: 'answered 503',
        nextProbeAt: T + SECOND + BROKEN_PROBE_INTERVAL,
      },
    ],
    [
      'or when the receiver asked for it, if that is later',
      [...PROBING, { ...FAILED, notBefore: T + 2 * BROKEN_PROBE_INTERVAL }],
      { state: waiting, nextProbeAt: T + 2 * BROKEN_PROBE_INTERVAL },
    ],
    [
      'or at once after a save meanwhile',
      [...PROBING, SAVED, { ...FAILED, at: T + 3 * SECOND }],
      { state: waiting, nextProbeAt: T + 3 * SECOND },
    ],
    [
      'a rejected probe makes the next one due',
      [...PROBING, { type: 'probe_rejected', at: T + SECOND }],
      { state: waiting, told: [], nextProbeAt: T + SECOND, reason: 'answered 401' },
    ],
    [
      'so does a lost one',
      [...PROBING, { type: 'probe_lost', at: T + SECOND }],
      { state: waiting, told: [], nextProbeAt: T + SECOND },
    ],
    ['is deleted while healthy', [{ type: 'deleted' }], { state: 'deleted' }],
    ['is deleted while Broken', [BROKE, { type: 'deleted' }], { state: 'deleted' }],
    ['is deleted while probing', [...PROBING, { type: 'deleted' }], { state: 'deleted' }],
    ['stays deleted', [{ type: 'deleted' }, BROKE, SAVED], { state: 'deleted', told: [] }],
  ])('%s', (_name, events, expected) => {
    expect(follow(events)).toMatchObject(expected);
  });
});

test('a reason has at most 1,000 characters', () => {
  const { reason } = follow([{ ...BROKE, reason: '🔥'.repeat(1001) }]);
  expect([...(reason ?? '')]).toHaveLength(1000);
});
