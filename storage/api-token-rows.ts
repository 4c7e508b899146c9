/** Rows of `api_tokens`, whoever they act for: list, add, revoke (access §9). Values never come here, only hashes. */
import { type ApiToken, type NewApiToken, TOKENS_PER_OWNER } from '../actors/access/api-tokens.ts';
import { type Authorship, auditDiff, auditEntry } from '../actors/audit.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { Sql, Transaction } from './records.ts';
import type { Change } from './transaction.ts';

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
