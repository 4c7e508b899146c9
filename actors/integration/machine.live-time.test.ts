import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Gap, instantBefore, liveTimeBetween, MOST_GAPS, withGap, withOutages } from './machine.ts';

const TIMEOUT = 300;

/** What the actor keeps of these signals: it never ends, and what is longer than the timeout. */
function gapsOf(signals: readonly number[]): readonly Gap[] {
  let gaps: readonly Gap[] = [];
  let last: number | null = null;
  for (const at of signals) {
    if (last === null) gaps = withGap(gaps, { from: 0, to: at });
    else if (at - last > TIMEOUT) gaps = withGap(gaps, { from: last, to: at });
    last = at;
  }
  return gaps;
}

/** The definition, second by second. */
function counted(signals: readonly number[], from: number, to: number): number {
  const last = signals.at(-1) ?? 0;
  let live = 0;
  for (let second = from; second < to; second++) {
    const next = signals.find((at) => at > second);
    const before = signals.findLast((at) => at <= second);
    if (before === undefined) continue;
    if (next === undefined ? second < last + TIMEOUT : next - before <= TIMEOUT) live += 1;
  }
  return live;
}

/** Instants from the steps between them. */
function instants(steps: readonly number[]): number[] {
  let at = 0;
  return steps.map((step) => {
    at += step;
    return at;
  });
}

const signalling = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 }).map(instants);

const history = signalling.chain((signals) => {
  const last = signals.at(-1) ?? 0;
  return fc.record({
    signals: fc.constant(signals),
    since: fc.integer({ min: 0, max: last }),
    now: fc.integer({ min: last, max: last + TIMEOUT }),
  });
});

/** The same at any instant, not only now. */
const past = signalling.chain((signals) =>
  fc
    .tuple(fc.integer({ min: 0, max: (signals.at(-1) ?? 0) + TIMEOUT }), fc.nat(7_000))
    .map(([end, ago]) => ({ signals, end, since: Math.max(0, end - ago) })),
);

describe('live time', () => {
  it('is the time between signals that are close enough, and since the last one', () => {
    fc.assert(
      fc.property(history, ({ signals, since, now }) => {
        expect(liveTimeBetween(gapsOf(signals), since, now)).toBe(counted(signals, since, now));
      }),
    );
  });

  it('tells of every instant before its answer, and of no other, that more has passed', () => {
    fc.assert(
      fc.property(past, fc.integer({ min: 0, max: 3_000 }), ({ signals, since, end }, span) => {
        const gaps = gapsOf(signals);
        const instant = instantBefore(gaps, end, span);
        const hasPassed = liveTimeBetween(gaps, since, end) > span;
        expect(instant !== null && since < instant).toBe(hasPassed);
      }),
    );
  });

  it('stays bounded, and is never made longer by that', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: MOST_GAPS + 1, maxLength: 3 * MOST_GAPS }),
        fc.integer({ min: 0, max: 30_000 }),
        (steps, since) => {
          const signals = instants(steps.map((step) => TIMEOUT + step));
          const gaps = gapsOf(signals);
          const now = signals.at(-1) ?? 0;
          expect(gaps.length).toBe(MOST_GAPS);
          const from = Math.min(since, now);
          expect(liveTimeBetween(gaps, from, now)).toBeLessThanOrEqual(counted(signals, from, now));
        },
      ),
      { numRuns: 20 },
    );
  });

  it('has not begun before the first signal', () => {
    expect(instantBefore([{ from: 0, to: 100 }], 200, 100)).toBeNull();
    expect(instantBefore([{ from: 0, to: 100 }], 200, 99)).toBe(101);
  });
});

it('leaves outages out once, wherever they lie beside the gaps', () => {
  const gaps = [
    { from: 0, to: 100 },
    { from: 500, to: 900 },
  ];
  const outages = [
    { from: 50, to: 60 },
    { from: 450, to: 600 },
    { from: 900, to: 950 },
    { from: 960, to: 970 },
  ];
  const all = withOutages(gaps, outages);
  expect(all).toEqual([
    { from: 0, to: 100 },
    { from: 450, to: 950 },
    { from: 960, to: 970 },
  ]);
  expect(liveTimeBetween(all, 100, 1_000)).toBe(350 + 10 + 30);
});
