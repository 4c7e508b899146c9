import { integrationAddress, type Signalled } from '../actors/integration/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox } from './inbox.ts';
import type { Sql } from './records.ts';
import { inTransaction } from './transaction.ts';

/**
 * Stores Heartbeat signals and tells the Integration's actor of each with the same commit; nothing while the Heartbeat is
 * off (ingestion §12). The Integration stays locked from its time to its message, so that signals arrive in order,
 * whichever replicas take them; one that is overtaken says nothing new.
 * @param told makes whoever acts for the Integration look into the inbox
 */
export function createHeartbeatSignals(
  sql: Sql,
  told: (integrationId: PublicId) => void,
): { record(integrationId: PublicId, at: Micros): Promise<void> } {
  return {
    async record(integrationId, at) {
      const isNews = await inTransaction(sql, async (tx) => {
        const { count } = await tx`
          update integrations set last_signal_at = ${at}
          where id = ${integrationId} and heartbeat_enabled and deleted_at is null
            and (last_signal_at is null or last_signal_at < ${at})`;
        if (count === 0) return false;
        const message: Signalled = { type: 'signal', at };
        await enqueueInbox(tx, [{ to: integrationAddress(integrationId), message }], at);
        return true;
      });
      if (isNews) told(integrationId);
    },
  };
}
