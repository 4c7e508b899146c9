/** The real server on a real database, with people who are signed in without going through the sign-in. */
import { randomBytes } from 'node:crypto';
import { sessionHash } from '../actors/access/session.ts';
import type { RoleName } from '../actors/access/user.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { Sql } from '../storage/postgres/records.ts';
import type { SignedIn, TestHttp } from './http-server.ts';

/** An active user of the Role, stored. */
export async function storedUser(sql: Sql, role: RoleName, at: Micros): Promise<PublicId> {
  const id = newPublicId('SR');
  const login = `${role}-${id}`.toLowerCase();
  await sql`
    insert into users (id, version, login, login_folded, name, email, role, source, status, created_at)
    values (${id}, 1, ${login}, ${login}, ${role}, null, ${role}, 'local', 'active', ${at})`;
  return id;
}

/** A live session of a stored user. */
export async function storedSession(
  sql: Sql,
  userId: PublicId,
  { send, clock }: Pick<TestHttp, 'send' | 'clock'>,
): Promise<SignedIn> {
  const bytes = randomBytes(32);
  const now = clock.now();
  await sql`
    insert into sessions (id, hash, user_id, state, method, created_at, last_used_at, expires_at)
    values (
      ${newPublicId('SN')}, ${sessionHash(bytes)}, ${userId}, 'active', 'local', ${now}, ${now}, ${now + 1e15}
    )`;
  const cookie = `svc_session=${bytes.toString('base64url')}`;
  const { json } = await send('GET', '/api/v1/sessions/current', { headers: { cookie } });
  return { cookie, csrf: String(json.csrf_token), userId };
}
