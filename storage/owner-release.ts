/** Alert Groups of somebody who is not active any more get their acknowledgement back (Alert Group chapter §3.3). */
import { alertGroupAddress, type OwnerReleased } from '../actors/alert-group/messages.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { enqueueInbox } from './inbox.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

type Reason = OwnerReleased['reason'];

/**
 * Tells the groups that the user owns, and those that would have them as Owner again when they reopen: both lose it for
 * good, whatever becomes of the user.
 */
export async function releaseOwned(
  tx: Transaction,
  userId: PublicId,
  reason: Reason,
  at: Micros,
): Promise<void> {
  // indexes: alert_groups_owner; actors_wake, because a group that may reopen waits for the end of that
  const groups = await tx<{ id: PublicId }[]>`
    select id from alert_groups where owner_id = ${userId}
    union
    select a.key from actors a
    where a.kind = 'alert_group'
      and a.wake_at is not null
      and a.snapshot #>> '{snapshot,context,prior,owner,id}' = ${userId}`;
  const message: OwnerReleased = { type: 'owner_released', userId, reason };
  await enqueueInbox(
    tx,
    groups.map(({ id }) => ({ to: alertGroupAddress(id), message })),
    at,
  );
}

/**
 * Once more after the change has committed: an acknowledgement may have been on its way to its commit meanwhile, decided
 * before anybody could know. A group that was told already takes no notice.
 */
export function releaseLate(sql: Sql, userId: PublicId, reason: Reason, at: Micros): Promise<void> {
  return inTransaction(sql, (tx) => releaseOwned(tx, userId, reason, at));
}
