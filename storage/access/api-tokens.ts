/** API tokens in Postgres: what requests ask, the tokens that people make, and the rows of all tokens (access §9). */
import {
  type ApiToken,
  type ApiTokens,
  type FoundToken,
  type NewApiToken,
  type PersonalTokens,
  TOKENS_PER_OWNER,
} from '../../actors/access/api-tokens.ts';
import type { RoleName } from '../../actors/access/user.ts';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { MINUTE, type Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction } from '../postgres/transaction.ts';
import { type UserRow, userOf } from './user-rows.ts';

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

/** Whose tokens, by the column that names the owner. */
export interface TokenOwner {
  readonly column: 'user_id' | 'service_account_id';
  readonly id: PublicId;
  readonly name: string;
}

interface ApiTokenRow {
  readonly id: PublicId;
  readonly name: string;
  readonly permissions: readonly string[] | null;
  readonly expires_at: Micros | null;
  readonly created_at: Micros;
  readonly last_used_at: Micros | null;
  readonly last_used_address: string | null;
}

/** Unrevoked ones, newest first. */
export async function readApiTokens(
  sql: Sql | Transaction,
  { column, id }: Pick<TokenOwner, 'column' | 'id'>,
): Promise<readonly ApiToken[]> {
  // indexes: api_tokens_of_user, api_tokens_of_account
  const rows = await sql<ApiTokenRow[]>`
    select id, name, permissions, expires_at, created_at, last_used_at, last_used_address
    from api_tokens
    where ${sql(column)} = ${id} and revoked_at is null
    order by created_at desc, id desc`;
  return rows.map(apiTokenOf);
}

/** The owner's row is locked, so that two additions count each other. @returns null when the owner has the most */
export async function addApiToken(
  { tx, appendAudit, author }: Change,
  owner: TokenOwner,
  { name, permissions, expiresAt, hash }: NewApiToken,
): Promise<ApiToken | null> {
  const [known] = await tx<{ count: number }[]>`
    select count(*)::int as count from api_tokens where ${tx(owner.column)} = ${owner.id} and revoked_at is null`;
  if ((known?.count ?? 0) >= TOKENS_PER_OWNER) return null;
  const id = newPublicId(owner.column === 'user_id' ? 'PT' : 'ST');
  const [row] = await tx<ApiTokenRow[]>`
    insert into api_tokens (id, ${tx(owner.column)}, name, permissions, hash, created_at, expires_at)
    values (
      ${id}, ${owner.id}, ${name}, ${permissions as string[] | null}, ${Buffer.from(hash)}, ${author.at}, ${expiresAt}
    )
    returning *`;
  if (!row) throw new Error('a token was inserted and yet not returned');
  const fields = { expires_at: expiresAt === null ? null : new Date(expiresAt / 1000).toISOString(), name };
  const diff = auditDiff(null, permissions === null ? fields : { ...fields, permissions });
  await appendAudit(tx, tokenEntry(author, 'created', { id, name }, owner, diff));
  return apiTokenOf(row);
}

/** False when the owner has no such token, or no longer. */
export async function revokeApiToken(
  { tx, appendAudit, author }: Change,
  owner: TokenOwner,
  tokenId: PublicId,
): Promise<boolean> {
  const [revoked] = await tx<{ id: PublicId; name: string }[]>`
    update api_tokens set revoked_at = ${author.at}
    where id = ${tokenId} and ${tx(owner.column)} = ${owner.id} and revoked_at is null
    returning id, name`;
  if (!revoked) return false;
  await appendAudit(tx, tokenEntry(author, 'revoked', revoked, owner, []));
  return true;
}

/** All at once, without an entry for each: whoever ends the owner says how many. @returns how many */
export async function revokeAllTokens(
  tx: Transaction,
  { column, id }: Pick<TokenOwner, 'column' | 'id'>,
  at: Micros,
): Promise<number> {
  const revoked = await tx`
    update api_tokens set revoked_at = ${at} where ${tx(column)} = ${id} and revoked_at is null`;
  return revoked.count;
}

function tokenEntry(
  author: Authorship,
  verb: 'created' | 'revoked',
  token: { readonly id: PublicId; readonly name: string },
  { column, id, name }: TokenOwner,
  diff: ReturnType<typeof auditDiff>,
) {
  const owner = { kind: column === 'user_id' ? 'user' : 'service_account', id, name };
  return auditEntry(author, {
    action: `api_token.${verb}`,
    resourceId: token.id,
    resourceName: token.name,
    diff,
    details: { owner },
  });
}

function apiTokenOf(row: ApiTokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    lastUsedAddress: row.last_used_address,
  };
}
