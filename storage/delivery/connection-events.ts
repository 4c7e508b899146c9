/** Events of messengers: what is looked up about one, what Connections record of them, and which were handled. */
import { USE_NOTED_EVERY } from '../../actors/account-links/link.ts';
import type {
  CopySeen,
  EventClaimed,
  EventHandled,
  EventsForgotten,
  InboundRecorded,
  InfoRecorded,
  MessageForgotten,
} from '../../actors/connection/effects.ts';
import { CONNECTION } from '../../actors/connection/messages.ts';
import type { EventFacts, LinkedPerson, PostedMessage } from '../../actors/connection/ports.ts';
import { type ConnectionRows, emptyConnectionRows, REMEMBERED_FOR } from '../../actors/connection/turn.ts';
import { ConflictError } from '../../runtime/actor/index.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import { spaceOf } from '../access/account-links.ts';
import { jsonText, numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, RowLoader, Sql, Transaction } from '../postgres/records.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { writeCopy } from './channel-copies.ts';
import { rerenderSpaces, rerenderThrough } from './rerender.ts';

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

    async isPosting(connectionId, groupId) {
      // index: deliveries_of_group
      const [row] = await sql<{ found: boolean }[]>`
        select exists (
          select 1 from deliveries
          where group_id = ${groupId} and kept ->> 'connectionId' = ${connectionId}
            and (
              kept -> 'call' ->> 'kind' in ('publish', 'reply')
              or jsonb_typeof(kept -> 'tries' -> 'unsureSince') = 'number'
              or jsonb_path_exists(kept, '$.replies[*].tries.unsureSince ? (@.type() == "number")')
            )
        ) as found`;
      return row?.found ?? false;
    },

    async person(connectionId, externalId) {
      // index: account_links_account
      const [row] = await sql<LinkedPerson[]>`
        select l.id as "linkId", u.id, u.name, u.login, u.language, u.role, u.status
        from account_links l join users u on u.id = l.user_id
        where l.space = ${spaceOf(sql, connectionId)} and l.external_id = ${externalId}`;
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
        if (row.isRenamed) await rerenderSpaces(tx, [row.space], at);
      });
      if (row.isRenamed) messagesWait();
    },
  };
}

/** Events that Alert Groups handled with their Commands. */
export const eventClaims: RecordWriter = {
  types: ['connection.event_claimed'],
  async write(tx, effects) {
    const claims = effects as readonly EventClaimed[];
    const written = await tx`
      insert into connection_events (connection_id, event_id, handled_at, say)
      select * from unnest(
        ${wordArray(claims.map(({ connectionId }) => connectionId))}::text[],
        ${textArray(claims.map(({ eventId }) => eventId))}::text[],
        ${numberArray(claims.map(({ at }) => at))}::bigint[],
        ${textArray(claims.map(({ say }) => say))}::text[]
      )
      on conflict do nothing`;
    if (written.count < claims.length) throw new ConflictError('an event was handled by another commit');
  },
};

/** In the order in which a turn means them: what is forgotten comes before what arrives with the next access. */
export const connectionWriter: RecordWriter = {
  types: [
    'connection.event_handled',
    'connection.events_forgotten',
    'connection.message_forgotten',
    'connection.copy_seen',
    'connection.info',
    'connection.inbound',
  ],
  async write(tx, effects) {
    let events: EventHandled[] = [];
    for (const effect of effects as readonly (
      | EventHandled
      | EventsForgotten
      | MessageForgotten
      | CopySeen
      | InfoRecorded
      | InboundRecorded
    )[]) {
      switch (effect.type) {
        case 'connection.event_handled':
          events.push(effect);
          break;
        case 'connection.events_forgotten':
          events = events.filter(({ connectionId }) => connectionId !== effect.connectionId);
          await tx`delete from connection_events where connection_id = ${effect.connectionId}`;
          break;
        case 'connection.message_forgotten':
          // index: delivered_messages_pkey
          await tx`
            delete from delivered_messages
            where connection_id = ${effect.connectionId} and message_id = ${effect.messageId}`;
          break;
        case 'connection.copy_seen':
          await writeCopy(tx, effect);
          break;
        case 'connection.info':
          await writeInfo(tx, effect);
          break;
        case 'connection.inbound':
          await writeInbound(tx, effect);
          break;
        default:
          effect satisfies never;
      }
    }
    if (events.length > 0) await writeEvents(tx, events);
  },
};

/** Loads the events that still count. */
export function createConnectionRowLoader(clock: Pick<Clock, 'now'>): RowLoader {
  return {
    kind: CONNECTION,
    async load(sql, keys) {
      // index: connection_events_handled
      const rows = await sql<
        { connection_id: string; event_id: string; handled_at: Micros; say: string | null }[]
      >`
        select * from connection_events
        where connection_id = any(${[...keys]}::text[]) and handled_at > ${clock.now() - REMEMBERED_FOR}
        order by handled_at, event_id`;
      const loaded = new Map<string, ConnectionRows>();
      for (const { connection_id, event_id: id, handled_at: at, say } of rows) {
        const events = loaded.get(connection_id) ?? emptyConnectionRows();
        loaded.set(connection_id, events.set(id, { id, at, say }));
      }
      return loaded;
    },
  };
}

async function writeEvents(tx: Transaction, effects: readonly EventHandled[]): Promise<void> {
  const last = [...new Map(effects.map((each) => [`${each.connectionId} ${each.eventId}`, each])).values()];
  await tx`
    insert into connection_events (connection_id, event_id, handled_at, say)
    select * from unnest(
      ${wordArray(last.map(({ connectionId }) => connectionId))}::text[],
      ${textArray(last.map(({ eventId }) => eventId))}::text[],
      ${numberArray(last.map(({ at }) => at))}::bigint[],
      ${textArray(last.map(({ say }) => say))}::text[]
    )
    on conflict (connection_id, event_id) do update set handled_at = excluded.handled_at, say = excluded.say`;
  const newest = Math.max(...last.map(({ at }) => at));
  // index: connection_events_handled
  await tx`
    delete from connection_events
    where connection_id = any(${last.map(({ connectionId }) => connectionId)}::text[])
      and handled_at <= ${newest - REMEMBERED_FOR}`;
}

async function writeInfo(tx: Transaction, effect: InfoRecorded): Promise<void> {
  const { connectionId, access, info, readAt, failedAt, wrong, tokenless } = effect;
  const [told] = await tx<{ shows_otherwise: boolean }[]>`
    with before as materialized (select id, info from connections where id = ${connectionId} for update)
    update connections c set
      info = ${info && jsonText(info)}::text::jsonb,
      info_at = ${readAt},
      info_failed_at = ${failedAt},
      info_wrong = ${wrong},
      tokenless = ${tokenless}
    from before
    where c.id = before.id and c.access = ${access} and c.deleted_at is null
    returning
      before.info is not null and c.info is not null
        and (before.info -> 'capabilities', before.info -> 'limits') <> (c.info -> 'capabilities', c.info -> 'limits')
        as shows_otherwise`;
  // Open messages may need other buttons, or another length.
  if (told?.shows_otherwise && readAt !== null) await rerenderThrough(tx, connectionId, readAt);
}

async function writeInbound(tx: Transaction, effect: InboundRecorded): Promise<void> {
  await tx`
    update connections set
      inbound_last_at = ${effect.lastAt},
      inbound_error = ${effect.error},
      inbound_since = ${effect.since}
    where id = ${effect.connectionId} and deleted_at is null`;
}
