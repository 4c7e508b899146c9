/** Last edits that were to go through a Connection that is deleted: they end, and nobody waits for a token of it (delivery §10). */
import { type DestinationMessage, destinationAddress } from '../actors/destination/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox } from './inbox.ts';
import type { Transaction } from './records.ts';

const LOOK_AGAIN: DestinationMessage = { type: 'saved' };

/** Tells those that were deleted, or pointed elsewhere, with something still to do. */
export async function endLastEdits(tx: Transaction, connectionId: PublicId, at: Micros): Promise<void> {
  // indexes: destinations_of_connection, deliveries_wanted
  const rows = await tx<{ id: PublicId }[]>`
    with posted as (
      select id from destinations where connection_id = ${connectionId}
      union
      select destination_id from destination_targets where connection_id = ${connectionId}
    )
    select id from posted
    where exists (select 1 from deliveries where destination_id = posted.id and wanted)
    order by id`;
  const entries = rows.map(({ id }) => ({ to: destinationAddress(id), message: LOOK_AGAIN }));
  await enqueueInbox(tx, entries, at);
}
