/** What is known of an Integration's Heartbeat and what deserves attention (ingestion §11, §12). */
import type { Micros } from '../../runtime/clock.ts';
import type { FailedSnapshots, StoredIntegration } from './ports.ts';

export const HEARTBEAT_STATES = ['not_configured', 'waiting', 'live', 'lost'] as const;

export type HeartbeatState = (typeof HEARTBEAT_STATES)[number];

type Heart = Pick<StoredIntegration, 'fields' | 'lastSignalAt' | 'lostSince'>;

/** A signal is stored before the actor receives it, so a newer stored signal ends a loss. */
export function heartbeatState({ fields, lastSignalAt, lostSince }: Heart): HeartbeatState {
  if (!fields.heartbeat.enabled) return 'not_configured';
  if (lastSignalAt === null) return 'waiting';
  return lostSince !== null && lastSignalAt <= lostSince ? 'lost' : 'live';
}

/** The warnings that System status repeats. */
export const INTEGRATION_ISSUES = ['heartbeat_lost', 'snapshot_truncated', 'snapshot_failed'] as const;

export type IntegrationIssue = (typeof INTEGRATION_ISSUES)[number];

export type IntegrationWarning =
  | { readonly kind: 'heartbeat_not_configured' | 'heartbeat_waiting' }
  /** Since the last signal. */
  | { readonly kind: 'heartbeat_lost'; readonly since: Micros | null }
  | { readonly kind: 'snapshot_truncated'; readonly truncatedGroups: number }
  | ({ readonly kind: 'snapshot_failed' } & FailedSnapshots)
  | { readonly kind: 'long_repeat_interval'; readonly routePath: string; readonly interval: Micros };

/** In the order in which they are shown; never any on the built-in Integration. */
export function integrationWarnings(
  integration: Heart &
    Pick<StoredIntegration, 'builtin' | 'truncatedGroups' | 'failedSnapshots' | 'longRepeats'>,
): readonly IntegrationWarning[] {
  if (integration.builtin) return [];
  const { truncatedGroups, failedSnapshots, longRepeats } = integration;
  return [
    ...heartbeatWarnings(integration),
    ...(truncatedGroups > 0 ? [{ kind: 'snapshot_truncated', truncatedGroups } as const] : []),
    ...(failedSnapshots ? [{ kind: 'snapshot_failed', ...failedSnapshots } as const] : []),
    ...longRepeats.map(({ routePath, interval }) => ({
      kind: 'long_repeat_interval' as const,
      routePath,
      interval,
    })),
  ];
}

function heartbeatWarnings(integration: Heart): readonly IntegrationWarning[] {
  const state = heartbeatState(integration);
  switch (state) {
    case 'not_configured':
      return [{ kind: 'heartbeat_not_configured' }];
    case 'waiting':
      return [{ kind: 'heartbeat_waiting' }];
    case 'lost':
      return [{ kind: 'heartbeat_lost', since: integration.lastSignalAt }];
    case 'live':
      return [];
    default:
      return state satisfies never;
  }
}
