import { describe, expect, test } from 'vitest';
import { until } from '../../test/harness/until.ts';
import type { Coordination } from '../placement/coordination.ts';
import { ann, beatOf, bob, lapse, targets, untilUp, useRedis } from './redis.fixture.ts';

const redis = useRedis();

describe('others are told', () => {
  const news: readonly [
    what: string,
    before: (place: Coordination) => Promise<unknown>,
    then: (place: Coordination) => Promise<unknown>,
  ][] = [
    ['that a member came', (place) => place.beat(beatOf(bob)), (place) => place.beat(beatOf(ann))],
    [
      'that a member drains',
      async (place) => {
        await place.beat(beatOf(bob));
        await place.beat(beatOf(ann));
      },
      (place) => place.beat(beatOf(ann, { isDraining: true })),
    ],
    [
      'that a Leader drains',
      (place) => place.beat(beatOf(ann)),
      (place) => place.beat(beatOf(ann, { isDraining: true })),
    ],
    ['that a member left', (place) => place.beat(beatOf(ann)), (place) => place.leave(ann)],
    [
      'of a new assignment',
      (place) => place.beat(beatOf(ann)),
      (place) => place.assign(ann, 0, targets('ann')),
    ],
    [
      'of grants taken back',
      (place) => place.beat(beatOf(ann, { holds: [1] })),
      (place) => place.release(ann, [1]),
    ],
    [
      'of a new Leader',
      async (place) => {
        await place.beat(beatOf(ann));
        await place.beat(beatOf(bob));
        await lapse(redis.server, ann);
      },
      (place) => place.beat(beatOf(bob)),
    ],
  ];

  test.each(news)('%s', async (_, before, then) => {
    const [own, others] = [(await redis.open()).coordination, await redis.open()];
    await before(own);
    let isTold = false;
    others.coordination.onChange(() => {
      isTold = true;
    });
    await untilUp(others);
    expect(isTold).toBe(false);
    await then(own);
    await until('the news', async () => isTold);
  });

  test('not of beats that change nothing, and not after they stopped listening', async () => {
    const own = await redis.open();
    const place = own.coordination;
    await place.beat(beatOf(ann));
    let calls = 0;
    const stop = place.onChange(() => calls++);
    let later = 0;
    own.signals.subscribe('later', () => later++);
    await untilUp(own);
    await place.beat(beatOf(ann, { holds: [1, 2] }));
    await place.beat(beatOf(ann));
    own.signals.publish('later', 'than the beats');
    await until('a later message', async () => later === 1);
    stop();
    await untilUp(own);
    await place.leave(ann);
    own.signals.publish('later', 'than leaving');
    await until('a later message', async () => later === 2);
    expect(calls).toBe(0);
  });
});
