/** Who signs in, in Postgres: the stores behind actors/access/ports.ts. */
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
} from '../actors/access/ports.ts';
import type { User } from '../actors/access/user.ts';
import type { AuditEntry } from '../actors/effects.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { readOrganization } from './access-ensure.ts';
import { likePattern, type UserRow, userOf } from './access-rows.ts';
import { createSessions, replaceSession } from './access-sessions.ts';
import { createThrottle, endEvaluation, forgetFailures } from './access-throttle.ts';
import type { Sql, Transaction } from './records.ts';
import { consumeProof, type SecondFactorRow, type Seeds, secondFactorOf } from './second-factors.ts';
import { inTransaction } from './transaction.ts';

export type AppendAudit = (tx: Transaction, entry: AuditEntry) => Promise<void>;

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
        else if (attempt) await endEvaluation(tx, attempt.account);
        await appendAudit(tx, entry);
        return { user };
      });
    },

    completeSignIn: (step) =>
      inTransaction(sql, async (tx) => {
        const outcome = await activateBy(tx, step);
        if (outcome === 'not_pending') await endEvaluation(tx, step.attempt.account);
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
            select from account_links l where l.user_id = users.id and l.space = ${connectionId}
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
