/** Integrations that deserve attention, as the System status and the metrics show them (ingestion §11, §14). */
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Sql, Transaction } from './records.ts';

export interface IntegrationAttention {
  readonly integration: { readonly id: PublicId; readonly name: string };
  readonly issue: 'heartbeat_lost' | 'snapshot_truncated';
  readonly since: Micros;
}

interface HealthRow {
  readonly id: PublicId;
  readonly name: string;
  readonly lost_since: Micros | null;
  readonly truncated_since: Micros | null;
}

/** The oldest first. */
export async function readIntegrationAttention(
  sql: Sql | Transaction,
): Promise<readonly IntegrationAttention[]> {
  const attention = (await readHealth(sql)).flatMap(
    ({ id, name, lost_since, truncated_since }): IntegrationAttention[] => {
      const integration = { id, name };
      return [
        ...(lost_since === null
          ? []
          : [{ integration, issue: 'heartbeat_lost', since: lost_since } as const]),
        ...(truncated_since === null
          ? []
          : [{ integration, issue: 'snapshot_truncated', since: truncated_since } as const]),
      ];
    },
  );
  return attention.sort((one, other) => one.since - other.since);
}

/** Whether the Heartbeat of each Integration is lost. */
export async function readLostHeartbeats(
  sql: Sql | Transaction,
): Promise<readonly { readonly id: PublicId; readonly isLost: boolean }[]> {
  return (await readHealth(sql)).map(({ id, lost_since }) => ({ id, isLost: lost_since !== null }));
}

/** A signal that is stored, or a Heartbeat that was switched off, counts before the actor has heard of it. */
function readHealth(sql: Sql | Transaction): Promise<readonly HealthRow[]> {
  return sql<HealthRow[]>`
    select
      i.id, i.name, s.truncated_since,
      case when i.heartbeat_enabled and i.last_signal_at <= s.lost_since then s.lost_since end as lost_since
    from integrations i
    left join integration_states s on s.integration_id = i.id
    where i.deleted_at is null and not i.builtin
    order by i.id`;
}
