import { expect, it } from 'vitest';
import { begin, persistSnapshot, restoreSnapshot, step } from '../../runtime/actor/index.ts';
import { migrateFeed } from './actor.ts';
import { type FeedState, feedMachine } from './machine.ts';
import { createTellSample } from './turn.ts';

const NOTHING = {
  ...{ windowStart: 7, windowTruncated: false, digest: null, openedBy: null, verifiedAt: null },
  ...{ namedEnds: [], endsElsewhere: [] },
};

/** A feed as it was stored by an earlier version: without what came later. */
function stored(context: object): object {
  return { ...(persistSnapshot(feedMachine, begin(feedMachine)) as object), context };
}

it.each([
  [1, { windowStart: 7, windowTruncated: false, digest: null }],
  [2, { windowStart: 7, windowTruncated: false, digest: null, verifiedAt: null }],
  [3, { windowStart: 7, windowTruncated: false, digest: null, verifiedAt: null, openedBy: null }],
])(
  'a feed of schema %d verifies with its next window what it relies on, learns from the one after, and knows no ends',
  (from, context) => {
    const restored = restoreSnapshot(feedMachine, migrateFeed(stored(context), from));
    expect(restored.context).toEqual(NOTHING);
  },
);

it('what a feed of this schema remembers of its repeats may be absent, and ends before its window', () => {
  const older = { ...NOTHING, windowStart: 900 };
  expect(restoreSnapshot(feedMachine, stored(older)).context.repeatGap).toBeUndefined();
  const gap = { from: 100, to: 500 };
  const kept = restoreSnapshot(feedMachine, stored({ ...older, repeatGap: gap })) as FeedState;
  const after = step(feedMachine, kept, {
    ...{ type: 'snapshot', receivedAt: 1_300, duplicateWindow: 1, replayed: false, alertSet: 'set' },
    ...{ reason: 'repeat interval elapsed', truncated: false, complete: true, digest: null, verified: false },
    ...{ ends: [], isPresent: () => true },
  }).snapshot;
  expect(after.context.repeatGap).toEqual({ from: 900, to: 1_300 });
  const tellSample = createTellSample();
  expect(tellSample('NT0000000000AB.abc', kept, after, '{}:{}')).toEqual([]);
});

it('no other schema was ever stored', () => {
  expect(() => migrateFeed({}, 0)).toThrow('schema 0');
});
