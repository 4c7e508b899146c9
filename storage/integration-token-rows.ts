/** Tokens of Integrations as people manage them (ingestion §2.3). Values never come here, only their hashes. */
import { auditDiff, auditEntry } from '../actors/audit.ts';
import type { IntegrationToken, TokenAddition } from '../actors/integration/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import { readIntegration } from './integration-rows.ts';
import type { Sql } from './records.ts';
import type { Change } from './transaction.ts';

/** Unrevoked tokens, oldest first. */
export async function readTokens(sql: Sql, integrationId: PublicId): Promise<readonly IntegrationToken[]> {
  // index: integration_tokens_of
  const rows = await sql<
    { id: PublicId; name: string | null; created_at: Micros; last_used_at: Micros | null }[]
  >`
    select id, name, created_at, last_used_at
    from integration_tokens
    where integration_id = ${integrationId} and revoked_at is null
    order by created_at, id`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }));
}

export async function addToken(
  change: Change,
  integrationId: PublicId,
  token: { readonly name: string | null; readonly hash: Uint8Array },
): Promise<TokenAddition> {
  const { tx, appendAudit, author } = change;
  // Shared, so that the Integration is not deleted in between.
  await tx`select 1 from integrations where id = ${integrationId} for share`;
  const integration = await readIntegration(tx, integrationId);
  if (!integration) return { outcome: 'unknown' };
  if (integration.builtin) return { outcome: 'builtin' };
  const id = newPublicId('NK');
  const { name } = token;
  await tx`
    insert into integration_tokens (id, integration_id, name, hash, created_at)
    values (${id}, ${integrationId}, ${name}, ${Buffer.from(token.hash)}, ${author.at})`;
  const entry = auditEntry(author, {
    action: 'integration_token.create',
    resourceId: id,
    resourceName: name,
    diff: auditDiff(null, { integration_id: integrationId, name }),
    details: { integration: { id: integrationId, name: integration.fields.name } },
  });
  await appendAudit(tx, entry);
  return { outcome: 'added', integration, token: { id, name, createdAt: author.at, lastUsedAt: null } };
}

export async function revokeToken(
  change: Change,
  integrationId: PublicId,
  tokenId: PublicId,
): Promise<boolean> {
  const { tx, appendAudit, author } = change;
  const [revoked] = await tx<{ name: string | null; integration_name: string }[]>`
    update integration_tokens t set revoked_at = ${author.at}
    from integrations i
    where t.id = ${tokenId} and t.integration_id = ${integrationId} and t.revoked_at is null
      and i.id = t.integration_id and i.deleted_at is null
    returning t.name, i.name as integration_name`;
  if (!revoked) return false;
  const entry = auditEntry(author, {
    action: 'integration_token.revoke',
    resourceId: tokenId,
    resourceName: revoked.name,
    details: { integration: { id: integrationId, name: revoked.integration_name } },
  });
  await appendAudit(tx, entry);
  return true;
}
