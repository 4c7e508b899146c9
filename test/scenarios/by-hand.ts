/**
 * What a scenario does not do through the API: people whose sessions outlive it, and what no operation gives. A scenario
 * uses the API for everything else.
 */
import { randomBytes } from 'node:crypto';
import { sessionHash } from '../../actors/access/session.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql } from '../../storage/postgres/records.ts';

export type Role = 'admin' | 'responder' | 'viewer';

export interface PersonByHand {
  readonly id: PublicId;
  /** Value of the session cookie. The session outlives every scenario. */
  readonly cookie: string;
}

export async function insertPerson(sql: Sql, name: string, role: Role, now: Micros): Promise<PersonByHand> {
  const id = newPublicId('SR');
  const login = `${name.toLowerCase()}-${id.toLowerCase()}`;
  const value = randomBytes(32);
  const forever = now + 3_650 * DAY;
  await sql.begin(async (tx) => {
    await tx`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values (${id}, 1, ${login}, ${login}, ${name}, ${role}, 'local', 'active', ${now})`;
    await tx`
      insert into sessions (id, hash, user_id, state, method, created_at, last_used_at, expires_at)
      values (
        ${newPublicId('SN')}, ${sessionHash(value)}, ${id}, 'active', 'local', ${now}, ${forever}, ${forever}
      )`;
  });
  return { id, cookie: value.toString('base64url') };
}

/** Actions of the Audit log since a moment, in order: `alert_group.acknowledged Ann`. */
export async function auditSince(sql: Sql, from: Micros): Promise<string[]> {
  const rows = await sql<{ action: string; actor_name: string }[]>`
    select action, actor_name from audit_log where at >= ${from} order by at, id`;
  return rows.map(({ action, actor_name }) => `${action} ${actor_name}`);
}

/** When somebody led last: nobody can be kept from leading in an installation of one process. */
export async function backdateSignOfLife(sql: Sql, at: Micros): Promise<void> {
  await sql`update alive_mark set at = ${at}`;
}
