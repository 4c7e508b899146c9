/** What is looked up about events of messengers: the reads behind actors/connection/event-ports.ts. */
import { USE_NOTED_EVERY } from '../actors/account-links/link.ts';
import type { EventFacts, LinkedPerson, PostedMessage } from '../actors/connection/event-ports.ts';
import type { Sql } from './records.ts';
import { rerenderThrough } from './rerender.ts';
import { inTransaction } from './transaction.ts';

/** @param messagesWait called once messages to actors are stored: somebody has another name in a messenger */
export function createEventFacts(sql: Sql, messagesWait: () => void): EventFacts {
  return {
    async handled(connectionId, eventId) {
      // index: connection_events_pkey
      const [row] = await sql<{ say: string | null }[]>`
        select say from connection_events where connection_id = ${connectionId} and event_id = ${eventId}`;
      return row ?? null;
    },

    async message(connectionId, messageId) {
      // index: delivered_messages_pkey
      const [row] = await sql<PostedMessage[]>`
        select
          m.destination_id as "destinationId", m.kind, m.group_id as "groupId", g.route_id as "routeId",
          m.is_present as "isPresent"
        from delivered_messages m left join alert_groups g on g.id = m.group_id
        where m.connection_id = ${connectionId} and m.message_id = ${messageId}`;
      return row ?? null;
    },

    async person(connectionId, externalId) {
      // index: account_links_account
      const [row] = await sql<LinkedPerson[]>`
        select l.id as "linkId", u.id, u.name, u.login, u.language, u.role, u.status
        from account_links l join users u on u.id = l.user_id
        where l.space = ${connectionId} and l.external_id = ${externalId}`;
      return row ?? null;
    },

    /** Most uses change nothing: a press a minute ago said the same. */
    async used(linkId, { username, displayName }, at) {
      const [row] = await sql<{ space: string; isRenamed: boolean; isDue: boolean }[]>`
        select
          space,
          username is distinct from ${username} or display_name is distinct from ${displayName} as "isRenamed",
          coalesce(last_used_at, 0) <= ${at - USE_NOTED_EVERY} as "isDue"
        from account_links where id = ${linkId}`;
      if (!row || !(row.isRenamed || row.isDue)) return;
      await inTransaction(sql, async (tx) => {
        await tx`
          update account_links
          set last_used_at = ${at}, username = ${username}, display_name = ${displayName}
          where id = ${linkId}`;
        if (row.isRenamed) await rerenderThrough(tx, [row.space], at);
      });
      if (row.isRenamed) messagesWait();
    },
  };
}
