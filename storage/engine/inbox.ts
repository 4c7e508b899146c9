/** Messages to actors as rows: with a change of configuration, between replicas, and set aside as dead letters. */
import {
  type ActorMessage,
  type Address,
  addressText,
  type DeadLetterRecorded,
  type PostedMessage,
  type ReplyOutcome,
  type StoredReply,
  shardOf,
} from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { jsonTexts, numberArray, textArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, Sql, Transaction } from '../postgres/records.ts';

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

/** Into the inbox, in order. */
export async function postMessages(sql: Sql, messages: readonly PostedMessage[], now: Micros): Promise<void> {
  await sql`
    insert into inbox (
      shard, receiver_kind, receiver_key, sender, message, asked_by, ask_id, expires_at, created_at
    )
    select shard, kind, key, null, message::jsonb, asked_by, ask_id, expires_at, ${now}
    from rows from (
      unnest(${numberArray(messages.map(({ shard }) => shard))}::smallint[]),
      unnest(${textArray(messages.map(({ to }) => to.kind))}::text[]),
      unnest(${textArray(messages.map(({ to }) => to.key))}::text[]),
      unnest(string_to_array(${jsonTexts(messages.map(({ message }) => message))}, chr(1))),
      unnest(${textArray(messages.map(({ asker }) => asker?.askedBy ?? null))}::text[]),
      unnest(${textArray(messages.map(({ asker }) => asker?.askId ?? null))}::text[]),
      unnest(${numberArray(messages.map(({ asker }) => asker?.expiresAt ?? null))}::bigint[])
    ) with ordinality as posted (shard, kind, key, message, asked_by, ask_id, expires_at, place)
    order by place`;
}

/** Within the commit that acted on the requests. A request that is acted on again had no answer the first time. */
export async function insertReplies(
  tx: Transaction,
  replies: readonly StoredReply[],
  now: Micros,
): Promise<void> {
  if (replies.length === 0) return;
  await tx`
    insert into replies (asked_by, ask_id, outcome, at)
    select asked_by, ask_id, outcome::jsonb, ${now}
    from rows from (
      unnest(${textArray(replies.map(({ askedBy }) => askedBy))}::text[]),
      unnest(${textArray(replies.map(({ askId }) => askId))}::text[]),
      unnest(string_to_array(${jsonTexts(replies.map(({ outcome }) => outcome))}, chr(1)))
    ) as reply (asked_by, ask_id, outcome)`;
}

/** Index: replies_pkey. */
export async function takeReplies(sql: Sql, askedBy: string): Promise<StoredReply[]> {
  const rows = await sql<{ ask_id: string; outcome: ReplyOutcome }[]>`
    delete from replies where asked_by = ${askedBy} returning ask_id, outcome`;
  return rows.map(({ ask_id: askId, outcome }) => ({ askedBy, askId, outcome }));
}

/** Keeps messages that were set aside, so that somebody can look at them. */
export const deadLetters: RecordWriter = {
  types: ['dead_letter.recorded'],
  async write(tx, effects) {
    const letters = effects as readonly DeadLetterRecorded[];
    await tx`
      insert into dead_letters (at, receiver_kind, receiver_key, sender, message, error)
      select at, kind, key, sender, message::jsonb, error
      from rows from (
        unnest(${numberArray(letters.map(({ at }) => at))}::bigint[]),
        unnest(${textArray(letters.map(({ to }) => to.kind))}::text[]),
        unnest(${textArray(letters.map(({ to }) => to.key))}::text[]),
        unnest(${textArray(letters.map(({ from }) => (from === null ? null : addressText(from))))}::text[]),
        unnest(string_to_array(${jsonTexts(letters.map(({ message }) => message))}, chr(1))),
        unnest(${textArray(letters.map(({ error }) => error.replaceAll('\0', '\ufffd')))}::text[])
      ) as letter (at, kind, key, sender, message, error)`;
  },
};
