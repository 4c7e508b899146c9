/** The Audit log: how its entries are built, read and logged (access §11). */
import { formatInstant, type Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AuditChange, AuditEntry } from './effects.ts';
import type { Transport } from './model.ts';

/** Who changes something, when and from where. */
export interface Authorship {
  readonly by: AuditEntry['actor'];
  readonly at: Micros;
  readonly address: string | null;
}

export interface AuditedChange {
  /** `<resource type>.<verb>`. */
  readonly action: string;
  readonly resourceId: string | null;
  readonly resourceName: string | null;
  readonly diff?: readonly AuditChange[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The difference comes in any order, and is sorted by pointer here. */
export function auditEntry({ by, at, address }: Authorship, change: AuditedChange): AuditEntry {
  const { action, resourceId, resourceName, details = {} } = change;
  const resourceType = action.slice(0, action.indexOf('.'));
  const diff = [...(change.diff ?? [])].sort((left, right) => (left.pointer < right.pointer ? -1 : 1));
  return { at, actor: by, action, resourceType, resourceId, resourceName, address, diff, details };
}

/**
 * What a change did, by JSON pointer: nested objects are walked, arrays compared whole. With `before` null (a creation)
 * every field that is not null, with `after` alone.
 * @param maps pointers of objects whose keys are people's own; compared whole like arrays
 */
export function auditDiff(
  before: object | null,
  after: object,
  maps: readonly string[] = [],
): readonly AuditChange[] {
  const old = before ? leaves(before, '', maps) : new Map<string, unknown>();
  const fresh = leaves(after, '', maps);
  const pointers = new Set([...old.keys(), ...fresh.keys()]);
  const changes: AuditChange[] = [];
  for (const pointer of pointers) {
    const was = old.get(pointer) ?? null;
    const is = fresh.get(pointer) ?? null;
    if (!same(was, is)) changes.push({ pointer, ...(before ? { before: was } : {}), after: is });
  }
  return changes;
}

function leaves(fields: object, under: string, maps: readonly string[]): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [key, value] of Object.entries(fields)) {
    const pointer = `${under}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (typeof value !== 'object' || value === null || Array.isArray(value) || maps.includes(pointer)) {
      found.set(pointer, value);
      continue;
    }
    for (const [deeper, leaf] of leaves(value, pointer, maps)) found.set(deeper, leaf);
  }
  return found;
}

/** Equal as JSON; the order of an object's keys does not count. */
function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return entries.map(([key, inner]) => [key, sorted(inner)]);
}

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
