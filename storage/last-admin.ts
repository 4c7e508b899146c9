/** Somebody can always administer: the last active Admin stays one (access §7). */
import type { PublicId } from '../runtime/public-id.ts';
import { LOCKS } from './locks.ts';
import type { Transaction } from './records.ts';

/** Whether an active Admin remains without this user. Until the commit nobody else can be told so. */
export async function hasOtherAdmin(tx: Transaction, userId: PublicId): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(${LOCKS.admins})`;
  const others = await tx`
    select 1 from users where role = 'admin' and status = 'active' and id <> ${userId} limit 1`;
  return others.length > 0;
}
