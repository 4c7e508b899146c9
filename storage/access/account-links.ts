/** Account links in Postgres: the store behind actors/account-links/link.ts, their rows, and what ends them. */
import type {
  AccountLink,
  AccountLinkStore,
  ConnectionRef,
  LinkableConnection,
  Messenger,
  MessengerAccount,
  RejectReason,
  UnlinkReason,
} from '../../actors/account-links/link.ts';
import { auditEntry } from '../../actors/audit.ts';
import type { BridgeInfo } from '../../actors/connection/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { rerenderSpaces } from '../delivery/rerender.ts';
import { LOCKS } from '../postgres/locks.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction } from '../postgres/transaction.ts';

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
        await rerenderSpaces(tx, spacesOf(rows), author.at);
        return rows.length > 0;
      }),

    async linkable(): Promise<readonly LinkableConnection[]> {
      const rows = await sql<
        { id: PublicId; name: string; messenger: LinkableConnection['messenger']; info: BridgeInfo | null }[]
      >`
        select id, name, type as messenger, case type when 'bridge' then info end as info
        from connections where deleted_at is null
        order by type, lower(name) collate "C", id collate "C"`;
      return rows;
    },
  };
}

/** Where ids of accounts behind a Connection mean the same (account-links §2). A row of `connections`, by its key. */
export function spaceOf(sql: Sql | Transaction, connectionId: string | null) {
  return sql`(
    select case type when 'channel_bot' then 'channel_bot' else id end from connections where id = ${connectionId}
  )`;
}

/** A Connection as its Account links see it. */
export interface LinkedThrough {
  readonly messenger: Messenger;
  readonly space: string;
  readonly connection: ConnectionRef;
}

/** Deleted ones included: what arrives late is judged like the rest. */
export async function linkedThrough(tx: Transaction, id: PublicId): Promise<LinkedThrough> {
  const [row] = await tx<{ name: string; messenger: Messenger; space: string }[]>`
    select name, type as messenger, ${spaceOf(tx, id)} as space from connections where id = ${id}`;
  if (!row) throw new Error(`an Account link leads through the Connection ${id}, which never was`);
  return { messenger: row.messenger, space: row.space, connection: { id, name: row.name } };
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
    where user_id = any(${[...userIds]}::text[]) and space = ${spaceOf(sql, connectionId)}`;
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
  await rerenderSpaces(tx, spacesOf(rows), change.author.at);
}

/**
 * A Connection is deleted, or leads to another messenger: nothing of its accounts counts any more. Those of a channel
 * bot belong to every Connection of the messenger and are kept (account-links §2).
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
  if (reason === 'connection_deleted') {
    // index: account_links_of_connection
    await tx`update account_links set connection_id = null where connection_id = ${connectionId}`;
  }
  await rerenderSpaces(tx, spacesOf(rows), change.author.at);
  return rows.map((row) => row.user_id);
}

interface Unlinked {
  readonly space: string;
  readonly externalId: string;
  readonly userId: PublicId;
  /** Left out: whichever it is. */
  readonly linkId: PublicId | undefined;
}

/** Removes the link of an account as the account asks for it. Its User is locked. @returns whether there was one */
export async function unlinkAccount(change: Change, which: Unlinked): Promise<boolean> {
  const { space, externalId, userId, linkId } = which;
  // index: account_links_account
  const rows = await change.tx<LinkRow[]>`
    ${selectLinks(change.tx)}
    where l.space = ${space} and l.external_id = ${externalId} and l.user_id = ${userId}
      and (${linkId ?? null}::text is null or l.id = ${linkId ?? null})`;
  await removeLinks(change, rows, 'by_messenger');
  await rerenderSpaces(change.tx, spacesOf(rows), change.author.at);
  return rows.length > 0;
}

function spacesOf(rows: readonly LinkRow[]): readonly string[] {
  return [...new Set(rows.map(({ space }) => space))];
}

/** Account links as rows, and the one way in which they come and go (account-links §2, §8, §9). */
interface LinkRow {
  readonly id: PublicId;
  readonly messenger: Messenger;
  readonly space: string;
  readonly external_id: string;
  readonly user_id: PublicId;
  readonly connection_id: PublicId | null;
  readonly connection_name: string | null;
  readonly username: string | null;
  readonly display_name: string | null;
  readonly last_used_at: Micros | null;
  readonly created_at: Micros;
}

function selectLinks(sql: Sql | Transaction) {
  return sql`
    select l.*, c.name as connection_name from account_links l left join connections c on c.id = l.connection_id`;
}

function linkOf(row: LinkRow): AccountLink {
  return {
    id: row.id,
    messenger: row.messenger,
    connection: connectionOf(row),
    externalId: row.external_id,
    username: row.username,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
  };
}

export interface WantedLink extends LinkedThrough {
  readonly account: MessengerAccount;
  readonly userId: PublicId;
}

/** Holds a User against other links of theirs, and against whoever disables or deletes them. */
export async function lockUser(tx: Transaction, userId: PublicId): Promise<void> {
  await tx`select 1 from users where id = ${userId} for no key update`;
}

/** Holds an account of a messenger against others who would link it or send it a code. After {@link lockUser}. */
export async function lockAccount(tx: Transaction, space: string, externalId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCKS.messengerAccount}, hashtext(${`${space}/${externalId}`}))`;
}

/** The User an account is linked to. */
export async function holderOf(tx: Transaction, space: string, externalId: string): Promise<PublicId | null> {
  // index: account_links_account
  const [row] = await tx<{ user_id: PublicId }[]>`
    select user_id from account_links where space = ${space} and external_id = ${externalId}`;
  return row?.user_id ?? null;
}

/**
 * Stores a link in place of the User's earlier one in that space; the same account again is only refreshed. User and
 * account are locked.
 * @returns null when the account is another User's
 */
export async function storeLink(change: Change, wanted: WantedLink): Promise<AccountLink | null> {
  const { tx, author } = change;
  const { space, account, userId, messenger, connection } = wanted;
  const holder = await holderOf(tx, space, account.externalId);
  if (holder !== null && holder !== userId) return null;
  if (holder === userId) return refreshed(change, wanted);
  // index: account_links_of_user
  const [earlier] = await tx<LinkRow[]>`
    ${selectLinks(tx)} where l.user_id = ${userId} and l.space = ${space}`;
  if (earlier) await removeLinks(change, [earlier], 'replaced');
  const id = newPublicId('AK');
  await tx`
    insert into account_links (
      id, messenger, space, external_id, user_id, connection_id, username, display_name, created_at
    )
    values (
      ${id}, ${messenger}, ${space}, ${account.externalId}, ${userId}, ${connection.id}, ${account.username},
      ${account.displayName}, ${author.at}
    )`;
  await rerenderSpaces(tx, [space], author.at);
  const link = await requireLink(tx, id);
  const details = { ...detailsOf(link), replaced: earlier?.external_id ?? null };
  await audit(change, 'linked', link.id, shownName(account), { ...details, user: await userRef(tx, userId) });
  return link;
}

async function refreshed({ tx, author }: Change, { space, account }: WantedLink): Promise<AccountLink> {
  const [row] = await tx<{ id: PublicId }[]>`
    update account_links set username = ${account.username}, display_name = ${account.displayName}
    where space = ${space} and external_id = ${account.externalId}
    returning id`;
  if (!row) throw new Error('a link that was just read is not there');
  await rerenderSpaces(tx, [space], author.at);
  return requireLink(tx, row.id);
}

/** Removes links that were read in this transaction. @param reason null: requested by a person */
async function removeLinks(
  change: Change,
  rows: readonly LinkRow[],
  reason: UnlinkReason | null,
): Promise<void> {
  if (rows.length === 0) return;
  await change.tx`delete from account_links where id = any(${rows.map(({ id }) => id)}::text[])`;
  for (const row of rows) {
    const link = linkOf(row);
    const user = await userRef(change.tx, row.user_id);
    const name = shownName({ ...link, displayName: row.display_name });
    await audit(change, 'unlinked', link.id, name, { ...detailsOf(link), user, reason });
  }
}

export interface Rejection extends LinkedThrough {
  readonly account: MessengerAccount;
  /** Null: no request is known. */
  readonly requestId: PublicId | null;
  /** Whose request it is. */
  readonly userId: PublicId | null;
  readonly reason: RejectReason;
}

export async function auditRejection(change: Change, rejection: Rejection): Promise<void> {
  const { messenger, connection, account, requestId, userId, reason } = rejection;
  const name = requestId === null ? connection.name : shownName(account);
  await audit(change, 'link_rejected', requestId ?? connection.id, name, {
    messenger,
    external_id: account.externalId,
    username: account.username,
    connection,
    user: userId && (await userRef(change.tx, userId)),
    reason,
  });
}

function audit(
  { tx, appendAudit, author }: Change,
  verb: 'linked' | 'unlinked' | 'link_rejected',
  resourceId: PublicId,
  resourceName: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  const entry = auditEntry(author, { action: `account_link.${verb}`, resourceId, resourceName, details });
  return appendAudit(tx, entry);
}

function detailsOf({ messenger, externalId, username, connection }: AccountLink) {
  return { messenger, external_id: externalId, username, connection };
}

/** As the messenger's people know the account. */
function shownName({ username, displayName, externalId }: MessengerAccount): string {
  return username === null ? (displayName ?? externalId) : `@${username}`;
}

async function userRef(tx: Transaction, id: PublicId) {
  const [user] = await tx<{ id: PublicId; name: string; login: string }[]>`
    select id, name, login from users where id = ${id}`;
  return user ? { id: user.id, name: user.name, login: user.login } : null;
}

async function requireLink(tx: Transaction, id: PublicId): Promise<AccountLink> {
  const [row] = await tx<LinkRow[]>`${selectLinks(tx)} where l.id = ${id}`;
  if (!row) throw new Error(`Account link ${id} was just stored and yet is not there`);
  return linkOf(row);
}

function connectionOf({ connection_id: id, connection_name: name }: LinkRow): ConnectionRef | null {
  return id === null || name === null ? null : { id, name };
}

export interface RequestRow {
  readonly id: PublicId;
  readonly user_id: PublicId;
  readonly connection_id: PublicId;
  readonly digest: Buffer;
  readonly state: 'open' | 'used' | 'void';
  readonly external_id: string | null;
  readonly username: string | null;
  readonly display_name: string | null;
  readonly attempts: number;
  readonly expires_at: Micros;
}
