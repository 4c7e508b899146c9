/** What becomes of an account beyond its fields: switched off and on, deleted, given back a way in (access §7). */
import { type NewSetupLink, nameOfDeleted, type User, type UserSwitch } from '../../actors/access/user.ts';
import { alertGroupAddress, type OwnerReleased } from '../../actors/alert-group/messages.ts';
import { type AuditedChange, auditDiff, auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { rerenderNaming } from '../delivery/rerender.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type Change, inTransaction } from '../postgres/transaction.ts';
import { unlinkUser } from './account-links.ts';
import { revokeTokensOfUser } from './api-tokens.ts';
import { forgetIdentity, wipeOfflineToken } from './oidc-identities.ts';
import { endSetupLinks, replaceSetupLink } from './passwords.ts';
import { wipeSecondFactor } from './second-factors.ts';
import { endSessionsOf } from './sessions.ts';
import { lockUser, mayLose, readUser } from './user-rows.ts';

export async function disable(made: Change, id: PublicId): Promise<UserSwitch> {
  const { tx, author } = made;
  const user = await lockUser(tx, id);
  if (!user) return { outcome: 'unknown' };
  if (user.status === 'disabled') return { outcome: 'unchanged', user };
  if (!(await mayLose(tx, user))) return { outcome: 'last_admin' };
  await endSessionsOf(tx, id, 'user_disabled', author.at);
  await wipeOfflineToken(tx, id);
  await releaseOwned(tx, id, 'owner_disabled', author.at);
  return switchTo(made, user, 'disabled');
}

export async function enable(made: Change, id: PublicId): Promise<UserSwitch> {
  const user = await lockUser(made.tx, id);
  if (!user) return { outcome: 'unknown' };
  return user.status === 'active' ? { outcome: 'unchanged', user } : switchTo(made, user, 'active');
}

async function switchTo(made: Change, user: User, status: 'active' | 'disabled'): Promise<UserSwitch> {
  await made.tx`update users set version = version + 1, status = ${status} where id = ${user.id}`;
  const diff = auditDiff({ status: user.status }, { status });
  await record(made, user, { action: status === 'active' ? 'user.enabled' : 'user.disabled', diff });
  return { outcome: 'switched', user: await changed(made, user.id) };
}

export async function remove(
  made: Change,
  id: PublicId,
  isCurrent: ((version: number) => boolean) | null,
): Promise<'unknown' | 'stale' | 'last_admin' | 'removed'> {
  const { tx, author } = made;
  const user = await lockUser(tx, id);
  if (!user) return 'unknown';
  if (isCurrent && !isCurrent(user.version)) return 'stale';
  if (!(await mayLose(tx, user))) return 'last_admin';
  await endSessionsOf(tx, id, 'user_deleted', author.at);
  const revoked = await revokeTokensOfUser(tx, id, author.at);
  await unlinkUser(made, id);
  await endSetupLinks(tx, id, author.at);
  await wipeSecondFactor(tx, id);
  await wipeOfflineToken(tx, id);
  await releaseOwned(tx, id, 'owner_deleted', author.at);
  await tx`delete from saved_views where owner_id = ${id} and not shared`;
  await tx`delete from default_views where user_id = ${id}`;
  const name = nameOfDeleted(id);
  // The identity at the provider stays, to refuse whoever comes with it.
  await tx`
    update users set
      version = version + 1,
      status = 'deleted',
      name = ${name},
      login = ${name},
      login_folded = ${name.toLowerCase()},
      email = null,
      password_hash = null
    where id = ${id}`;
  await record(made, { id, name }, { action: 'user.deleted', details: { tokens_revoked: revoked } });
  await rerenderNaming(tx, id, author.at);
  return 'removed';
}

export async function resetTotp(made: Change, id: PublicId): Promise<'unknown' | 'reset'> {
  const { tx, author } = made;
  const user = await lockUser(tx, id);
  if (!user) return 'unknown';
  if (!(await wipeSecondFactor(tx, id))) return 'reset';
  await endSessionsOf(tx, id, 'totp_reset', author.at);
  await record(made, user, { action: 'totp.reset' });
  return 'reset';
}

export async function convertToLocal(
  made: Change,
  id: PublicId,
  link: NewSetupLink,
): Promise<User | 'unknown' | 'oidc_not_linked'> {
  const { tx, author } = made;
  const user = await lockUser(tx, id);
  if (!user) return 'unknown';
  if (!user.oidc) return 'oidc_not_linked';
  await forgetIdentity(tx, id);
  await endSessionsOf(tx, id, 'converted_to_local', author.at);
  await replaceSetupLink(tx, id, link, author.at);
  await tx`update users set version = version + 1 where id = ${id}`;
  await record(made, user, { action: 'user.converted_to_local' });
  return changed(made, id);
}

export async function addSetupLink(
  made: Change,
  id: PublicId,
  link: NewSetupLink,
): Promise<'unknown' | 'local_user_only' | 'added'> {
  const user = await lockUser(made.tx, id);
  if (!user) return 'unknown';
  if (user.oidc) return 'local_user_only';
  await replaceSetupLink(made.tx, id, link, made.author.at);
  await record(made, user, { action: 'user.password_setup_link_created' });
  return 'added';
}

async function changed({ tx }: Change, id: PublicId): Promise<User> {
  const user = await readUser(tx, id);
  if (!user) throw new Error('the user is locked');
  return user;
}

function record(
  { tx, appendAudit, author }: Change,
  { id, name }: Pick<User, 'id' | 'name'>,
  change: Omit<AuditedChange, 'resourceId' | 'resourceName'>,
): Promise<void> {
  return appendAudit(tx, auditEntry(author, { ...change, resourceId: id, resourceName: name }));
}

/** Releases the acknowledgements of a user who is no longer active (alert-groups §3.3). */
type Reason = OwnerReleased['reason'];

/**
 * Tells the groups that the user owns, and those that would have them as Owner again when they reopen: both lose it for
 * good, whatever becomes of the user.
 */
async function releaseOwned(tx: Transaction, userId: PublicId, reason: Reason, at: Micros): Promise<void> {
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
 * before the transaction could see it. A group that has the message already ignores it.
 */
export function releaseLate(sql: Sql, userId: PublicId, reason: Reason, at: Micros): Promise<void> {
  return inTransaction(sql, (tx) => releaseOwned(tx, userId, reason, at));
}
