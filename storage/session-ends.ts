/** Sessions that something else than their own sign-out ends. */
import type { EndReason } from '../actors/access/session.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Transaction } from './records.ts';

/** Ends what a user has open, one session excepted where that is given. @returns how many ended */
export async function endSessionsOf(
  tx: Transaction,
  userId: PublicId,
  reason: EndReason,
  at: Micros,
  except: PublicId | null = null,
): Promise<number> {
  // index: sessions_of_user
  const ended = await tx`
    update sessions set ended_at = ${at}, end_reason = ${reason}
    where user_id = ${userId} and ended_at is null and id is distinct from ${except}`;
  return ended.count;
}
