/** Web sessions in Postgres, and what ends them besides their own sign-out (access §3). */
import type { ListedSession, Sessions, SignIn } from '../../actors/access/ports.ts';
import {
  type EndReason,
  SESSION_IDLE_TIMEOUT,
  type Session,
  type SessionWithUser,
} from '../../actors/access/session.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';
import { type UserRow, userOf } from './user-rows.ts';

export function createSessions({
  sql,
  appendAudit,
}: {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
}): Sessions {
  return {
    async find(hash) {
      // index: sessions_hash_key
      const [row] = await sql<(UserRow & SessionRow)[]>`
        select
          u.*,
          s.id as session_id, s.state, s.method, s.created_at as session_created_at, s.last_used_at,
          s.expires_at, s.ended_at, s.end_reason
        from sessions s
        join users u on u.id = s.user_id
        where s.hash = ${Buffer.from(hash)}`;
      return row ? sessionOf(row) : null;
    },

    async touch(id, at) {
      await sql`
        update sessions set last_used_at = ${at}
        where id = ${id} and ended_at is null and last_used_at < ${at}`;
    },

    async listOf(userId, now) {
      // index: sessions_of_user
      const rows = await sql<(SessionRow & ListedColumns)[]>`
        select
          id as session_id, user_id, state, method, created_at as session_created_at, last_used_at, expires_at,
          ended_at, end_reason, address, user_agent
        from sessions
        where user_id = ${userId}
          and ended_at is null
          and expires_at > ${now}
          and last_used_at > ${now - SESSION_IDLE_TIMEOUT}
        order by last_used_at desc, id`;
      return rows.map(listedSession);
    },

    async activate(id) {
      await sql`
        update sessions set state = 'active'
        where id = ${id} and state = 'totp_enrolment_required' and ended_at is null`;
    },

    async endAll(userId, reason, at, entry) {
      await inTransaction(sql, async (tx) => {
        await endSessionsOf(tx, userId, reason, at);
        await appendAudit(tx, entry);
      });
    },

    async end(id, reason, at, entry) {
      return inTransaction(sql, async (tx) => {
        const ended = await tx`
          update sessions set ended_at = ${at}, end_reason = ${reason}
          where id = ${id} and ended_at is null
          returning id`;
        if (ended.length === 0) return false;
        if (entry) await appendAudit(tx, entry);
        return true;
      });
    },

    async live(ids, now) {
      const rows = await sql<{ id: Session['id'] }[]>`
        select s.id
        from sessions s
        join users u on u.id = s.user_id
        where s.id = any(${ids.map(String)})
          and s.ended_at is null
          and s.state = 'active'
          and s.expires_at > ${now}
          and s.last_used_at > ${now - SESSION_IDLE_TIMEOUT}
          and u.status = 'active'`;
      return new Set(rows.map((row) => row.id));
    },
  };
}

interface SessionRow {
  session_id: Session['id'];
  state: Session['state'];
  method: Session['method'];
  session_created_at: Micros;
  last_used_at: Micros;
  expires_at: Micros;
  ended_at: Micros | null;
  end_reason: Session['endReason'];
}

interface ListedColumns {
  user_id: Session['userId'];
  address: string | null;
  user_agent: string | null;
}

function sessionOf(row: UserRow & SessionRow): SessionWithUser {
  const user = userOf(row);
  return { user, session: plainSession(row, user.id) };
}

function listedSession(row: SessionRow & ListedColumns): ListedSession {
  return { ...plainSession(row, row.user_id), address: row.address, userAgent: row.user_agent };
}

function plainSession(row: SessionRow, userId: Session['userId']): Session {
  return {
    id: row.session_id,
    userId,
    state: row.state,
    method: row.method,
    createdAt: row.session_created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
    endReason: row.end_reason,
  };
}

/** A session begins; the one of a cookie that was sent along ends. */
export async function replaceSession(
  tx: Transaction,
  signIn: Pick<SignIn, 'session' | 'hash' | 'address' | 'userAgent' | 'replaces'>,
): Promise<void> {
  const { session } = signIn;
  if (signIn.replaces) {
    await tx`
      update sessions set ended_at = ${session.createdAt}, end_reason = 'sign_out'
      where hash = ${Buffer.from(signIn.replaces)} and ended_at is null`;
  }
  await tx`
    insert into sessions
      (id, hash, user_id, state, method, created_at, last_used_at, expires_at, address, user_agent)
    values (
      ${session.id}, ${Buffer.from(signIn.hash)}, ${session.userId}, ${session.state}, ${session.method},
      ${session.createdAt}, ${session.lastUsedAt}, ${session.expiresAt}, ${signIn.address}, ${signIn.userAgent}
    )`;
}

/** Ends what a user has open, one session excepted where that is given. @returns how many ended */
export async function endSessionsOf(
  tx: Transaction,
  userId: PublicId,
  reason: EndReason,
  at: Micros,
  except: PublicId | null = null,
): Promise<number> {
  // index: sessions_of_user
  const ended = await tx`
    update sessions set ended_at = ${at}, end_reason = ${reason}
    where user_id = ${userId} and ended_at is null and id is distinct from ${except}`;
  return ended.count;
}
