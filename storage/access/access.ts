/** Who signs in, in Postgres: the stores behind actors/access/ports.ts, and what of it is removed later (access §3). */
import { ENDED_LINK_KEPT } from '../../actors/access/passwords.ts';
import type {
  AccessStore,
  Account,
  Accounts,
  Organizations,
  SecondStep,
  SignedIn,
  SignIn,
  UserDirectory,
  UserPage,
} from '../../actors/access/ports.ts';
import { ENDED_SESSION_KEPT, SESSION_IDLE_TIMEOUT } from '../../actors/access/session.ts';
import { FORGOTTEN_AFTER } from '../../actors/access/throttle.ts';
import type { User } from '../../actors/access/user.ts';
import { HOUR, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { readOrganization } from '../configuration/organization.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';
import { spaceOf } from './account-links.ts';
import { consumeProof, type SecondFactorRow, type Seeds, secondFactorOf } from './second-factors.ts';
import { createSessions, replaceSession } from './sessions.ts';
import { createThrottle, endEvaluation, forgetFailures } from './throttle.ts';
import { likePattern, type UserRow, userOf } from './user-rows.ts';

export interface AccessStoreDeps extends Seeds {
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

function createAccounts(deps: AccessStoreDeps): Accounts {
  const { sql, appendAudit } = deps;
  return {
    async findByLogin(folded): Promise<Account | null> {
      // index: users_login
      const [row] = await sql<(UserRow & SecondFactorRow)[]>`
        select * from users where login_folded = ${folded} and status <> 'deleted'`;
      if (!row) return null;
      const secondFactor = () => secondFactorOf(deps, row.id, row);
      return { user: userOf(row), passwordHash: row.password_hash, secondFactor };
    },

    async secondFactor(id) {
      const [row] = await sql<SecondFactorRow[]>`
        select totp_seed, totp_pending_seed, totp_enrolled_at, totp_last_step, totp_recovery_codes
        from users where id = ${id}`;
      return row ? secondFactorOf(deps, id, row) : null;
    },

    async read(id): Promise<User | null> {
      const [row] = await sql<UserRow[]>`select * from users where id = ${id}`;
      return row ? userOf(row) : null;
    },

    async signIn(signIn): Promise<SignedIn> {
      const { attempt, proof, session, entry } = signIn;
      return inTransaction(sql, async (tx) => {
        if (proof && !(await consumeProof(tx, session.userId, proof))) return { refused: 'wrong_code' };
        const user = await recordSignIn(tx, signIn);
        if (!user) return { refused: await refusalOf(tx, session.userId) };
        await replaceSession(tx, signIn);
        if (attempt && session.state === 'active') await forgetFailures(tx, attempt);
        else if (attempt) await endEvaluation(tx, attempt, session.createdAt);
        await appendAudit(tx, entry);
        return { user };
      });
    },

    completeSignIn: (step) =>
      inTransaction(sql, async (tx) => {
        const outcome = await activateBy(tx, step);
        if (outcome === 'not_pending') await endEvaluation(tx, step.attempt, step.entry.at);
        if (outcome !== 'active') return outcome;
        await forgetFailures(tx, step.attempt);
        await appendAudit(tx, step.entry);
        return outcome;
      }),
  };
}

async function activateBy(
  tx: Transaction,
  { sessionId, userId, proof }: SecondStep,
): Promise<'active' | 'wrong_code' | 'not_pending'> {
  // The user before the session, as whoever ends sessions locks them.
  await tx`select 1 from users where id = ${userId} for no key update`;
  const waiting = await tx`
    select 1 from sessions
    where id = ${sessionId} and state = 'totp_required' and ended_at is null for update`;
  if (waiting.length === 0) return 'not_pending';
  if (!(await consumeProof(tx, userId, proof))) return 'wrong_code';
  await tx`update sessions set state = 'active' where id = ${sessionId}`;
  return 'active';
}

/** Who reset a password to shut somebody out does so also for an attempt that was on its way. */
async function recordSignIn(
  tx: Transaction,
  { session, passwordHash, rehashed }: SignIn,
): Promise<User | null> {
  const [row] = await tx<UserRow[]>`
    update users set
      last_sign_in_at = ${session.createdAt},
      password_hash = coalesce(${rehashed}, password_hash)
    where id = ${session.userId} and status = 'active' and password_hash = ${passwordHash}
    returning *`;
  return row ? userOf(row) : null;
}

async function refusalOf(tx: Transaction, userId: PublicId): Promise<'inactive' | 'wrong_password'> {
  const active = await tx`select 1 from users where id = ${userId} and status = 'active'`;
  return active.length > 0 ? 'wrong_password' : 'inactive';
}

function createUserDirectory(sql: Sql): UserDirectory {
  return {
    async page(q, connectionId, after, limit): Promise<UserPage> {
      const pattern = q === null ? null : likePattern(q);
      // indexes: users_by_name; account_links_of_user
      const rows = await sql<PersonRow[]>`
        select
          id, name, login, status, lower(name) as lower_name,
          case when ${connectionId}::text is not null then exists (
            select from account_links l where l.user_id = users.id and l.space = ${spaceOf(sql, connectionId)}
          ) end as is_linked
        from users
        where (${pattern}::text is null or name ilike ${pattern} or login ilike ${pattern})
          and (
            ${after?.[0] ?? null}::text is null
            or (lower(name) collate "C", id collate "C") > (${after?.[0] ?? null}::text, ${after?.[1] ?? null}::text)
          )
        order by lower(name) collate "C", id collate "C"
        limit ${limit + 1}`;
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const users = page.map(({ id, name, login, status, is_linked: isLinked }) => {
        return { id, name, login, status, isLinked };
      });
      return { users, next: rows.length > limit && last ? [last.lower_name, last.id] : null };
    },
  };
}

type PersonRow = Pick<User, 'id' | 'name' | 'login' | 'status'> & {
  readonly lower_name: string;
  readonly is_linked: boolean | null;
};

function createOrganizations(sql: Sql): Organizations {
  return { read: () => readOrganization(sql) };
}

/**
 * Removes what sign-in leaves behind (access §3 rule 8). Called hourly by whoever leads; two runs at once do no harm.
 */
const PRUNED_AT_ONCE = 1_000;
/** A sign-in through the provider that came to nothing is forgotten this long after its end. */
const ENDED_REQUEST_KEPT = HOUR;

export interface Pruned {
  readonly sessions: number;
  readonly login_throttles: number;
  readonly password_setup_links: number;
  readonly oidc_requests: number;
}

/** @returns how many rows of each table went */
export async function pruneAccess(sql: Sql, now: Micros): Promise<Pruned> {
  return {
    sessions: await inBatches(() => pruneSessions(sql, now)),
    login_throttles: await inBatches(() => pruneThrottles(sql, now)),
    password_setup_links: await inBatches(() => pruneSetupLinks(sql, now)),
    oidc_requests: await inBatches(() => pruneOidcRequests(sql, now)),
  };
}

/** Each batch is a transaction of its own; the last one is short. */
async function inBatches(remove: () => Promise<number>): Promise<number> {
  let total = 0;
  let removed = PRUNED_AT_ONCE;
  while (removed === PRUNED_AT_ONCE) {
    removed = await remove();
    total += removed;
  }
  return total;
}

async function pruneSessions(sql: Sql, now: Micros): Promise<number> {
  const removed = await sql`
    delete from sessions where id in (
      select id from sessions
      where coalesce(ended_at, least(expires_at, last_used_at + ${SESSION_IDLE_TIMEOUT}))
        <= ${now - ENDED_SESSION_KEPT}
      limit ${PRUNED_AT_ONCE}
    )`;
  return removed.count;
}

async function pruneThrottles(sql: Sql, now: Micros): Promise<number> {
  // index: login_throttles_old
  const removed = await sql`
    delete from login_throttles where key in (
      select key from login_throttles where last_failure_at <= ${now - FORGOTTEN_AFTER} and evaluating_until <= ${now}
      limit ${PRUNED_AT_ONCE}
    )`;
  return removed.count;
}

async function pruneSetupLinks(sql: Sql, now: Micros): Promise<number> {
  // index: password_setup_links_old
  const removed = await sql`
    delete from password_setup_links where hash in (
      select hash from password_setup_links where expires_at <= ${now - ENDED_LINK_KEPT} limit ${PRUNED_AT_ONCE}
    )`;
  return removed.count;
}

async function pruneOidcRequests(sql: Sql, now: Micros): Promise<number> {
  // index: oidc_requests_old
  const removed = await sql`
    delete from oidc_requests where state_hash in (
      select state_hash from oidc_requests where expires_at <= ${now - ENDED_REQUEST_KEPT} limit ${PRUNED_AT_ONCE}
    )`;
  return removed.count;
}
