/** Users whom the provider is asked about while they are away (access §6.6). */
import type { OfflineCheck, OfflineChecks, VouchedAgain } from '../../actors/access/oidc/ports.ts';
import { SESSION_IDLE_TIMEOUT } from '../../actors/access/session.ts';
import type { User } from '../../actors/access/user.ts';
import { auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import { inSealingTransaction } from '../keys/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { bySystem, syncRole, wipeOfflineToken } from './oidc-identities.ts';
import type { OidcStoreDeps } from './oidc-settings.ts';
import { CHECK_EVERY, endWithoutToken, keepOfflineToken } from './oidc-sign-ins.ts';
import { endSessionsOf } from './sessions.ts';
import { type UserRow, userOf } from './user-rows.ts';

export function createOfflineChecks({ sql, appendAudit, keyring }: OidcStoreDeps): OfflineChecks {
  return {
    claim: (now, limit) => claim(sql, now, limit),

    vouched: (check, word, at) =>
      inSealingTransaction(sql, keyring, async (tx, sealer) => {
        const user = await lockIfCurrent(tx, check);
        if (!user) return;
        await tx`update users set oidc_contact_at = ${at} where id = ${user.id}`;
        if (word.offlineToken !== null) {
          await keepOfflineToken(tx, sealer, user.id, word.offlineToken, at);
        }
        await sync(tx, user, word, at);
      }),

    refused: (check, reason, at) =>
      inTransaction(sql, async (tx) => {
        const user = await lockIfCurrent(tx, check);
        if (!user) return;
        const { id, name } = user;
        await tx`update users set oidc_refused_at = ${at} where id = ${id}`;
        await wipeOfflineToken(tx, id);
        await endSessionsOf(tx, id, 'idp_refused', at);
        const change = { action: 'user.oidc_refused', resourceId: id, resourceName: name };
        await appendAudit(tx, auditEntry(bySystem(at, null), { ...change, details: { reason } }));
      }),

    forgotten: (check, at) =>
      inTransaction(sql, async (tx) => {
        const user = await lockIfCurrent(tx, check);
        if (user) await endWithoutToken(tx, user.id, at);
      }),
  };

  async function sync(tx: Transaction, user: User, { role }: VouchedAgain, at: Micros): Promise<void> {
    if (role === null) return;
    const occasion = { occasion: 'recheck', address: null, except: null } as const;
    await syncRole({ tx, appendAudit, at, ...occasion }, user, role);
  }
}

interface CheckRow {
  id: PublicId;
  oidc_issuer: string;
  oidc_subject: string;
  offline_token: Sealed;
  offline_token_at: Micros;
}

/** Every replica may ask at any time: whoever moves the due time on has the check. */
async function claim(sql: Sql, now: Micros, limit: number): Promise<readonly OfflineCheck[]> {
  // indexes: users_oidc_checks, sessions_of_user, api_tokens_of_user
  const hasSomethingOpen = sql`
    status = 'active' and (
      exists (
        select from sessions s
        where s.user_id = users.id and s.ended_at is null
          and s.expires_at > ${now} and s.last_used_at > ${now - SESSION_IDLE_TIMEOUT}
      )
      or exists (
        select from api_tokens t
        where t.user_id = users.id and t.revoked_at is null and (t.expires_at is null or t.expires_at > ${now})
      )
    )`;
  const isDue = sql`offline_token is not null and oidc_check_at <= ${now}`;
  const next = now + CHECK_EVERY;
  // Nothing of these can go on without the provider's word; they are not looked at again and again.
  await sql`update users set oidc_check_at = ${next} where ${isDue} and not (${hasSomethingOpen})`;
  const rows = await sql<CheckRow[]>`
    update users set oidc_check_at = ${next}
    where id in (
      select id from users
      where ${isDue} and ${hasSomethingOpen}
      order by oidc_check_at
      limit ${limit}
      for update skip locked
    )
    returning id, oidc_issuer, oidc_subject, offline_token, offline_token_at`;
  return rows.map((row) => ({
    userId: row.id,
    identity: { issuer: row.oidc_issuer, subject: row.oidc_subject },
    offlineToken: row.offline_token,
    offlineTokenAt: row.offline_token_at,
  }));
}

/** Null when the user has another token meanwhile, or none. */
async function lockIfCurrent(tx: Transaction, check: OfflineCheck): Promise<User | null> {
  const [row] = await tx<UserRow[]>`
    select * from users where id = ${check.userId} and offline_token_at = ${check.offlineTokenAt} for update`;
  return row ? userOf(row) : null;
}
