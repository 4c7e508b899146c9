/** Rows of users as the domain sees them, locked for a change; the last active Admin stays one (access §7). */
import type { User } from '../../actors/access/user.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { LOCKS } from '../postgres/locks.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

export interface UserRow {
  id: User['id'];
  version: number;
  login: string;
  name: string;
  email: string | null;
  role: User['role'];
  source: User['source'];
  status: User['status'];
  time_zone: string | null;
  language: User['language'];
  last_sign_in_at: Micros | null;
  created_at: Micros;
  password_hash: string | null;
  totp_enrolled_at: Micros | null;
  /** Set exactly while the user has an identity at the provider. */
  oidc_signed_in_at: Micros | null;
  oidc_refused_at: Micros | null;
  offline_token_at: Micros | null;
  role_locked: boolean;
}

export function userOf(row: UserRow): User {
  return {
    id: row.id,
    version: row.version,
    login: row.login,
    name: row.name,
    email: row.email,
    role: row.role,
    source: row.source,
    status: row.status,
    timeZone: row.time_zone,
    language: row.language,
    lastSignInAt: row.last_sign_in_at,
    createdAt: row.created_at,
    hasPassword: row.password_hash !== null,
    totpEnabled: row.totp_enrolled_at !== null,
    oidc: providerStanding(row),
    roleLocked: row.role_locked,
  };
}

function providerStanding(row: UserRow): User['oidc'] {
  const { oidc_signed_in_at: signedInAt } = row;
  if (signedInAt === null) return null;
  return {
    signedInAt,
    isRefused: row.oidc_refused_at !== null,
    hasOfflineToken: row.offline_token_at !== null,
  };
}

/** A LIKE pattern that finds `text` anywhere, whatever it holds. */
export function likePattern(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** Deleted ones too. */
export async function readUser(sql: Sql | Transaction, id: PublicId): Promise<User | null> {
  const [row] = await sql<UserRow[]>`select * from users where id = ${id}`;
  return row ? userOf(row) : null;
}

/** A user who is not deleted, for a change of it. */
export async function lockUser(tx: Transaction, id: PublicId): Promise<User | null> {
  const [row] = await tx<UserRow[]>`
    select * from users where id = ${id} and status <> 'deleted' for update`;
  return row ? userOf(row) : null;
}

/** Whether this user may stop being an active Admin. */
export async function mayLose(tx: Transaction, { id, role, status }: User): Promise<boolean> {
  return role !== 'admin' || status !== 'active' || hasOtherAdmin(tx, id);
}

/** Whether an active Admin remains without this user. Until the commit nobody else can be told so. */
export async function hasOtherAdmin(tx: Transaction, userId: PublicId): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(${LOCKS.admins})`;
  const others = await tx`
    select 1 from users where role = 'admin' and status = 'active' and id <> ${userId} limit 1`;
  return others.length > 0;
}
