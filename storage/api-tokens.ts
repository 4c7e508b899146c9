/** API tokens in Postgres: what requests ask, and the tokens that people make for themselves (access §9). */
import type { ApiTokens, FoundToken, PersonalTokens } from '../actors/access/api-tokens.ts';
import type { RoleName } from '../actors/access/user.ts';
import type { Authorship } from '../actors/audit.ts';
import { MINUTE, type Micros } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import { type UserRow, userOf } from './access-rows.ts';
import {
  addApiToken,
  readApiTokens,
  revokeAllTokens,
  revokeApiToken,
  type TokenOwner,
} from './api-token-rows.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

/** Use is written down at most this often. */
const USE_INTERVAL = MINUTE;
/** Tokens whose last use is remembered; beyond it the oldest are written once more often. */
const USES_KEPT = 10_000;

/** Nothing is remembered of a token but its use: a revoked one is refused by every replica at once. */
export function createApiTokens({ sql, log }: { readonly sql: Sql; readonly log: Log }): ApiTokens {
  const noted = new Map<PublicId, Micros>();

  const noteUse = async (id: PublicId, address: string, now: Micros) => {
    try {
      await sql`
        update api_tokens set last_used_at = ${now}, last_used_address = ${address}
        where id = ${id} and (last_used_at is null or last_used_at <= ${now - USE_INTERVAL})`;
    } catch (error) {
      // Nobody waits for this; the next use tries again.
      noted.delete(id);
      log('token_use_not_noted', { token: id, error: String(error) });
    }
  };

  return {
    find: (hash) => findToken(sql, hash),
    used(id, address, now) {
      const last = noted.get(id);
      if (last !== undefined && now - last < USE_INTERVAL) return;
      noted.delete(id);
      noted.set(id, now);
      if (noted.size > USES_KEPT) noted.delete(noted.keys().next().value ?? id);
      void noteUse(id, address, now);
    },
  };
}

type FoundRow = {
  readonly token_id: PublicId;
  readonly token_name: string;
  readonly permissions: readonly string[] | null;
  readonly token_expires_at: Micros | null;
  readonly grace_seconds: number;
} & (
  | ({ readonly account_id: null } & UserRow)
  | {
      readonly account_id: PublicId;
      readonly account_name: string;
      readonly account_role: RoleName;
      readonly account_status: string;
    }
);

async function findToken(sql: Sql, hash: Uint8Array): Promise<FoundToken | null> {
  // index: api_tokens_hash_key
  const [row] = await sql<FoundRow[]>`
    select
      u.*,
      t.id as token_id, t.name as token_name, t.permissions, t.expires_at as token_expires_at,
      a.id as account_id, a.name as account_name, a.role as account_role, a.status as account_status,
      (select (settings -> 'oidc_token_grace_seconds')::bigint from organization) as grace_seconds
    from api_tokens t
    left join users u on u.id = t.user_id
    left join service_accounts a on a.id = t.service_account_id
    where t.hash = ${Buffer.from(hash)} and t.revoked_at is null`;
  return row ? { token: tokenOf(row), owner: ownerOf(row), graceSeconds: row.grace_seconds } : null;
}

function tokenOf(row: FoundRow): FoundToken['token'] {
  const { token_id: id, token_name: name, permissions, token_expires_at: expiresAt } = row;
  return { id, name, permissions, expiresAt };
}

function ownerOf(row: FoundRow): FoundToken['owner'] {
  if (row.account_id === null) return { kind: 'user', user: userOf(row) };
  const { account_id: id, account_name: name, account_role: role } = row;
  return { kind: 'service_account', id, name, role, isActive: row.account_status === 'active' };
}

export function createPersonalTokens(sql: Sql, appendAudit: AppendAudit): PersonalTokens {
  const change = <Result>(
    author: Authorship,
    run: (made: { tx: Transaction; appendAudit: AppendAudit; author: Authorship }) => Promise<Result>,
  ) => inTransaction(sql, (tx) => run({ tx, appendAudit, author }));

  return {
    list: (userId) => readApiTokens(sql, { column: 'user_id', id: userId }),

    add: (userId, token, author) =>
      change(author, async (made) => {
        const owner = await lockUser(made.tx, userId);
        if (!owner) return { outcome: 'unknown' };
        const added = await addApiToken(made, owner, token);
        return added ? { outcome: 'added', token: added } : { outcome: 'too_many' };
      }),

    revoke: (userId, tokenId, author) =>
      change(author, async (made) => {
        const owner = await lockUser(made.tx, userId);
        return owner !== null && revokeApiToken(made, owner, tokenId);
      }),
  };
}

/** For whoever deletes a user. @returns how many tokens went */
export function revokeTokensOfUser(tx: Transaction, userId: PublicId, at: Micros): Promise<number> {
  return revokeAllTokens(tx, { column: 'user_id', id: userId }, at);
}

async function lockUser(tx: Transaction, id: PublicId): Promise<TokenOwner | null> {
  const [user] = await tx<{ name: string }[]>`
    select name from users where id = ${id} and status = 'active' for no key update`;
  return user ? { column: 'user_id', id, name: user.name } : null;
}
