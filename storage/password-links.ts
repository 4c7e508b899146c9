/** Links that set a password: one live link a user, of which only the hash is kept (access §4.2). */
import { ENDED_LINK_KEPT } from '../actors/access/password-policy.ts';
import type { LinkStanding, PasswordLinks } from '../actors/access/password-ports.ts';
import type { NewSetupLink } from '../actors/access/user-ports.ts';
import { auditEntry } from '../actors/audit.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import type { Sql, Transaction } from './records.ts';
import { endSessionsOf } from './session-ends.ts';
import { inTransaction } from './transaction.ts';

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
        const by = { kind: 'system', id: null, name: 'system' } as const;
        const entry = { action: 'user.password_set', resourceId: id, resourceName: name };
        await appendAudit(tx, auditEntry({ by, at, address }, entry));
        return 'completed';
      }),
  };
}

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
