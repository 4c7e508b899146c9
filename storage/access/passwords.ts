/** Passwords that people set: their own, and through a link, of which only the hash is kept (access §4.2). */
import { ENDED_LINK_KEPT } from '../../actors/access/passwords.ts';
import type { LinkStanding, OwnPasswords, PasswordLinks } from '../../actors/access/ports.ts';
import type { NewSetupLink } from '../../actors/access/user.ts';
import { auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';
import { endSessionsOf } from './sessions.ts';
import { forgetFailures, recordRefusal } from './throttle.ts';

export function createPasswordLinks(sql: Sql, appendAudit: AppendAudit): PasswordLinks {
  return {
    async standing(hash, now) {
      return standingOf(await findLink(sql, hash), now);
    },

    complete: (hash, passwordHash, at, address) =>
      inTransaction(sql, async (tx) => {
        const found = await findLink(tx, hash);
        // The user before the link, as whoever makes links locks them.
        if (found) await tx`select 1 from users where id = ${found.user_id} for update`;
        const link = await findLink(tx, hash);
        const standing = standingOf(link, at);
        if (standing !== 'usable' || !link) return standing === 'usable' ? 'unknown' : standing;
        const { user_id: id, name } = link;
        await tx`update users set password_hash = ${passwordHash} where id = ${id}`;
        await endSetupLinks(tx, id, at);
        await endSessionsOf(tx, id, 'password_changed', at);
        const entry = { action: 'user.password_set', resourceId: id, resourceName: name };
        await appendAudit(tx, auditEntry({ by: SYSTEM, at, address }, entry));
        return 'completed';
      }),

    async refused(hash, reason, at, address) {
      const link = hash && (await findLink(sql, hash));
      const change = {
        action: 'user.password_setup_failed',
        resourceId: link?.user_id ?? null,
        resourceName: link?.name ?? null,
        details: { reason },
      };
      await recordRefusal(sql, appendAudit, auditEntry({ by: SYSTEM, at, address }, change));
    },
  };
}

const SYSTEM = { kind: 'system', id: null, name: 'system' } as const;

interface LinkRow {
  readonly user_id: PublicId;
  readonly name: string;
  readonly expires_at: Micros;
  readonly ended_at: Micros | null;
  /** The account was deleted or turned over to the provider meanwhile. */
  readonly is_void: boolean;
}

async function findLink(sql: Sql | Transaction, hash: Uint8Array): Promise<LinkRow | null> {
  const [row] = await sql<LinkRow[]>`
    select
      l.user_id, u.name, l.expires_at, l.ended_at,
      u.status = 'deleted' or u.oidc_subject is not null as is_void
    from password_setup_links l
    join users u on u.id = l.user_id
    where l.hash = ${Buffer.from(hash)}`;
  return row ?? null;
}

function standingOf(link: LinkRow | null, now: Micros): LinkStanding {
  if (!link || now >= link.expires_at + ENDED_LINK_KEPT) return 'unknown';
  if (link.ended_at !== null || link.is_void) return 'link_used';
  return now >= link.expires_at ? 'link_expired' : 'usable';
}

/** A new link takes the place of the one before. The user is locked, so that two never meet. */
export async function replaceSetupLink(
  tx: Transaction,
  userId: PublicId,
  { hash, expiresAt }: NewSetupLink,
  at: Micros,
): Promise<void> {
  await endSetupLinks(tx, userId, at);
  await tx`
    insert into password_setup_links (hash, user_id, created_at, expires_at)
    values (${Buffer.from(hash)}, ${userId}, ${at}, ${expiresAt})`;
}

/** The password was set in another way, or nobody is left to set it. */
export async function endSetupLinks(tx: Transaction, userId: PublicId, at: Micros): Promise<void> {
  // index: password_setup_links_live
  await tx`
    update password_setup_links set ended_at = ${at} where user_id = ${userId} and ended_at is null`;
}

/** People change their own password (access §4.2). */
export function createOwnPasswords(sql: Sql, appendAudit: AppendAudit): OwnPasswords {
  return {
    async hashOf(userId) {
      const [row] = await sql<{ password_hash: string | null }[]>`
        select password_hash from users where id = ${userId} and status = 'active' and oidc_subject is null`;
      return row?.password_hash ?? null;
    },

    change: ({ userId, replaces, passwordHash, sessionId, attempt }, author) =>
      inTransaction(sql, async (tx) => {
        const [row] = await tx<{ name: string }[]>`
          update users set password_hash = ${passwordHash}
          where id = ${userId} and status = 'active' and password_hash = ${replaces}
          returning name`;
        if (!row) return false;
        await endSetupLinks(tx, userId, author.at);
        await endSessionsOf(tx, userId, 'password_changed', author.at, sessionId);
        await forgetFailures(tx, attempt);
        const entry = { action: 'user.password_changed', resourceId: userId, resourceName: row.name };
        await appendAudit(tx, auditEntry(author, entry));
        return true;
      }),
  };
}
