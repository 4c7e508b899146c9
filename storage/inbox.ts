import { type ActorMessage, type Address, shardOf } from '../runtime/actor/index.ts';
import type { Micros } from '../runtime/clock.ts';
import type { Transaction } from './records.ts';

export interface InboxEntry {
  readonly to: Address;
  readonly message: ActorMessage;
}

/**
 * Writes messages to actors within a change of configuration: they are received exactly once if, and only if, the
 * change commits. Poke the system afterwards, or they wait for its next look.
 */
export async function enqueueInbox(
  tx: Transaction,
  entries: readonly InboxEntry[],
  at: Micros,
): Promise<void> {
  if (entries.length === 0) return;
  await tx`
    insert into inbox (shard, receiver_kind, receiver_key, sender, message, created_at)
    select shard, kind, key, null, message::jsonb, ${at}
    from unnest(
      ${entries.map((entry) => shardOf(entry.to))}::int[],
      ${entries.map((entry) => entry.to.kind)}::text[],
      ${entries.map((entry) => entry.to.key)}::text[],
      ${entries.map((entry) => JSON.stringify(entry.message))}::text[]
    ) with ordinality as sent (shard, kind, key, message, place)
    order by place`;
}
