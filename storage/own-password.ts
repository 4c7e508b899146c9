/** People change their own password (access §4.2). */
import type { OwnPasswords } from '../actors/access/password-ports.ts';
import { auditEntry } from '../actors/audit.ts';
import type { AppendAudit } from './access.ts';
import { forgetFailures } from './access-throttle.ts';
import { endSetupLinks } from './password-links.ts';
import type { Sql } from './records.ts';
import { endSessionsOf } from './session-ends.ts';
import { inTransaction } from './transaction.ts';

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
