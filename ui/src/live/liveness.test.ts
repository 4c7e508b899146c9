import { describe, expect, it } from 'vitest';
import { createLiveness, msUntilOld } from './liveness.ts';

const START = 1_000_000;
const SECOND = 1_000;

/** Plays what happens at given seconds; time is looked at whenever something would be due. @returns since when it is old */
function play(
  ...steps: readonly (readonly [at: number, what?: 'bytes' | 'lost' | 'offline' | 'online' | 'refreshed'])[]
) {
  const liveness = createLiveness();
  liveness.trigger.started({ at: START });
  for (const [seconds, what] of steps) {
    const at = START + seconds * SECOND;
    liveness.trigger.looked({ at });
    if (what === 'offline' || what === 'online') liveness.trigger[what]();
    else if (what !== undefined) liveness.trigger[what]({ at });
  }
  const { staleSince } = liveness.getSnapshot().context;
  return staleSince === null ? null : (staleSince - START) / SECOND;
}

it('what came before this tab is old from then on, until it was read again', () => {
  const liveness = createLiveness();
  liveness.trigger.started({ at: START });
  liveness.trigger.kept({ at: START - 60 * SECOND });
  liveness.trigger.kept({ at: START - 40 * SECOND });
  const since = () => liveness.getSnapshot().context.staleSince;
  expect([since(), liveness.getSnapshot().context.isSilent]).toEqual([START - 60 * SECOND, true]);
  liveness.trigger.bytes({ at: START + SECOND });
  expect(since()).toBe(START - 60 * SECOND);
  liveness.trigger.refreshed({ at: START + 2 * SECOND });
  expect(since()).toBe(null);
});

describe('what a tab shows', () => {
  it.each([
    ['is live until 25 s passed without a byte', null, [[0], [10, 'bytes'], [34.9]]],
    ['is old from the last byte on', 10, [[0], [10, 'bytes'], [35]]],
    ['is old from the start on when no byte ever came', 0, [[25]]],
    ['is live while the service restarts', null, [[10, 'bytes'], [11, 'lost'], [14, 'bytes'], [30]]],
    ['is old 10 s after the stream was lost', 10, [[10, 'bytes'], [11, 'lost'], [21]]],
    ['is not rescued by losing the stream again', 10, [[10, 'bytes'], [11, 'lost'], [20, 'lost'], [21]]],
    [
      'is old at once when the browser is offline',
      10,
      [
        [10, 'bytes'],
        [12, 'offline'],
      ],
    ],
    ['stays old when bytes come, until it was read again', 10, [[10, 'bytes'], [40], [41, 'bytes'], [42]]],
    ['is live again after that', null, [[10, 'bytes'], [40], [41, 'bytes'], [43, 'refreshed']]],
    [
      'stays old when the stream fell silent while it was read',
      10,
      [[10, 'bytes'], [40], [41, 'bytes'], [70, 'refreshed']],
    ],
    [
      'stays old when reading it worked while the browser is offline',
      0,
      [
        [1, 'offline'],
        [2, 'refreshed'],
      ],
    ],
    ['is old from the last byte before the machine slept', 10, [[10, 'bytes'], [7_200]]],
    [
      'stays old after being online again, until it was read',
      10,
      [
        [10, 'bytes'],
        [12, 'offline'],
        [13, 'online'],
      ],
    ],
  ] as const)('%s', (_, since, steps) => {
    expect(play(...steps)).toBe(since);
  });

  it('keeps the earliest time since when it is old', () => {
    expect(play([10, 'bytes'], [40], [41, 'bytes'], [100])).toBe(10);
  });

  it('survives a clock that is set back: 25 s count from then', () => {
    const liveness = createLiveness();
    liveness.trigger.started({ at: START });
    const back = START - 3_600 * SECOND;
    liveness.trigger.looked({ at: back });
    expect(msUntilOld(liveness.getSnapshot().context, back)).toBe(25 * SECOND);
    liveness.trigger.looked({ at: back + 25 * SECOND });
    expect(liveness.getSnapshot().context.staleSince).toBe(back);
  });

  it('says when it must be looked at next', () => {
    const liveness = createLiveness();
    liveness.trigger.started({ at: START });
    expect(msUntilOld(liveness.getSnapshot().context, START + 5 * SECOND)).toBe(20 * SECOND);
    liveness.trigger.lost({ at: START + 5 * SECOND });
    expect(msUntilOld(liveness.getSnapshot().context, START + 5 * SECOND)).toBe(10 * SECOND);
  });
});
