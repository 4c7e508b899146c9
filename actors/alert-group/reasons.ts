/** The sentences behind reason codes (ingestion §6.7, Alert Group chapter §5.1). */
import type { AlertResolver, ResolveReason, SeverityLevel } from '../model.ts';

const NOT_LISTED =
  'Alertmanager stopped listing it (ended without a resolve, silenced, inhibited or re-routed there)';

/** Why an Alert resolved, in words; null where the sender said so itself. */
export function resolveReasonText(reason: ResolveReason, integrationName: string): string | null {
  switch (reason) {
    case 'resolved':
      return null;
    case 'gone':
    case 'stale':
      return NOT_LISTED;
    case 'integration_deleted':
      return `Integration ${integrationName} was deleted`;
  }
}

/** The reason code of a way to resolve; null for an Alert that moved to another Alert Group. */
export function reasonOf(resolver: Exclude<AlertResolver, 'moved'>): ResolveReason;
export function reasonOf(resolver: AlertResolver): ResolveReason | null;
export function reasonOf(resolver: AlertResolver): ResolveReason | null {
  switch (resolver) {
    case 'own_entry':
    case 'group_wide':
      return 'resolved';
    case 'moved':
      return null;
    default:
      return resolver;
  }
}

export function riseToUrgentText(level: SeverityLevel): string {
  return `Severity rose to ${level}`;
}

export const REMINDERS_UNANSWERED_TEXT = 'The Owner did not answer two Reminders in a row';

export const OWNER_RELEASE_TEXT = {
  owner_disabled: 'The Owner was disabled',
  owner_deleted: 'The Owner was deleted',
} as const;
