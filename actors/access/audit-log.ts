/** The Audit log as it is read and logged (access §11). */
import { formatInstant, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AuditEntry } from '../effects.ts';
import type { Transport } from '../model.ts';

/** One entry as it is stored. */
export interface AuditLogEntry extends Omit<AuditEntry, 'actor'> {
  readonly id: PublicId;
  readonly actor: {
    readonly kind: AuditEntry['actor']['kind'];
    readonly id: PublicId | null;
    readonly name: string;
  };
  readonly tokenId: PublicId | null;
  readonly tokenName: string | null;
  readonly transport: Transport | 'cli' | 'system';
}

/** Null narrows nothing. */
export interface AuditLogQuery {
  /** Included. */
  readonly from: Micros | null;
  /** Not included. */
  readonly to: Micros | null;
  /** A user or a Service account. */
  readonly actorId: PublicId | null;
  readonly action: string | null;
  readonly resourceType: string | null;
  readonly resourceId: string | null;
  /** Time and id of the last entry of the page before. */
  readonly after: readonly [Micros, string] | null;
  readonly limit: number;
}

export interface AuditLogPage {
  readonly items: readonly AuditLogEntry[];
  readonly next: readonly [Micros, string] | null;
}

export interface AuditLogReader {
  /** The newest first; nothing that is older than the Organization keeps. */
  list(query: AuditLogQuery, now: Micros): Promise<AuditLogPage>;
}

/** An entry as the API answers it; `audit_entry` logs the same without credentials that are written out. */
export function auditLogBody(entry: AuditLogEntry) {
  return {
    id: entry.id,
    at: formatInstant(entry.at),
    actor: entry.actor,
    token_id: entry.tokenId,
    token_name: entry.tokenName,
    transport: entry.transport,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    resource_name: entry.resourceName,
    address: entry.address,
    diff: entry.diff,
    details: entry.details,
  };
}
