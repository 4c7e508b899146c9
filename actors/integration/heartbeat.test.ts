import { describe, expect, it } from 'vitest';
import { HOUR } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { heartbeatState, integrationWarnings } from './heartbeat.ts';

const integration = (given: {
  readonly enabled?: boolean;
  readonly lastSignalAt?: number | null;
  readonly lostSince?: number | null;
  readonly truncatedGroups?: number;
  readonly failedSnapshots?: { count: number; snapshotId: PublicId; receivedAt: number; error: string };
  readonly longRepeats?: readonly { routePath: string; interval: number }[];
  readonly builtin?: boolean;
}) => ({
  builtin: false,
  fields: {
    name: 'lab',
    description: '',
    static_labels: {},
    duplicate_window_seconds: 45,
    heartbeat: { enabled: given.enabled ?? true, timeout_seconds: 300 },
  },
  lastSignalAt: null,
  lostSince: null,
  truncatedGroups: 0,
  failedSnapshots: null,
  longRepeats: [],
  ...given,
});

describe('the Heartbeat that is shown', () => {
  it.each([
    [{ enabled: false, lastSignalAt: 5, lostSince: 5 }, 'not_configured'],
    [{}, 'waiting'],
    [{ lastSignalAt: 5 }, 'live'],
    [{ lastSignalAt: 5, lostSince: 5 }, 'lost'],
    [{ lastSignalAt: 6, lostSince: 5 }, 'live'],
  ] as const)('of %j is %s', (given, state) => {
    expect(heartbeatState(integration(given))).toBe(state);
  });
});

describe('warnings', () => {
  it('come in their order, one for each route path that repeats itself seldom', () => {
    const failedSnapshots = {
      count: 1,
      snapshotId: 'SS1' as PublicId,
      receivedAt: 9,
      error: 'body: not JSON',
    };
    const longRepeats = [
      { routePath: 'a', interval: 2 * HOUR },
      { routePath: 'b', interval: 4 * HOUR },
    ];
    const shown = integration({
      lastSignalAt: 5,
      lostSince: 5,
      truncatedGroups: 2,
      failedSnapshots,
      longRepeats,
    });
    expect(integrationWarnings(shown)).toEqual([
      { kind: 'heartbeat_lost', since: 5 },
      { kind: 'snapshot_truncated', truncatedGroups: 2 },
      { kind: 'snapshot_failed', ...failedSnapshots },
      { kind: 'long_repeat_interval', routePath: 'a', interval: 2 * HOUR },
      { kind: 'long_repeat_interval', routePath: 'b', interval: 4 * HOUR },
    ]);
    expect(integrationWarnings(integration({ lastSignalAt: 5 }))).toEqual([]);
  });

  it('are never shown on the built-in Integration', () => {
    expect(integrationWarnings(integration({ builtin: true, enabled: false, truncatedGroups: 1 }))).toEqual(
      [],
    );
  });
});
