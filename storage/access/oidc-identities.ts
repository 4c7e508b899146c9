/** What the provider says of an account, applied: its Role, and the end of the tie (access §6.4, §6.5, §7). */
import type { RoleName, User } from '../../actors/access/user.ts';
import { type Authorship, auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Transaction } from '../postgres/records.ts';
import type { AppendAudit } from '../postgres/transaction.ts';
import { endSessionsOf } from './sessions.ts';
import { hasOtherAdmin, type UserRow, userOf } from './user-rows.ts';

export interface RoleSync {
  readonly tx: Transaction;
  readonly appendAudit: AppendAudit;
  readonly at: Micros;
  readonly address: string | null;
  readonly occasion: 'sign_in' | 'recheck';
  /** A session that stays. */
  readonly except: PublicId | null;
}

/** @param user whose row is locked. @returns the user as they are then: the last active Admin stays one */
export async function syncRole(sync: RoleSync, user: User, role: RoleName): Promise<User> {
  const { tx, appendAudit, at, occasion, except } = sync;
  if (user.role === role) return withheld(tx, user, null);
  if (user.role === 'admin' && !(await hasOtherAdmin(tx, user.id))) return keepAdmin(sync, user, role);
  const [row] = await tx<UserRow[]>`
    update users set role = ${role}, version = version + 1, oidc_withheld_role = null
    where id = ${user.id}
    returning *`;
  if (!row) throw new Error(`user ${user.id} is locked and not there`);
  await endSessionsOf(tx, user.id, 'role_changed', at, except);
  const diff = [{ pointer: '/role', before: user.role, after: role }];
  await appendAudit(
    tx,
    entryOf(sync, user, { action: 'user.role_changed', diff, details: { at: occasion } }),
  );
  return userOf(row);
}

/** Told once for each Role that the provider would give. */
async function keepAdmin(sync: RoleSync, user: User, role: RoleName): Promise<User> {
  const { tx, appendAudit, occasion } = sync;
  const [known] = await tx<{ role: RoleName | null }[]>`
    select oidc_withheld_role as role from users where id = ${user.id}`;
  if (known?.role === role) return user;
  const details = { mapped_role: role, at: occasion };
  await appendAudit(tx, entryOf(sync, user, { action: 'user.role_sync_kept_admin', details }));
  return withheld(tx, user, role);
}

async function withheld(tx: Transaction, user: User, role: RoleName | null): Promise<User> {
  await tx`
    update users set oidc_withheld_role = ${role}
    where id = ${user.id} and oidc_withheld_role is distinct from ${role}`;
  return user;
}

function entryOf(
  { at, address }: RoleSync,
  { id, name }: User,
  change: Pick<Parameters<typeof auditEntry>[1], 'action' | 'diff' | 'details'>,
) {
  return auditEntry(bySystem(at, address), { ...change, resourceId: id, resourceName: name });
}

/** What the provider's word does, nobody here did. */
export function bySystem(at: Micros, address: string | null): Authorship {
  return { by: { kind: 'system', id: null, name: 'system' }, at, address };
}

/** The account signs in without the provider from now on; the identity may link or sign up again. */
export async function forgetIdentity(tx: Transaction, userId: PublicId): Promise<void> {
  await tx`
    update users set
      oidc_issuer = null,
      oidc_subject = null,
      oidc_signed_in_at = null,
      oidc_contact_at = null,
      oidc_refused_at = null,
      oidc_withheld_role = null
    where id = ${userId}`;
  await wipeOfflineToken(tx, userId);
}

/** The provider is not asked about the user any more, until they sign in through it again. */
export async function wipeOfflineToken(tx: Transaction, userId: PublicId): Promise<void> {
  await tx`
    update users set offline_token = null, offline_token_at = null, oidc_check_at = null where id = ${userId}`;
}
