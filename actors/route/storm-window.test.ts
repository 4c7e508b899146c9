import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { createStormWorld } from './storm.fixture.ts';
import { counted, packStarts, type Starts, unpackStarts } from './storm-window.ts';

const T: Micros = 1_791_020_467_000_000;

function countAll(instants: readonly Micros[], threshold: number) {
  let starts: Starts = [];
  return instants.map((at) => {
    const next = counted(starts, at, threshold);
    starts = next.starts;
    return next;
  });
}

describe('the window', () => {
  test('exceeds strictly above the threshold, until its oldest instant is 60 s old', () => {
    const [, , third] = countAll([T, T + SECOND, T + 2 * SECOND], 3);
    expect(third?.exceedsUntil).toBeNull();
    const [, , above] = countAll([T, T + SECOND, T + 2 * SECOND], 2);
    expect(above?.exceedsUntil).toBe(T + MINUTE);
  });

  test('is open at its old end: what is exactly 60 s old counts no more', () => {
    expect(countAll([T, T + MINUTE], 1)[1]?.exceedsUntil).toBeNull();
    expect(countAll([T, T + MINUTE - 1], 1)[1]?.exceedsUntil).toBe(T + MINUTE);
  });

  test('an instant before the newest one counts as that', () => {
    expect(countAll([T, T - SECOND], 1)[1]?.starts).toEqual([T, T]);
  });

  test('keeps one instant more than the threshold, and 100,000 fit into a row', () => {
    let starts: Starts = [];
    for (let index = 0; index < 40; index++) ({ starts } = counted(starts, T + index, 5));
    expect(starts).toEqual([34, 35, 36, 37, 38, 39].map((index) => T + index));
    const many = Array.from({ length: 100_001 }, (_, index) => T + index * 599);
    const packed = packStarts(many);
    expect(packed.length).toBeLessThan(500_000);
    expect(unpackStarts(packed)).toEqual(many);
  });

  test('any instants survive their packing', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 * MINUTE })), (gaps) => {
        let at = T;
        const starts = gaps.map((gap) => {
          at += gap;
          return at;
        });
        expect(unpackStarts(packStarts(starts))).toEqual(starts);
      }),
    );
  });
});

interface NaiveStorm {
  readonly since: Micros;
  readonly groupCount: number;
  readonly endedAt: Micros;
}

/** c(t), from all instants that ever were. */
function c(instants: readonly Micros[], t: Micros): number {
  return instants.filter((at) => at > t - MINUTE && at <= t).length;
}

/** The rule as it is written: every instant at which c could change is looked at. */
function naiveStorms(instants: readonly Micros[], threshold: number): NaiveStorm[] {
  const calmAt = (t: Micros) => c(instants, t) <= threshold;
  const changes = [...new Set(instants.flatMap((at) => [at, at + MINUTE]))].sort((a, b) => a - b);
  const storms: NaiveStorm[] = [];
  for (const since of new Set(instants)) {
    const last = storms.at(-1);
    if (last && since <= last.endedAt) continue;
    // Of several at one instant the one that makes c exceed the threshold starts it.
    if (calmAt(since)) continue;
    const endedAt = changes
      .map((change) => change + 5 * MINUTE)
      .find((end) => {
        const from = end - 5 * MINUTE;
        const looked = [from, ...changes.filter((change) => change > from && change <= end)];
        return from > since && looked.every(calmAt);
      });
    if (endedAt === undefined) throw new Error('every Storm ends');
    const before = instants.filter((at) => at < since).length;
    const alike = instants.filter((at) => at === since).length;
    const surplus = c(instants, since) - threshold;
    const ended = instants.filter((at) => at <= endedAt).length;
    storms.push({ since, endedAt, groupCount: ended - before - Math.max(0, alike - surplus) });
  }
  return storms;
}

test('Storms begin and end when a model says that remembers everything', async () => {
  const gap = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 }) },
    { weight: 2, arbitrary: fc.integer({ min: 55, max: 65 }) },
    { weight: 1, arbitrary: fc.integer({ min: 290, max: 430 }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(gap, { maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (gaps, threshold, late) => {
        let at = T;
        const instants = gaps.map((seconds) => {
          at += seconds * SECOND;
          return at;
        });
        const world = createStormWorld(threshold);
        for (const instant of instants) await world.created(instant, { late });
        await world.runTo(at + 60 * MINUTE);
        expect(
          world.storms.map(({ since, endedAt, groupCount }) => ({ since, endedAt, groupCount })),
        ).toEqual(naiveStorms(instants, threshold));
        expect([world.held(), world.wakeAt()]).toEqual([0, null]);
      },
    ),
    { numRuns: 150 },
  );
});
