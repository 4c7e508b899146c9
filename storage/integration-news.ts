/** What the actor of an Integration is told of its configuration, with the change itself (docs/architecture.md). */
import { type Configured, type Deleted, integrationAddress } from '../actors/integration/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox, type InboxEntry } from './inbox.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

interface ConfigurationRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly static_labels: Configured['staticLabels'];
  readonly heartbeat_enabled: boolean;
  readonly heartbeat_timeout_seconds: number;
  readonly deleted_at: Micros | null;
}

/** Tells the actor what is stored now; the Integration is written, and still locked. */
export async function tellConfiguration(tx: Transaction, id: PublicId, at: Micros): Promise<void> {
  const rows = await tx<ConfigurationRow[]>`
    select
      id, version, name, static_labels, heartbeat_enabled, heartbeat_timeout_seconds, deleted_at
    from integrations where id = ${id}`;
  await enqueueInbox(tx, rows.map(entryOf), at);
}

/**
 * Tells every actor whose Integration was saved without telling it: by the previous release, or before there were such
 * actors.
 * @returns how many were told
 */
export async function tellUntold(sql: Sql, at: Micros): Promise<number> {
  return inTransaction(sql, async (tx) => {
    const rows = await tx<ConfigurationRow[]>`
      select
        i.id, i.version, i.name, i.static_labels, i.heartbeat_enabled, i.heartbeat_timeout_seconds, i.deleted_at
      from integrations i
      left join integration_states s on s.integration_id = i.id
      where not i.builtin and i.ended_at is null
        and (s.integration_id is null or s.configuration_version < i.version + (i.deleted_at is not null)::int)
      order by i.id`;
    await enqueueInbox(tx, rows.map(entryOf), at);
    return rows.length;
  });
}

function entryOf(row: ConfigurationRow): InboxEntry {
  const { id, version, name, deleted_at } = row;
  const message: Configured | Deleted =
    deleted_at === null
      ? {
          type: 'configured',
          version,
          name,
          staticLabels: row.static_labels,
          heartbeat: { enabled: row.heartbeat_enabled, timeoutSeconds: row.heartbeat_timeout_seconds },
        }
      : // The previous release does not count a deletion as a version.
        { type: 'deleted', version: version + 1, name, at: deleted_at };
  return { to: integrationAddress(id), message };
}
