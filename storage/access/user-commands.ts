/** What the command line does to users: whoever holds the database may let anybody in again (access §12). */
import { accountKey } from '../../actors/access/throttle.ts';
import { foldLogin, type NewSetupLink, type User } from '../../actors/access/user.ts';
import { type AuditedChange, auditEntry } from '../../actors/audit.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import type { Change } from '../postgres/transaction.ts';
import { forgetIdentity } from './oidc-identities.ts';
import { endSetupLinks, replaceSetupLink } from './passwords.ts';
import { wipeSecondFactor } from './second-factors.ts';
import { endSessionsOf } from './sessions.ts';
import { type UserRow, userOf } from './user-rows.ts';

/** Every user, deleted ones too, by login. */
export async function listUsers(sql: Sql): Promise<readonly User[]> {
  const rows = await sql<UserRow[]>`select * from users order by login_folded collate "C"`;
  return rows.map(userOf);
}

/** Works on accounts of the provider, too: they sign in with the password from then on. Enables nobody. */
export async function resetPassword(
  made: Change,
  login: string,
  passwordHash: string,
): Promise<'unknown' | 'done'> {
  const { tx, author } = made;
  const user = await lockByLogin(tx, login);
  if (!user) return 'unknown';
  if (user.oidc) await forgetIdentity(tx, user.id);
  await tx`update users set password_hash = ${passwordHash}, version = version + 1 where id = ${user.id}`;
  await endSetupLinks(tx, user.id, author.at);
  await endSessionsOf(tx, user.id, 'password_changed', author.at);
  await forgetAccount(tx, user);
  await record(made, user, { action: 'user.password_reset' });
  return 'done';
}

/** `nothing`: there was no second factor, and nothing is recorded. */
export async function resetTotp(made: Change, login: string): Promise<'unknown' | 'nothing' | 'done'> {
  const { tx, author } = made;
  const user = await lockByLogin(tx, login);
  if (!user) return 'unknown';
  if (!(await wipeSecondFactor(tx, user.id))) return 'nothing';
  await endSessionsOf(tx, user.id, 'totp_reset', author.at);
  await record(made, user, { action: 'totp.reset' });
  return 'done';
}

export async function makeSetupLink(
  made: Change,
  login: string,
  link: NewSetupLink,
): Promise<'unknown' | 'local_user_only' | 'done'> {
  const user = await lockByLogin(made.tx, login);
  if (!user) return 'unknown';
  if (user.oidc) return 'local_user_only';
  await replaceSetupLink(made.tx, user.id, link, made.author.at);
  await record(made, user, { action: 'user.password_setup_link_created' });
  return 'done';
}

/** The account may be tried at once; sources stay slowed down. `nothing`: it had not failed. */
export async function unlock(made: Change, login: string): Promise<'unknown' | 'nothing' | 'done'> {
  const user = await lockByLogin(made.tx, login);
  if (!user) return 'unknown';
  if (!(await forgetAccount(made.tx, user))) return 'nothing';
  await record(made, user, { action: 'user.unlocked' });
  return 'done';
}

async function lockByLogin(tx: Transaction, login: string): Promise<User | null> {
  // index: users_login
  const [row] = await tx<UserRow[]>`
    select * from users where login_folded = ${foldLogin(login)} and status <> 'deleted' for update`;
  return row ? userOf(row) : null;
}

async function forgetAccount(tx: Transaction, { login }: User): Promise<boolean> {
  const key = accountKey(login);
  const failed = await tx`
    select from login_throttles
    where (key = ${key} or starts_with(key, ${`${key}/`})) and failures > 0 order by key for update`;
  await tx`delete from login_throttles where key = ${key} or starts_with(key, ${`${key}/`})`;
  return failed.length > 0;
}

function record(
  { tx, appendAudit, author }: Change,
  { id, name }: User,
  change: Pick<AuditedChange, 'action'>,
): Promise<void> {
  return appendAudit(tx, auditEntry(author, { ...change, resourceId: id, resourceName: name }));
}
