/** Account links in Postgres: the store behind actors/account-links/ports.ts, and what ends them from outside. */
import type { MessengerAccount, UnlinkReason } from '../actors/account-links/link.ts';
import type { AccountLinkStore, LinkableConnection } from '../actors/account-links/ports.ts';
import type { BridgeInfo } from '../actors/connection/bridge/info.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import { type LinkRow, linkOf, lockUser, removeLinks, selectLinks } from './account-link-rows.ts';
import type { Sql } from './records.ts';
import { rerenderThrough } from './rerender.ts';
import { type Change, inTransaction } from './transaction.ts';

export interface AccountLinkDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
}

export function createAccountLinkStore({ sql, appendAudit }: AccountLinkDeps): AccountLinkStore {
  return {
    async of(userId) {
      // index: account_links_of_user
      const rows = await sql<LinkRow[]>`
        ${selectLinks(sql)} where l.user_id = ${userId} order by l.created_at, l.id`;
      return rows.map(linkOf);
    },

    remove: (userId, linkId, author) =>
      inTransaction(sql, async (tx) => {
        await lockUser(tx, userId);
        const rows = await tx<LinkRow[]>`
          ${selectLinks(tx)} where l.id = ${linkId} and l.user_id = ${userId}`;
        await removeLinks({ tx, appendAudit, author }, rows, null);
        await rerenderThrough(tx, spacesOf(rows), author.at);
        return rows.length > 0;
      }),

    async linkable(): Promise<readonly LinkableConnection[]> {
      const rows = await sql<
        { id: PublicId; name: string; type: LinkableConnection['messenger']; info: BridgeInfo | null }[]
      >`
        select id, name, type, info from connections where deleted_at is null
        order by type, lower(name) collate "C", id collate "C"`;
      return rows.map(({ id, name, type, info }) => ({ id, name, messenger: type, info }));
    },
  };
}

/** The accounts of some Users that count for a Connection; a User without one is absent. */
export async function accountsOf(
  sql: Sql,
  connectionId: PublicId,
  userIds: readonly PublicId[],
): Promise<ReadonlyMap<PublicId, MessengerAccount>> {
  if (userIds.length === 0) return new Map();
  // index: account_links_of_user
  const rows = await sql<Pick<LinkRow, 'user_id' | 'external_id' | 'username' | 'display_name'>[]>`
    select user_id, external_id, username, display_name from account_links
    where user_id = any(${[...userIds]}::text[]) and space = ${connectionId}`;
  return new Map(
    rows.map((row) => [
      row.user_id,
      { externalId: row.external_id, username: row.username, displayName: row.display_name },
    ]),
  );
}

/** A User is deleted: their links go, and what they began leads nowhere. The User is locked. */
export async function unlinkUser(change: Change, userId: PublicId): Promise<void> {
  const { tx } = change;
  // index: account_links_of_user
  const rows = await tx<LinkRow[]>`
    ${selectLinks(tx)} where l.user_id = ${userId} order by l.created_at, l.id`;
  await removeLinks(change, rows, 'user_deleted');
  // index: account_link_requests_of_user
  await tx`update account_link_requests set state = 'void' where user_id = ${userId} and state = 'open'`;
  await rerenderThrough(tx, spacesOf(rows), change.author.at);
}

/**
 * A Connection is deleted, or leads to another messenger: nothing of its accounts counts any more.
 * @returns the Users whose links went
 */
export async function unlinkConnection(
  change: Change,
  connectionId: PublicId,
  reason: Extract<UnlinkReason, 'connection_deleted' | 'connection_changed'>,
): Promise<readonly PublicId[]> {
  const { tx } = change;
  // index: account_links_account
  const rows = await tx<LinkRow[]>`
    ${selectLinks(tx)} where l.space = ${connectionId} order by l.created_at, l.id`;
  await removeLinks(change, rows, reason);
  await tx`
    update account_link_requests set state = 'void' where connection_id = ${connectionId} and state = 'open'`;
  await rerenderThrough(tx, spacesOf(rows), change.author.at);
  return rows.map((row) => row.user_id);
}

function spacesOf(rows: readonly LinkRow[]): readonly string[] {
  return [...new Set(rows.map(({ space }) => space))];
}
