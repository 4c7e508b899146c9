import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { type Hearing, type Judged, judgeFiring, judgeResolved } from './judge.ts';

const S0 = 1000 * MINUTE;
const S1 = 1010 * MINUTE;
const BEFORE = 990 * MINUTE;
const D = 45 * SECOND;
const R = 2000 * MINUTE;

const hearing: Hearing = { receivedAt: R, duplicateWindow: D, late: false };

/** Fires since S0, last listed a minute ago. */
const firing: Judged = {
  state: 'firing',
  startsAt: S0,
  endedStart: null,
  lastSeenAt: R - MINUTE,
  resolvedAt: null,
  resolvedBy: null,
};

/** The firing since S0 ended a minute ago by its own entry. */
const resolved: Judged = {
  ...firing,
  state: 'resolved',
  endedStart: S0,
  resolvedAt: R - MINUTE,
  resolvedBy: 'own_entry',
};

const justResolved: Judged = { ...resolved, resolvedAt: R - 10 * SECOND };

describe('a firing entry', () => {
  test.each<[string, Judged | null, number, Partial<Hearing>, object]>([
    ['F1 nothing known', null, S0, {}, { row: 'F1', is: 'new', endedStart: null }],
    ['F2 the same start', firing, S0, {}, { row: 'F2', is: 'same' }],
    [
      'F2 overtaken by a newer Snapshot',
      firing,
      S0,
      { receivedAt: R - 2 * MINUTE },
      { row: 'F2', is: 'listed' },
    ],
    ['F2 in the very Snapshot time', firing, S0, { receivedAt: R - MINUTE }, { row: 'F2', is: 'same' }],
    ['F3 a newer start', firing, S1, {}, { row: 'F3', is: 'continued' }],
    ['F3 overtaken', firing, S1, { receivedAt: R - 2 * MINUTE }, { row: 'F3', is: 'continued' }],
    ['F4 an older start', firing, BEFORE, {}, { row: 'F4', is: 'same' }],
    [
      'F4 after an ended one that is older still',
      { ...firing, endedStart: BEFORE - 1 },
      BEFORE,
      {},
      { row: 'F4', is: 'same' },
    ],
    ['F5 a start that ended', { ...firing, endedStart: BEFORE }, BEFORE, {}, { row: 'F5', is: 'listed' }],
    ['F6 a start after the ended one', resolved, S1, {}, { row: 'F6', is: 'new', endedStart: S0 }],
    ['F7 an old copy right after the resolve', justResolved, S0, {}, { row: 'F7', is: 'ignored' }],
    [
      'F7 not at the end of the window',
      { ...resolved, resolvedAt: R - D },
      S0,
      {},
      { row: 'F8', is: 'new', endedStart: null },
    ],
    ['F8 the same start after the window', resolved, S0, {}, { row: 'F8', is: 'new', endedStart: null }],
    [
      'F8 at once after a group-wide resolve',
      { ...justResolved, resolvedBy: 'group_wide' },
      S0,
      {},
      { row: 'F8', is: 'new', endedStart: null },
    ],
    [
      'F8 not before the resolution',
      { ...resolved, resolvedBy: 'gone' },
      S0,
      { receivedAt: R - MINUTE },
      { row: 'F8', is: 'ignored' },
    ],
  ])('%s', (_, alert, startsAt, heard, verdict) => {
    expect(judgeFiring(alert, startsAt, { ...hearing, ...heard })).toEqual(verdict);
  });
});

describe('a resolved entry', () => {
  const continued: Judged = { ...firing, startsAt: S1 };
  test.each<[string, Judged | null, number, Partial<Hearing>, object]>([
    ['R1 nothing known', null, S0, {}, { row: 'R1', is: 'dropped' }],
    ['R2 resolved already', resolved, S0, {}, { row: 'R2', is: 'nothing' }],
    [
      'R3 re-sent for an ended firing',
      { ...firing, startsAt: S1, endedStart: S0 },
      S0,
      {},
      { row: 'R3', is: 'nothing' },
    ],
    ['R4 of an older start', continued, S0, {}, { row: 'R4', is: 'nothing' }],
    ['R4 in a late Snapshot', continued, S0, { late: true }, { row: 'R4', is: 'nothing' }],
    ['R5 the same start', firing, S0, {}, { row: 'R5', is: 'resolved', endedStart: S0 }],
    ['R5 a newer start than known', firing, S1, {}, { row: 'R5', is: 'resolved', endedStart: S1 }],
    [
      'R5 a little older than the last listing',
      { ...firing, lastSeenAt: R + D - 1 },
      S0,
      {},
      { row: 'R5', is: 'resolved', endedStart: S0 },
    ],
    ['R5 older than the window', { ...firing, lastSeenAt: R + D }, S0, {}, { row: 'R5', is: 'nothing' }],
    [
      'R5 in a late Snapshot, newer than the last listing',
      firing,
      S0,
      { late: true },
      { row: 'R5', is: 'resolved', endedStart: S0 },
    ],
    [
      'R5 in a late Snapshot, as old as the last listing',
      { ...firing, lastSeenAt: R },
      S0,
      { late: true },
      { row: 'R5', is: 'nothing' },
    ],
  ])('%s', (_, alert, startsAt, heard, verdict) => {
    expect(judgeResolved(alert, startsAt, { ...hearing, ...heard })).toEqual(verdict);
  });
});
