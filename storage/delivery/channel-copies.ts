/** Copies of posts in discussion groups, and chats in which a bot has other rights (channel-bot §3, §8.1). */
import type { CopySeen } from '../../actors/connection/effects.ts';
import type { BotChats, Copies, GroupMoved, LostPost, LostPosts } from '../../actors/connection/ports.ts';
import { type DestinationMessage, destinationAddress } from '../../actors/destination/messages.ts';
import { DAY, HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inTransaction } from '../postgres/transaction.ts';

export function createCopies(sql: Sql): Copies {
  return {
    async find({ connectionId, channelId, postId }) {
      // index: channel_copies_pkey
      const [row] = await sql<{ groupId: string; copyId: string }[]>`
        select group_id as "groupId", copy_id as "copyId" from channel_copies
        where connection_id = ${connectionId} and channel_id = ${channelId} and post_id = ${postId}`;
      return row ?? null;
    },

    async lost({ connectionId, channelId, about, since }) {
      // indexes: channel_copies_about, delivered_messages_of_group
      return sql<{ postId: string; groupId: string; copyId: string }[]>`
        select post_id as "postId", group_id as "groupId", copy_id as "copyId" from channel_copies c
        where connection_id = ${connectionId} and channel_id = ${channelId} and about = ${about}
          and seen_at >= ${since} and not exists (
            select from delivered_messages m
            where m.group_id = c.about
              and split_part(m.message_id, '/', 1) = c.channel_id
              and substring(m.message_id from '/([0-9]{1,18})$')::bigint >= c.post_id::bigint
          )
        order by post_id::bigint desc`;
    },
  };
}

/** No call for another Destination can be under way any more. */
const ANSWERED: Micros = 20 * SECOND;

/** Copies of the last hour count. Edits are tried for a day. */
export function createLostPosts(sql: Sql, now: () => Micros): LostPosts {
  return {
    async learn(pressed = null) {
      const { connectionId = null, channelId = null, postId = null, about = null } = pressed ?? {};
      // indexes: channel_copies_old, delivered_messages_of_group
      const learned = await sql`
        with seen as (
          select connection_id, channel_id, post_id, about, seen_at from channel_copies
          where seen_at > ${now() - HOUR}
          union all
          select ${connectionId}, ${channelId}, ${postId}, ${about}, ${now()}::bigint
        ),
        learned as (
          insert into delivered_messages (
            connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
          )
          select c.connection_id, c.channel_id || '/' || c.post_id, m.destination_id, 'root', c.about, false, c.seen_at
          from seen c
          join delivered_messages m on m.group_id = c.about and m.connection_id = c.connection_id
          where m.kind = 'root' and m.is_present
            and split_part(m.message_id, '/', 1) = c.channel_id
            and substring(m.message_id from '/([0-9]{1,18})$')::bigint > c.post_id::bigint
            and not exists (
              select from delivered_messages known
              where known.group_id = c.about and known.message_id = c.channel_id || '/' || c.post_id
            )
          on conflict do nothing
          returning connection_id, message_id, posted_at
        )
        insert into lost_posts (connection_id, message_id, next_try_at)
        select connection_id, message_id, posted_at + ${ANSWERED}::bigint from learned
        on conflict do nothing`;
      return learned.count;
    },

    async read() {
      const at = now();
      // indexes: lost_posts_next_try, delivered_messages_pkey
      await sql`
        delete from lost_posts l
        where next_try_at <= ${at} and not exists (
          select from delivered_messages m
          where m.connection_id = l.connection_id and m.message_id = l.message_id
            and not m.is_present and m.posted_at > ${at - DAY}
        )`;
      return sql<LostPost[]>`
        select
          m.message_id as "messageId", m.connection_id as "connectionId", m.group_id as "groupId",
          m.posted_at as "postedAt", d.id as "destinationId", d.target
        from lost_posts l
        join delivered_messages m on m.connection_id = l.connection_id and m.message_id = l.message_id
        join destinations d on d.id = m.destination_id
        where l.next_try_at <= ${at}
        order by l.next_try_at limit 20`;
    },

    async ended({ connectionId, messageId }) {
      // index: lost_posts_pkey
      await sql`delete from lost_posts where connection_id = ${connectionId} and message_id = ${messageId}`;
    },

    async later({ connectionId, messageId }, at) {
      // index: lost_posts_pkey
      await sql`
        update lost_posts set next_try_at = ${at}
        where connection_id = ${connectionId} and message_id = coalesce(${messageId}, message_id)
          and next_try_at < ${at}`;
    },
  };
}

/** The first copy of a post counts. */
export async function writeCopy(
  tx: Transaction,
  { connectionId, channelId, postId, groupId, copyId, about, at }: CopySeen,
): Promise<void> {
  await tx`
    insert into channel_copies (connection_id, channel_id, post_id, group_id, copy_id, about, seen_at)
    values (${connectionId}, ${channelId}, ${postId}, ${groupId}, ${copyId}, ${about ?? null}, ${at})
    on conflict do nothing`;
}

/** @param messagesWait called once messages to actors are stored */
export function createBotChats(sql: Sql, messagesWait: () => void, now: () => Micros): BotChats {
  return {
    async originalOf(connectionId, groupId, copyId) {
      // index: channel_copies_copy
      const [row] = await sql<{ chatId: string; messageId: string }[]>`
        select channel_id as "chatId", post_id as "messageId" from channel_copies
        where connection_id = ${connectionId} and group_id = ${groupId} and copy_id = ${copyId}`;
      return row ?? null;
    },

    async channelsOf(connectionId, groupId) {
      // index: destinations_of_connection
      const rows = await sql<{ chat_id: string }[]>`
        select distinct chat_id from destinations
        where connection_id = ${connectionId} and discussion_group_id = ${groupId} and deleted_at is null`;
      return rows.map((row) => row.chat_id);
    },

    groupMoved: (moved) => moveDiscussionGroup(sql, moved),

    async rightsChanged(connectionId, chatId, lost) {
      const told = await inTransaction(sql, async (tx) => {
        // index: destinations_of_connection
        const rows = await tx<{ id: PublicId; isChannel: boolean }[]>`
          select id, chat_id = ${chatId} as "isChannel" from destinations
          where connection_id = ${connectionId} and deleted_at is null
            and ${chatId} in (chat_id, discussion_group_id)
          order by id`;
        const entries = rows.map(({ id, isChannel }) => {
          const reason = lost && (isChannel ? lost.channel : lost.group);
          const message: DestinationMessage = reason ? { type: 'rights_lost', reason } : { type: 'saved' };
          return { to: destinationAddress(id), message };
        });
        if (entries.length > 0) await enqueueInbox(tx, entries, now());
        return entries.length > 0;
      });
      if (told) messagesWait();
    },
  };
}

/** A person's comment teaches the copies under their new ids. */
export async function moveDiscussionGroup(
  sql: Sql,
  { connectionId, channelId, from, to }: GroupMoved,
): Promise<void> {
  // indexes: destinations_of_connection, channel_copies_pkey
  await sql`
    with moved as (
      update destinations set discussion_group_id = ${to}
      where connection_id = ${connectionId} and chat_id = ${channelId} and discussion_group_id = ${from}
        and deleted_at is null
    )
    delete from channel_copies
    where connection_id = ${connectionId} and channel_id = ${channelId} and group_id = ${from}`;
}

/**
 * Removes copies of posts that are no message of the service (any more).
 * @returns how many there were
 */
export async function pruneCopies(sql: Sql, at: Micros): Promise<number> {
  // indexes: channel_copies_old, delivered_messages_pkey
  const gone = await sql`
    delete from channel_copies c
    where seen_at <= ${at - DAY} and not exists (
      select from delivered_messages m
      where m.connection_id = c.connection_id and m.message_id = c.channel_id || '/' || c.post_id
    )`;
  return gone.count;
}
