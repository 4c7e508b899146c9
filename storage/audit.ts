/** The Audit log's one door: every entry is written here, in the transaction of what it tells about (access §11). */
import type { AuditEntry, AuditRecorded } from '../actors/effects.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { numberArray, textArray } from './array-literals.ts';
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

async function insertEntries(tx: Transaction, entries: readonly AuditEntry[]): Promise<void> {
  const texts = (column: (entry: AuditEntry) => string | null) => textArray(entries.map(column));
  await tx`
    insert into audit_log (
      id, at, actor_kind, actor_id, actor_name, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff, details
    )
    select
      id, at, actor_kind, actor_id, actor_name, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff::jsonb, details::jsonb
    from rows from (
      unnest(${texts(() => newPublicId('AE'))}::text[]),
      unnest(${numberArray(entries.map(({ at }) => at))}::bigint[]),
      unnest(${texts(({ actor }) => actor.kind)}::text[]),
      unnest(${texts(({ actor }) => actor.id)}::text[]),
      unnest(${texts(({ actor }) => actor.name)}::text[]),
      unnest(${texts(({ actor }) => ('tokenName' in actor ? actor.tokenName : null))}::text[]),
      unnest(${texts(transportOf)}::text[]),
      unnest(${texts(({ action }) => action)}::text[]),
      unnest(${texts(({ resourceType }) => resourceType)}::text[]),
      unnest(${texts(({ resourceId }) => resourceId)}::text[]),
      unnest(${texts(({ resourceName }) => resourceName)}::text[]),
      unnest(${texts(({ address }) => address)}::text[]),
      unnest(string_to_array(${jsonTexts(entries.map(({ diff }) => diff))}, chr(1))),
      unnest(string_to_array(${jsonTexts(entries.map(({ details }) => details))}, chr(1)))
    ) as entry (
      id, at, actor_kind, actor_id, actor_name, token_name, transport, action,
      resource_type, resource_id, resource_name, address, diff, details
    )`;
}

/** What acts on its own has no way in: the command line is one, everything else is the system itself. */
function transportOf({ actor }: AuditEntry): string {
  if ('transport' in actor) return actor.transport;
  return actor.kind === 'cli' ? 'cli' : 'system';
}
