import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../runtime/clock.ts';
import { activeNotices, downtimeEnding } from './downtime.ts';

const NOW = 1_790_000_000_000_000;
const ago = (seconds: number) => NOW - seconds * SECOND;

describe('a downtime', () => {
  const ending = (markedAgo: number | null, othersAgo: number | null = null) =>
    downtimeEnding(NOW, {
      markedAt: markedAgo === null ? null : ago(markedAgo),
      othersAliveAt: othersAgo === null ? null : ago(othersAgo),
      longestRepeat: null,
    });

  test.each([
    ['a new database', null, null],
    ['a handover', 30, null],
    ['nobody leading for exactly two minutes', 120, null],
    ['nobody leading while another replica lived on', 600, 10],
    ['another replica being silent for two minutes', 600, 120],
  ])('is not %s', (_, marked, others) => {
    expect(ending(marked, others)).toBeNull();
  });

  test('begins with the last sign of life of the Leader', () => {
    expect(ending(600)).toEqual({ startedAt: ago(600), endedAt: NOW, recoversUntil: NOW + 15 * MINUTE });
    expect(ending(600, 700)?.startedAt).toBe(ago(600));
  });

  test.each([
    ['that repeat every 10 minutes', 10, 10],
    ['of which one repeats every 4 hours: an hour at most', 240, 60],
    ['of which nothing is learned', null, 15],
  ])('is recovered from in a window for senders %s', (_, learned, minutes) => {
    const longestRepeat = learned === null ? null : learned * MINUTE;
    const downtime = downtimeEnding(NOW, { markedAt: ago(600), othersAliveAt: null, longestRepeat });
    expect(downtime?.recoversUntil).toBe(NOW + minutes * MINUTE);
  });

  test('begins with that of the replica that outlived it', () => {
    expect(ending(600, 300)?.startedAt).toBe(ago(300));
  });
});

describe('notices', () => {
  const downtime = { startedAt: ago(900), endedAt: ago(300), recoversUntil: ago(0) + 10 * MINUTE };

  test('there are none when all is well', () => {
    expect(activeNotices({ markedAt: ago(30), downtime: null }, NOW)).toEqual([]);
    expect(activeNotices({ markedAt: null, downtime: null }, NOW)).toEqual([]);
  });

  test('everybody is told of the recovery, from the end of the downtime to the end of the window', () => {
    const pulse = { markedAt: ago(30), downtime };
    expect(activeNotices(pulse, NOW)).toEqual([
      {
        kind: 'recovering_after_downtime',
        audience: 'all',
        since: downtime.endedAt,
        until: downtime.recoversUntil,
      },
    ]);
    expect(activeNotices({ ...pulse, markedAt: downtime.recoversUntil }, downtime.recoversUntil)).toEqual([]);
  });

  test('Admins are told when nobody has led for more than two minutes, after what everybody is told', () => {
    expect(activeNotices({ markedAt: ago(120), downtime: null }, NOW)).toEqual([]);
    expect(activeNotices({ markedAt: ago(121), downtime }, NOW)).toMatchObject([
      { kind: 'recovering_after_downtime' },
      { kind: 'no_replica_leading', audience: 'admins', since: ago(121), until: null },
    ]);
  });
});
