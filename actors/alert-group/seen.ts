/** Alerts that a step listed again without anything else to say about them. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertsSeen } from './effects.ts';
import { groupBy } from './group-by.ts';
import type { GroupAlert } from './rows.ts';

/** One record an Integration. */
export function alertsSeen(groupId: PublicId, seen: readonly GroupAlert[]): AlertsSeen[] {
  const byIntegration = groupBy(seen, ({ integrationId }) => integrationId);
  return [...byIntegration].map(([integrationId, alerts]) => ({
    type: 'alerts.seen',
    groupId,
    integrationId,
    fingerprints: alerts.map(({ report }) => report.fingerprint),
    at: Math.max(...alerts.map(({ lastSeenAt }) => lastSeenAt)),
  }));
}
