import { expect, it } from 'vitest';
import { begin, persistSnapshot, restoreSnapshot } from '../../runtime/actor/index.ts';
import { migrateFeed } from './actor.ts';
import { feedMachine } from './machine.ts';

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

it('no other schema was ever stored', () => {
  expect(() => migrateFeed({}, 0)).toThrow('schema 0');
});
