/** Writes what Destinations record about their deliveries, a statement a kind and batch. */
import { subjectText } from '../actors/destination/messages/calls.ts';
import { type Delivery, deliveryKey } from '../actors/destination/messages/delivery.ts';
import type { DeliveryRecord, DeliverySaved, MessagePosted } from '../actors/destination/messages/effects.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { numberArray, textArray, wordArray } from './array-literals.ts';
import { jsonText } from './json-text.ts';
import type { RecordWriter, Transaction } from './records.ts';

/** Of what a batch says about one delivery the last counts. */
export const deliveryRecords: RecordWriter = {
  types: ['delivery.saved', 'delivery.message_posted'],
  async write(tx, effects, numbers) {
    const saved = new Map<string, DeliverySaved>();
    const posted = new Map<string, MessagePosted>();
    for (const record of effects as readonly DeliveryRecord[]) {
      if (record.type === 'delivery.saved') saved.set(rowKey(record), record);
      else posted.set(`${record.connectionId} ${record.messageId}`, record);
    }
    if (saved.size > 0) await save(tx, [...saved.values()], numbers);
    if (posted.size > 0) await remember(tx, [...posted.values()]);
  },
};

function rowKey({ destinationId, delivery }: DeliverySaved): string {
  return `${destinationId} ${deliveryKey(delivery)}`;
}

function groupIdOf({ subject }: Delivery): PublicId | null {
  return subject.kind === 'group' ? subject.groupId : null;
}

/** In one order, so that two commits never wait for each other in a circle. */
async function save(
  tx: Transaction,
  records: readonly DeliverySaved[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const ordered = [...records].sort((left, right) => (rowKey(left) < rowKey(right) ? -1 : 1));
  const rows = ordered.map(({ destinationId, delivery, state, isOpen, error, wanted, at }) => ({
    destination_id: destinationId,
    subject: subjectText(delivery.subject),
    target: delivery.target,
    group_id: groupIdOf(delivery),
    route_id: delivery.routeId,
    number: delivery.number ?? numbers.get(groupIdOf(delivery) ?? '') ?? null,
    urgent: delivery.urgent,
    is_open: isOpen,
    state,
    possible_duplicate: delivery.possibleDuplicate,
    thread_not_attached: delivery.threadNotAttached,
    message_url: delivery.message?.url ?? null,
    error,
    updated_at: at,
    wanted,
    signed_with: delivery.message?.signedWith ?? null,
    kept: delivery,
  }));
  // index: deliveries_pkey
  await tx`
    insert into deliveries as known (
      destination_id, subject, target, group_id, route_id, number, urgent, is_open, state, possible_duplicate,
      thread_not_attached, message_url, error, updated_at, wanted, signed_with, kept
    )
    select
      destination_id, subject, target, group_id, route_id, number, urgent, is_open, state, possible_duplicate,
      thread_not_attached, message_url, error, updated_at, wanted, signed_with, kept
    from json_to_recordset(${jsonText(rows)}::text::json) as s (
      destination_id text, subject text, target integer, group_id text, route_id text, number bigint, urgent boolean,
      is_open boolean, state text, possible_duplicate boolean, thread_not_attached boolean, message_url text,
      error text, updated_at bigint, wanted boolean, signed_with text, kept jsonb
    )
    on conflict (destination_id, subject, target) do update set
      route_id = excluded.route_id,
      number = coalesce(excluded.number, known.number),
      urgent = excluded.urgent,
      is_open = excluded.is_open,
      state = excluded.state,
      possible_duplicate = excluded.possible_duplicate,
      thread_not_attached = excluded.thread_not_attached,
      message_url = excluded.message_url,
      error = excluded.error,
      updated_at = excluded.updated_at,
      wanted = excluded.wanted,
      signed_with = excluded.signed_with,
      kept = excluded.kept`;
}

/** A Root message takes the place of the one before it, which stays known: people still press its buttons. */
async function remember(tx: Transaction, posted: readonly MessagePosted[]): Promise<void> {
  const roots = posted.filter(({ kind }) => kind === 'root');
  if (roots.length > 0) {
    // index: delivered_messages_of_group
    await tx`
      update delivered_messages set is_present = false
      from unnest(
        ${wordArray(roots.map(({ destinationId }) => destinationId))}::text[],
        ${wordArray(roots.map(({ groupId }) => groupId ?? ''))}::text[]
      ) as anew (destination_id, group_id)
      where delivered_messages.group_id = anew.group_id
        and delivered_messages.destination_id = anew.destination_id
        and delivered_messages.kind = 'root' and delivered_messages.is_present`;
  }
  await tx`
    insert into delivered_messages (
      connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
    )
    select connection_id, message_id, destination_id, kind, group_id, kind <> 'reply', posted_at
    from unnest(
      ${wordArray(posted.map(({ connectionId }) => connectionId))}::text[],
      ${textArray(posted.map(({ messageId }) => messageId))}::text[],
      ${wordArray(posted.map(({ destinationId }) => destinationId))}::text[],
      ${wordArray(posted.map(({ kind }) => kind))}::text[],
      ${textArray(posted.map(({ groupId }) => groupId))}::text[],
      ${numberArray(posted.map(({ at }) => at))}::bigint[]
    ) as p (connection_id, message_id, destination_id, kind, group_id, posted_at)
    on conflict (connection_id, message_id) do update set
      destination_id = excluded.destination_id, kind = excluded.kind, group_id = excluded.group_id,
      is_present = excluded.is_present, posted_at = excluded.posted_at`;
}
