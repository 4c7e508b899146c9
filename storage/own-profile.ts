/** People change their own profile (access §4.3). */
import type { Profiles } from '../actors/access/profile-ports.ts';
import { auditDiff, auditEntry } from '../actors/audit.ts';
import type { AppendAudit } from './access.ts';
import { type UserRow, userOf } from './access-rows.ts';
import type { Sql } from './records.ts';
import { rerenderNaming } from './rerender.ts';
import { inTransaction } from './transaction.ts';
import { lockUser } from './user-lock.ts';

export function createProfiles(sql: Sql, appendAudit: AppendAudit): Profiles {
  return {
    update: (id, fieldsOf, author) =>
      inTransaction(sql, async (tx) => {
        const current = await lockUser(tx, id);
        if (!current) throw new Error('the caller of a request exists');
        const { name, timeZone, language } = fieldsOf(current);
        const diff = auditDiff(
          { name: current.name, time_zone: current.timeZone, language: current.language },
          { name, time_zone: timeZone, language },
        );
        if (diff.length === 0) return current;
        const [row] = await tx<UserRow[]>`
          update users set version = version + 1, name = ${name}, time_zone = ${timeZone}, language = ${language}
          where id = ${id}
          returning *`;
        if (!row) throw new Error('the user is locked');
        const entry = { action: 'user.profile_updated', resourceId: id, resourceName: name, diff };
        await appendAudit(tx, auditEntry(author, entry));
        if (name !== current.name) await rerenderNaming(tx, id, author.at);
        return userOf(row);
      }),
  };
}
