/** Tells Destinations that open messages of theirs may have to show something else (delivery §2). */
import { destinationAddress } from '../actors/destination/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox } from './inbox.ts';
import type { Transaction } from './records.ts';

/** What is equal to what a messenger has is not sent: telling too many costs a look, and no call. */
const RERENDER = { type: 'rerender', routeId: null } as const;

/** Those that post through some Connections: people are called otherwise there. */
export async function rerenderThrough(
  tx: Transaction,
  connectionIds: readonly string[],
  at: Micros,
): Promise<void> {
  if (connectionIds.length === 0) return;
  // index: destinations_of_connection
  const rows = await tx<{ id: PublicId }[]>`
    select id from destinations
    where connection_id = any(${[...connectionIds]}::text[]) and deleted_at is null
    order by id`;
  await tell(tx, rows, at);
}

/** Those that post through any Connection. */
export async function rerenderButtons(tx: Transaction, at: Micros): Promise<void> {
  const rows = await tx<{ id: PublicId }[]>`
    select id from destinations where connection_id is not null and deleted_at is null order by id`;
  await tell(tx, rows, at);
}

function tell(tx: Transaction, rows: readonly { readonly id: PublicId }[], at: Micros): Promise<void> {
  const entries = rows.map(({ id }) => ({ to: destinationAddress(id), message: RERENDER }));
  return enqueueInbox(tx, entries, at);
}
