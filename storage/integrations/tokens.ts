/** Tokens of Integrations: looked up for ingestion, from memory where possible (ingestion §2.3), made and revoked. */
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import type {
  FoundToken,
  IntegrationToken,
  IntegrationTokens,
  TokenAddition,
} from '../../actors/integration/ports.ts';
import { type Clock, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql } from '../postgres/records.ts';
import type { Change } from '../postgres/transaction.ts';
import { readIntegration } from './rows.ts';

export interface IntegrationTokensDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether what is remembered was current a moment ago: another replica may have revoked a token. */
  readonly isTrusted: () => boolean;
}

/** `last_used_at` is at most this much behind. */
const USE_INTERVAL: Micros = MINUTE;
/** How long a token stays unknown without asking again, and how many are remembered so. */
const UNKNOWN_FOR: Micros = 5 * SECOND;
const UNKNOWN_KEPT = 10_000;
/** How long others share a look-up; one without an answer for longer is left behind. */
const SHARED_FOR: Micros = 5 * SECOND;

/** What was learned since the tokens last changed. */
interface Memory {
  /** Live tokens only, so there are never more than were created. */
  readonly known: Map<string, FoundToken>;
  /** Until when they count as unknown, oldest first. */
  readonly unknown: Map<string, Micros>;
  readonly underWay: Map<string, { readonly since: Micros; readonly answer: Promise<FoundToken | null> }>;
}

export function createIntegrationTokens(deps: IntegrationTokensDeps): IntegrationTokens {
  const { sql, clock, log, isTrusted } = deps;
  let memory = newMemory();
  const noted = new Map<PublicId, Micros>();

  const noteUse = async (tokenId: PublicId, now: Micros) => {
    try {
      await sql`
        update integration_tokens set last_used_at = ${now}
        where id = ${tokenId} and (last_used_at is null or last_used_at <= ${now - USE_INTERVAL})`;
    } catch (error) {
      // Nobody waits for this; the next use tries again.
      noted.delete(tokenId);
      log('token_use_not_noted', { token: tokenId, error: String(error) });
    }
  };

  /** Into the memory of the time of asking: if that was invalidated meanwhile, nobody looks there any more. */
  const lookUp = async (into: Memory, key: string, hash: Uint8Array) => {
    try {
      const found = await findToken(sql, hash);
      if (found) into.known.set(key, found);
      else {
        into.known.delete(key);
        rememberUnknown(into.unknown, key, clock.now() + UNKNOWN_FOR);
      }
      return found;
    } finally {
      into.underWay.delete(key);
    }
  };

  return {
    async find(hash) {
      const key = Buffer.from(hash).toString('base64');
      const now = clock.now();
      if (isTrusted()) {
        const remembered = memory.known.get(key);
        if (remembered) return remembered;
        if (now < (memory.unknown.get(key) ?? 0)) return null;
      }
      const asked = memory.underWay.get(key);
      if (asked && now - asked.since < SHARED_FOR) return asked.answer;
      const answer = lookUp(memory, key, hash);
      memory.underWay.set(key, { since: now, answer });
      return answer;
    },

    invalidate() {
      memory = newMemory();
    },

    used(tokenId, now) {
      const last = noted.get(tokenId);
      if (last !== undefined && now - last < USE_INTERVAL) return;
      noted.set(tokenId, now);
      void noteUse(tokenId, now);
    },
  };
}

function newMemory(): Memory {
  return { known: new Map(), unknown: new Map(), underWay: new Map() };
}

function rememberUnknown(unknown: Memory['unknown'], key: string, until: Micros): void {
  unknown.delete(key);
  unknown.set(key, until);
  if (unknown.size <= UNKNOWN_KEPT) return;
  for (const oldest of unknown.keys()) {
    unknown.delete(oldest);
    return;
  }
}

async function findToken(sql: Sql, hash: Uint8Array): Promise<FoundToken | null> {
  // index: integration_tokens_hash
  const [row] = await sql<{ id: PublicId; integration_id: PublicId }[]>`
    select t.id, t.integration_id
    from integration_tokens t
    join integrations i on i.id = t.integration_id
    where t.hash = ${Buffer.from(hash)} and t.revoked_at is null and i.deleted_at is null`;
  return row ? { tokenId: row.id, integrationId: row.integration_id } : null;
}

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
