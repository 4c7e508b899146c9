/** Writes what Connections record, and loads the events they have handled. */
import type {
  EventClaimed,
  EventHandled,
  EventsForgotten,
  InboundRecorded,
  InfoRecorded,
  MessageForgotten,
} from '../actors/connection/effects.ts';
import { CONNECTION } from '../actors/connection/messages.ts';
import { type ConnectionRows, emptyConnectionRows, REMEMBERED_FOR } from '../actors/connection/rows.ts';
import { ConflictError } from '../runtime/actor/index.ts';
import type { Clock, Micros } from '../runtime/clock.ts';
import { numberArray, textArray, wordArray } from './array-literals.ts';
import { jsonText } from './json-text.ts';
import type { RecordWriter, RowLoader, Transaction } from './records.ts';
import { rerenderThrough } from './rerender.ts';

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
    'connection.info',
    'connection.inbound',
  ],
  async write(tx, effects) {
    let events: EventHandled[] = [];
    for (const effect of effects as readonly (
      | EventHandled
      | EventsForgotten
      | MessageForgotten
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
  if (told?.shows_otherwise && readAt !== null) await rerenderThrough(tx, [connectionId], readAt);
}

async function writeInbound(tx: Transaction, effect: InboundRecorded): Promise<void> {
  await tx`
    update connections set
      inbound_last_at = ${effect.lastAt},
      inbound_error = ${effect.error},
      inbound_since = ${effect.since}
    where id = ${effect.connectionId} and deleted_at is null`;
}
