/** What replicas leave for each other in the database: requests, answers, and who may act (operations §5.2). */
import type { PostedMessage, ReplyOutcome, ShardEpoch, StoredReply } from '../runtime/actor/index.ts';
import type { Micros } from '../runtime/clock.ts';
import { numberArray, textArray } from './array-literals.ts';
import { jsonTexts } from './json-text.ts';
import type { Sql, Transaction } from './records.ts';

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

/** Index: shards_pkey. */
export async function readEpochs(sql: Sql, shards: readonly number[]): Promise<ShardEpoch[]> {
  const rows = await sql<{ shard: number; epoch: number }[]>`
    select shard, epoch from shards where shard = any(${numberArray(shards)}::smallint[])`;
  return [...rows];
}
