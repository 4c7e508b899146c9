/** Users, sessions and failed sign-ins in Postgres: the stores behind actors/access/ports.ts. */
import type {
  AccessStore,
  Account,
  Accounts,
  Admission,
  Organizations,
  Sessions,
  SignIn,
  Throttle,
  UserDirectory,
  UserPage,
} from '../actors/access/ports.ts';
import { SESSION_IDLE_TIMEOUT, type Session, type SessionWithUser } from '../actors/access/session.ts';
import { EVALUATION_LIMIT, FORGOTTEN_AFTER, PARALLEL_WAIT, WAITS } from '../actors/access/throttle.ts';
import type { User } from '../actors/access/user.ts';
import type { AuditEntry } from '../actors/effects.ts';
import type { Micros } from '../runtime/clock.ts';
import { readOrganization } from './access-ensure.ts';
import { likePattern, type UserRow, userOf } from './access-rows.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

export type AppendAudit = (tx: Transaction, entry: AuditEntry) => Promise<void>;

export interface AccessStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
}

export function createAccessStore(deps: AccessStoreDeps): AccessStore {
  return {
    sessions: createSessions(deps),
    accounts: createAccounts(deps),
    throttle: createThrottle(deps),
    users: createUserDirectory(deps.sql),
    organization: createOrganizations(deps.sql),
  };
}

function createSessions({ sql, appendAudit }: AccessStoreDeps): Sessions {
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

function sessionOf(row: UserRow & SessionRow): SessionWithUser {
  const user = userOf(row);
  return {
    user,
    session: {
      id: row.session_id,
      userId: user.id,
      state: row.state,
      method: row.method,
      createdAt: row.session_created_at,
      lastUsedAt: row.last_used_at,
      expiresAt: row.expires_at,
      endedAt: row.ended_at,
      endReason: row.end_reason,
    },
  };
}

function createAccounts({ sql, appendAudit }: AccessStoreDeps): Accounts {
  return {
    async findByLogin(folded): Promise<Account | null> {
      // index: users_login
      const [row] = await sql<(UserRow & { password_hash: string | null })[]>`
        select * from users where login_folded = ${folded} and status <> 'deleted'`;
      return row ? { user: userOf(row), passwordHash: row.password_hash } : null;
    },

    async read(id): Promise<User | null> {
      const [row] = await sql<UserRow[]>`select * from users where id = ${id}`;
      return row ? userOf(row) : null;
    },

    async signIn(signIn): Promise<User | null> {
      return inTransaction(sql, async (tx) => {
        const user = await recordSignIn(tx, signIn);
        if (!user) return null;
        await replaceSession(tx, signIn);
        await tx`delete from login_throttles where key = any(${signIn.clears as string[]})`;
        await appendAudit(tx, signIn.entry);
        return user;
      });
    },
  };
}

async function recordSignIn(tx: Transaction, { session, rehashed }: SignIn): Promise<User | null> {
  const [row] = await tx<UserRow[]>`
    update users set
      last_sign_in_at = ${session.createdAt},
      password_hash = coalesce(${rehashed}, password_hash)
    where id = ${session.userId} and status = 'active'
    returning *`;
  return row ? userOf(row) : null;
}

async function replaceSession(tx: Transaction, signIn: SignIn): Promise<void> {
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

function createThrottle({ sql, appendAudit }: AccessStoreDeps): Throttle {
  return {
    async admit(account, source, now): Promise<Admission> {
      const wait = await waitOf(sql, [account, source], now);
      if (wait > 0) return { admitted: false, wait };
      // One statement decides between attempts that arrive together, at whatever replica.
      const claimed = await sql`
        insert into login_throttles as known (key, failures, last_failure_at, allowed_at, evaluating_until)
        values (${account}, 0, ${now}, ${now}, ${now + EVALUATION_LIMIT})
        on conflict (key) do update set evaluating_until = excluded.evaluating_until
        where known.evaluating_until <= ${now} and known.allowed_at <= ${now}
        returning key`;
      if (claimed.length > 0) return { admitted: true };
      return { admitted: false, wait: Math.max(await waitOf(sql, [account], now), PARALLEL_WAIT) };
    },

    async failed(account, source, now, entry) {
      await inTransaction(sql, async (tx) => {
        await countFailure(tx, [account, source], now);
        await appendAudit(tx, entry);
      });
    },

    async release(account) {
      await sql`update login_throttles set evaluating_until = 0 where key = ${account}`;
    },
  };
}

async function waitOf(sql: Sql, keys: readonly string[], now: Micros): Promise<Micros> {
  const rows = await sql<{ allowed_at: Micros }[]>`
    select allowed_at from login_throttles where key = any(${keys as string[]})`;
  return Math.max(0, ...rows.map((row) => row.allowed_at - now));
}

/** Counts one more failure of each key, from none when the last one is forgotten; in key order, against deadlocks. */
async function countFailure(tx: Transaction, keys: readonly string[], now: Micros): Promise<void> {
  const forgotten = now - FORGOTTEN_AFTER;
  await tx`
    insert into login_throttles as known (key, failures, last_failure_at, allowed_at, evaluating_until)
    select key, 1, ${now}, ${now}::bigint + (${WAITS as number[]}::bigint[])[1], 0
    from unnest(${[...keys].sort()}::text[]) key
    on conflict (key) do update set
      failures = case when known.last_failure_at <= ${forgotten} then 1 else known.failures + 1 end,
      last_failure_at = ${now},
      allowed_at = ${now}::bigint + (${WAITS as number[]}::bigint[])[
        least(
          case when known.last_failure_at <= ${forgotten} then 1 else known.failures + 1 end,
          ${WAITS.length}
        )::integer
      ],
      evaluating_until = 0`;
}

function createUserDirectory(sql: Sql): UserDirectory {
  return {
    async page(q, after, limit): Promise<UserPage> {
      const pattern = q === null ? null : likePattern(q);
      // index: users_by_name
      const rows = await sql<(Pick<User, 'id' | 'name' | 'login' | 'status'> & { lower_name: string })[]>`
        select id, name, login, status, lower(name) as lower_name
        from users
        where (${pattern}::text is null or name ilike ${pattern} or login ilike ${pattern})
          and (
            ${after?.[0] ?? null}::text is null
            or (lower(name) collate "C", id collate "C") > (${after?.[0] ?? null}::text, ${after?.[1] ?? null}::text)
          )
        order by lower(name) collate "C", id collate "C"
        limit ${limit + 1}`;
      const users = rows.slice(0, limit);
      const last = users.at(-1);
      return { users, next: rows.length > limit && last ? [last.lower_name, last.id] : null };
    },
  };
}

function createOrganizations(sql: Sql): Organizations {
  return { read: () => readOrganization(sql) };
}
