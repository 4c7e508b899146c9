import { describe, expect, test } from 'vitest';
import { begin, step } from '../../runtime/actor/index.ts';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import { CALM_AFTER, type RouteEvent, routeMachine } from './machine.ts';

const T = 1_791_020_467_000_000;

const created = (seconds: number, exceedsUntil: number | null, urgent = false): RouteEvent => ({
  type: 'group_created',
  at: T + seconds * SECOND,
  urgent,
  exceedsUntil: exceedsUntil === null ? null : T + exceedsUntil * SECOND,
});
const STARTS = created(10, 60);
const END = T + MINUTE + CALM_AFTER;
const DELETED: RouteEvent = { type: 'deleted', at: T + 20 * SECOND };

/** Where events lead from the start, and what the last one told. */
function follow(events: readonly RouteEvent[]) {
  let snapshot = begin(routeMachine);
  let told: string[] = [];
  for (const event of events) {
    const next = step(routeMachine, snapshot, event);
    snapshot = next.snapshot;
    told = next.emitted.map((one) => one.type);
  }
  return { state: snapshot.value, told, ...snapshot.context };
}

describe('every transition', () => {
  const calm = { state: 'calm', since: null, calmFrom: null, groupCount: 0, urgentCount: 0 };
  test.each<[string, readonly RouteEvent[], object]>([
    ['starts calm', [], calm],
    ['at or below the threshold nothing is held', [created(1, null)], { ...calm, told: [] }],
    [
      'the one above the threshold starts a Storm and is held',
      [STARTS],
      { state: 'storm', told: ['storm_started', 'group_held'], since: T + 10 * SECOND, groupCount: 1 },
    ],
    [
      'an Urgent one starts a Storm and is not held',
      [created(10, 60, true)],
      { state: 'storm', told: ['storm_started'], groupCount: 1, urgentCount: 1 },
    ],
    [
      'later ones are held, at or below the threshold, too',
      [STARTS, created(90, null)],
      { state: 'storm', told: ['group_held'], groupCount: 2, calmFrom: T + MINUTE },
    ],
    ['later Urgent ones are not', [STARTS, created(90, null, true)], { told: [], urgentCount: 1 }],
    ['exceeding again moves the end', [STARTS, created(30, 80)], { calmFrom: T + 80 * SECOND }],
    ['never to an earlier one', [STARTS, created(30, 50)], { calmFrom: T + 60 * SECOND }],
    [
      'a held one that became Urgent is counted as such',
      [STARTS, { type: 'group_unheld', becameUrgent: true }],
      { state: 'storm', groupCount: 1, urgentCount: 1 },
    ],
    [
      'a held one that was moved away is not',
      [STARTS, { type: 'group_unheld', becameUrgent: false }],
      { state: 'storm', urgentCount: 0 },
    ],
    [
      'does not end before 300 s of calm',
      [STARTS, { type: 'calm_reached', at: END - 1 }],
      { state: 'storm', told: [] },
    ],
    [
      'ends after 300 s of calm',
      [STARTS, { type: 'calm_reached', at: END }],
      { ...calm, told: ['storm_ended'] },
    ],
    ['ends with the deletion of the Route', [STARTS, DELETED], { state: 'deleted', told: ['storm_ended'] }],
    ['a deletion in calm ends nothing', [DELETED], { state: 'deleted', told: [] }],
    ['nothing follows a deletion', [DELETED, STARTS], { state: 'deleted', told: [] }],
  ])('%s', (_, events, expected) => {
    expect(follow(events)).toMatchObject(expected);
  });

  test('the end tells what the Storm was', () => {
    const { snapshot } = step(routeMachine, begin(routeMachine), STARTS);
    const { emitted } = step(routeMachine, snapshot, { type: 'calm_reached', at: END });
    expect(emitted).toEqual([
      {
        type: 'storm_ended',
        storm: { since: T + 10 * SECOND, groupCount: 1, urgentCount: 0 },
        at: END,
      },
    ]);
  });
});
