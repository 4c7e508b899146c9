/** Tells Destinations, with what was saved, that it concerns their messages (delivery §2, §7.4). */
import { type DestinationMessage, destinationAddress } from '../../actors/destination/messages.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { Transaction } from '../postgres/records.ts';

/** What is equal to what a messenger has is not sent: telling too many costs a look, and no call. */
const RERENDER = { type: 'rerender', routeId: null } as const;

/** Those that post through a Connection: the other side shows other things. */
export function rerenderThrough(tx: Transaction, connectionId: PublicId, at: Micros): Promise<void> {
  return tellThrough(tx, [connectionId], RERENDER, at);
}

/** Those whose people are called otherwise. @param spaces ids of Connections, or `channel_bot` (account-links §2) */
export function rerenderSpaces(tx: Transaction, spaces: readonly string[], at: Micros): Promise<void> {
  return tellThrough(tx, spaces, RERENDER, at);
}

/**
 * Those with open Root messages whose buttons another key signed than the active one (secrets §5).
 * @returns how many there are
 */
export async function rerenderOldButtons(tx: Transaction, at: Micros): Promise<number> {
  // index: deliveries_signed
  const rows = await tx<{ id: PublicId }[]>`
    select distinct d.destination_id as id
    from deliveries d join destinations t on t.id = d.destination_id and t.deleted_at is null
    where d.signed_with is not null and d.is_open and d.signed_with <> (select active_key_id from keyring)
    order by 1`;
  await tell(tx, rows, RERENDER, at);
  return rows.length;
}

/**
 * Those with an open Root message that names the user (messages §3): as its Owner, or as who snoozed it. They look at
 * what they have of the Routes of these messages, and at nothing else.
 */
export async function rerenderNaming(tx: Transaction, userId: PublicId, at: Micros): Promise<void> {
  // indexes: alert_groups_owner, alert_groups_snoozed; deliveries_of_group
  const rows = await tx<{ id: PublicId; route_id: PublicId }[]>`
    with named as (
      select id from alert_groups where owner_id = ${userId}
      union
      select id from alert_groups where status = 'snoozed' and snoozed_by ->> 'id' = ${userId}
    )
    select distinct d.destination_id as id, d.route_id
    from named n
    join deliveries d on d.group_id = n.id and d.is_open
    join destinations t on t.id = d.destination_id and t.deleted_at is null
    order by 1, 2`;
  await enqueueInbox(
    tx,
    rows.map(({ id, route_id: routeId }) => ({
      to: destinationAddress(id),
      message: { ...RERENDER, routeId },
    })),
    at,
  );
}

/** All: what is Urgent is another question from now on. */
export async function rerenderEverywhere(tx: Transaction, at: Micros): Promise<void> {
  await tell(tx, await liveOnes(tx), RERENDER, at);
}

function liveOnes(tx: Transaction): Promise<readonly { readonly id: PublicId }[]> {
  return tx<{ id: PublicId }[]>`select id from destinations where deleted_at is null order by id`;
}

/** Those that post through a Connection that was saved: a Broken one is tried at once. */
export function savedThrough(
  tx: Transaction,
  connectionId: PublicId,
  isOtherAccess: boolean,
  at: Micros,
): Promise<void> {
  return tellThrough(tx, [connectionId], { type: 'saved', ...(isOtherAccess && { isOtherAccess }) }, at);
}

/** All: they may be allowed to connect where they were not. */
export async function savedEverywhere(tx: Transaction, at: Micros): Promise<void> {
  await tell(tx, await liveOnes(tx), { type: 'saved' }, at);
}

async function tellThrough(
  tx: Transaction,
  spaces: readonly string[],
  message: DestinationMessage,
  at: Micros,
): Promise<void> {
  if (spaces.length === 0) return;
  // index: destinations_of_connection
  const rows = await tx<{ id: PublicId }[]>`
    select id from destinations
    where deleted_at is null
      and connection_id in (
        select id from connections
        where id = any(${[...spaces]}::text[]) or (type = 'channel_bot' and 'channel_bot' = any(${[...spaces]}::text[]))
      )
    order by id`;
  await tell(tx, rows, message, at);
}

function tell(
  tx: Transaction,
  rows: readonly { readonly id: PublicId }[],
  message: DestinationMessage,
  at: Micros,
): Promise<void> {
  const entries = rows.map(({ id }) => ({ to: destinationAddress(id), message }));
  return enqueueInbox(tx, entries, at);
}
