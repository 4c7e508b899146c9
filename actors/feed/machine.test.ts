/** Every transition of the feed's statechart, as a table. */
import { describe, expect, it } from 'vitest';
import { begin, step } from '../../runtime/actor/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import {
  type FeedEvent,
  type FeedState,
  feedMachine,
  MOST_NAMED_ENDS,
  type NamedEnd,
  type SnapshotHeard,
} from './machine.ts';

const W = 1_000 * SECOND;
const snapshot = (at: number, given: Partial<SnapshotHeard> = {}): SnapshotHeard => ({
  type: 'snapshot',
  receivedAt: W + at * SECOND,
  duplicateWindow: 45 * SECOND,
  replayed: false,
  alertSet: 'set',
  reason: null,
  truncated: false,
  complete: true,
  digest: 'next',
  verified: false,
  ends: [],
  isPresent: () => true,
  ...given,
});

const having = (...events: FeedEvent[]): FeedState =>
  events.reduce((state, event) => step(feedMachine, state, event).snapshot, begin(feedMachine));

const STATES = {
  unknown: () => having(),
  steady: () => having(snapshot(0, { digest: 'first' })),
  moving: () => having(snapshot(0, { digest: 'first', complete: false })),
  truncated: () => having(snapshot(0, { digest: 'first', truncated: true })),
} as const;
type Name = keyof typeof STATES;

const started: Name[] = ['steady', 'moving', 'truncated'];

describe('the feed', () => {
  it.each(Object.keys(STATES) as Name[])('is %s', (name) => {
    expect(STATES[name]().value).toBe(name);
  });

  it.each<[string, SnapshotHeard, Name, number]>([
    ['a complete Snapshot', snapshot(60), 'steady', 60],
    ['an incomplete one', snapshot(60, { complete: false }), 'moving', 60],
    ['a truncated one', snapshot(60, { truncated: true, complete: false }), 'truncated', 60],
    ['a complete one of the same window', snapshot(44), 'steady', 0],
    ['an incomplete one of the same window', snapshot(44, { complete: false }), 'moving', 0],
    ['the first of the next window', snapshot(45), 'steady', 45],
  ])('after %s', (_, event, next, windowStart) => {
    for (const name of started) {
      const { value, context } = step(feedMachine, STATES[name](), event).snapshot;
      expect([name, value, context.windowStart, context.digest]).toEqual([
        name,
        next,
        W + windowStart * SECOND,
        'next',
      ]);
    }
  });

  it.each(started)('stays %s after an early Snapshot, and will compare the next one', (name) => {
    const { value, context } = step(feedMachine, STATES[name](), snapshot(-44)).snapshot;
    expect([value, context.windowStart, context.digest]).toEqual([name, W, null]);
  });

  it.each(started)('is left as it is, %s, by a late Snapshot', (name) => {
    const before = STATES[name]();
    const { value, context } = step(feedMachine, before, snapshot(-45, { truncated: true })).snapshot;
    expect([value, context]).toEqual([before.value, before.context]);
  });

  it.each<[Name, Name]>([
    ['unknown', 'unknown'],
    ['steady', 'moving'],
    ['moving', 'moving'],
    ['truncated', 'truncated'],
  ])('that was %s is %s once Alerts ended', (name, next) => {
    const { value, context } = step(feedMachine, STATES[name](), { type: 'ended', ends: [] }).snapshot;
    expect([value, context.digest]).toEqual([next, null]);
  });

  it('remembers when Alerts were verified last, by the window that began with it', () => {
    const verified = having(snapshot(0, { verified: true }), snapshot(10, { verified: true }), snapshot(60));
    expect(verified.context.verifiedAt).toBe(W);
  });

  it('remembers through a window that one of its Snapshots was cut', () => {
    const cut = having(snapshot(0), snapshot(10, { truncated: true }), snapshot(20));
    expect(cut.context.windowTruncated).toBe(true);
    expect(step(feedMachine, cut, snapshot(60)).snapshot.context.windowTruncated).toBe(false);
  });
});

describe('the ends that a feed remembers', () => {
  const ends = (...named: NamedEnd[]) => ({ ends: named });

  it('are one for each Alert with its newest start, the last named last; late ones are not among them', () => {
    const { context } = having(
      snapshot(0, ends(['A', 7], ['B', 5])),
      snapshot(-1, ends(['A', 3], ['C', 1])),
      snapshot(60, { ...ends(['D', 9]), truncated: true }),
      snapshot(61, { ...ends(['E', 9]), replayed: true }),
    );
    expect(context.namedEnds).toEqual([
      ['B', 5],
      ['A', 7],
      ['C', 1],
      ['D', 9],
    ]);
  });

  it('are also those elsewhere of what was present, until it is present again', () => {
    const state = having(snapshot(0), { type: 'ended', ...ends(['A', 7], ['B', 5]) });
    expect([state.value, state.context.endsElsewhere]).toEqual([
      'moving',
      [
        ['A', 7],
        ['B', 5],
      ],
    ]);
    const isPresent = (fingerprint: string) => fingerprint === 'A';
    const { context } = step(feedMachine, state, snapshot(60, { isPresent })).snapshot;
    expect(context.endsElsewhere).toEqual([['B', 5]]);
  });

  it('are bounded: the first named are forgotten', () => {
    const many = Array.from({ length: MOST_NAMED_ENDS + 2 }, (_, index): NamedEnd => [`N${index}`, index]);
    const { namedEnds } = having(snapshot(0, ends(...many))).context;
    expect(namedEnds).toHaveLength(MOST_NAMED_ENDS);
    expect(namedEnds[0]).toEqual(['N2', 2]);
  });
});
