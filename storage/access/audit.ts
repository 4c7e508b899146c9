/** The only writer of the Audit log. Each entry is written in the transaction of its change, and logged after it (access §11). */
import { type AuditLogEntry, auditLogBody } from '../../actors/audit.ts';
import type { AuditEntry, AuditRecorded } from '../../actors/effects.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { maskLiterals } from '../../runtime/secrets/masking.ts';
import { jsonTexts, numberArray, textArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, Sql, Transaction } from '../postgres/records.ts';

/** Writes the entries that actors record. */
export const auditRecords: RecordWriter = {
  types: ['audit.recorded'],
  write: (tx, effects) =>
    insertEntries(
      tx,
      (effects as readonly AuditRecorded[]).map(({ entry }) => entry),
    ),
};

/** Writes one entry in the transaction of a change that is not an actor's. */
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

/** Tells what a transaction wrote into the Audit log once it has committed, whoever began it (access §11). */
type Run<Result> = (tx: Transaction) => Result | Promise<Result>;

const written = new WeakMap<Transaction, AuditLogEntry[]>();

/** Keeps what a transaction has written; forgotten with it when it is rolled back. */
function noteWritten(tx: Transaction, entries: readonly AuditLogEntry[]): void {
  const before = written.get(tx);
  if (before) before.push(...entries);
  else written.set(tx, [...entries]);
}

/**
 * The same client, which tells every entry of each of its transactions after it has committed, in the order of writing.
 * Nothing is told of a transaction whose end is not known because the connection was lost.
 */
export function tellingCommitted(sql: Sql, tell: (entry: AuditLogEntry) => void): Sql {
  const plain = sql.begin.bind(sql);
  const begin = async <Result>(...asked: readonly [Run<Result>] | readonly [string, Run<Result>]) => {
    const [mode, run] = asked.length === 1 ? ['', asked[0]] : asked;
    let begun: Transaction | null = null;
    const result = await plain(mode, (tx) => {
      begun = tx;
      return run(tx);
    });
    const entries = begun === null ? [] : (written.get(begun) ?? []);
    for (const entry of entries) tell(entry);
    return result;
  };
  return Object.assign(sql, { begin });
}

/** Logs what was committed. Entries hold no Secret, but maybe credentials that somebody wrote out in a configuration. */
export function logAudited(log: Log): (entry: AuditLogEntry) => void {
  return (entry) => log('audit_entry', { entry: maskLiterals(auditLogBody(entry)) });
}
