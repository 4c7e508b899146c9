/** The Audit log's one door: every entry is written here, in the transaction of what it tells about (access §11). */
import type { AuditLogEntry } from '../actors/access/audit-log.ts';
import type { AuditEntry, AuditRecorded } from '../actors/effects.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { numberArray, textArray } from './array-literals.ts';
import { noteWritten } from './audit-commits.ts';
import { jsonTexts } from './json-text.ts';
import type { RecordWriter, Transaction } from './records.ts';

/** Writes the entries that actors record. */
export const auditRecords: RecordWriter = {
  types: ['audit.recorded'],
  write: (tx, effects) =>
    insertEntries(
      tx,
      (effects as readonly AuditRecorded[]).map(({ entry }) => entry),
    ),
};

/** Writes one entry in the transaction of a change that no actor makes. */
export function appendAudit(tx: Transaction, entry: AuditEntry): Promise<void> {
  return insertEntries(tx, [entry]);
}

async function insertEntries(tx: Transaction, recorded: readonly AuditEntry[]): Promise<void> {
  const entries = recorded.map(storedOf);
  const texts = (column: (entry: AuditLogEntry) => string | null) => textArray(entries.map(column));
  noteWritten(tx, entries);
  await tx`
    insert into audit_log (
      id, at, actor_kind, actor_id, actor_name, token_id, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff, details
    )
    select
      id, at, actor_kind, actor_id, actor_name, token_id, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff::jsonb, details::jsonb
    from rows from (
      unnest(${texts(({ id }) => id)}::text[]),
      unnest(${numberArray(entries.map(({ at }) => at))}::bigint[]),
      unnest(${texts(({ actor }) => actor.kind)}::text[]),
      unnest(${texts(({ actor }) => actor.id)}::text[]),
      unnest(${texts(({ actor }) => actor.name)}::text[]),
      unnest(${texts(({ tokenId }) => tokenId)}::text[]),
      unnest(${texts(({ tokenName }) => tokenName)}::text[]),
      unnest(${texts(({ transport }) => transport)}::text[]),
      unnest(${texts(({ action }) => action)}::text[]),
      unnest(${texts(({ resourceType }) => resourceType)}::text[]),
      unnest(${texts(({ resourceId }) => resourceId)}::text[]),
      unnest(${texts(({ resourceName }) => resourceName)}::text[]),
      unnest(${texts(({ address }) => address)}::text[]),
      unnest(string_to_array(${jsonTexts(entries.map(({ diff }) => diff))}, chr(1))),
      unnest(string_to_array(${jsonTexts(entries.map(({ details }) => details))}, chr(1)))
    ) as entry (
      id, at, actor_kind, actor_id, actor_name, token_id, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff, details
    )`;
}

function storedOf(entry: AuditEntry): AuditLogEntry {
  const { kind, id, name } = entry.actor;
  return {
    ...entry,
    id: newPublicId('AE'),
    actor: { kind, id, name },
    tokenId: ('tokenId' in entry.actor && entry.actor.tokenId) || null,
    tokenName: 'tokenName' in entry.actor ? entry.actor.tokenName : null,
    transport: transportOf(entry),
  };
}

/** What acts on its own has no way in: the command line is one, everything else is the system itself. */
function transportOf({ actor }: AuditEntry): AuditLogEntry['transport'] {
  if (actor.transport !== undefined) return actor.transport;
  return actor.kind === 'cli' ? 'cli' : 'system';
}
