/**
 * Links that were begun and wait for a proof: the store behind actors/account-links/link.ts (account-links §3
 * to §5).
 */
import {
  CODE_ATTEMPTS,
  CODES_PER_ACCOUNT,
  CODES_PER_USER,
  COUNTED_FOR,
  type CodeRequest,
  type Confirmation,
  type ConnectionRef,
  type LinkRequestStore,
  REQUEST_TTL,
  type RejectReason,
  TOKENS_PER_USER,
  type TooMany,
  type UserAuthorship,
} from '../../actors/account-links/link.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { equalSecrets } from '../../runtime/secrets/keyring.ts';
import { rerenderThrough } from '../delivery/rerender.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type Change, inTransaction } from '../postgres/transaction.ts';
import { useToken } from './account-link-tokens.ts';
import {
  type AccountLinkDeps,
  auditRejection,
  holderOf,
  lockAccount,
  lockUser,
  type RequestRow,
  storeLink,
} from './account-links.ts';

export function createLinkRequestStore(deps: AccountLinkDeps): LinkRequestStore {
  const { sql, appendAudit } = deps;
  const change = <Result>(
    author: UserAuthorship,
    run: (made: Change & { readonly author: UserAuthorship }) => Promise<Result>,
  ): Promise<Result> =>
    inTransaction(sql, async (tx) => {
      await lockUser(tx, author.userId);
      return run({ tx, appendAudit, author });
    });

  return {
    beginToken: ({ connectionId, digest }, author) =>
      change(author, async ({ tx }) => {
        const tooMany = await exhausted(tx, { userId: author.userId, method: 'token', at: author.at });
        if (tooMany) return tooMany;
        await insertRequest(tx, { method: 'token', connectionId, digest, account: null }, author);
        return null;
      }),

    codesExhausted: (userId, at) => exhausted(sql, { userId, method: 'code', at }),
    beginCode: (request, author) => change(author, (made) => beginCode(made, request)),

    async codeNotSent(id) {
      await sql`update account_link_requests set state = 'void', is_counted = false where id = ${id}`;
    },

    confirmCode: (id, digest, author) => change(author, (made) => confirmCode(made, id, digest)),
    useToken: (use, say) => useToken(deps, use, say),
  };
}

const MOST = { token: TOKENS_PER_USER, code: CODES_PER_USER } as const;

/** When the oldest request that counts is an hour old, once there are as many as may be. */
async function exhausted(
  sql: Sql | Transaction,
  {
    userId,
    method,
    at,
  }: { readonly userId: PublicId; readonly method: 'token' | 'code'; readonly at: Micros },
): Promise<TooMany | null> {
  // index: account_link_requests_of_user
  const rows = await sql<{ created_at: Micros }[]>`
    select created_at from account_link_requests
    where user_id = ${userId} and method = ${method} and is_counted and created_at > ${at - COUNTED_FOR}
    order by created_at desc limit ${MOST[method]}`;
  return afterOldest(rows, MOST[method]);
}

function afterOldest(newestFirst: readonly { readonly created_at: Micros }[], most: number): TooMany | null {
  const oldest = newestFirst.at(-1);
  if (newestFirst.length < most || !oldest) return null;
  return { retryAt: oldest.created_at + COUNTED_FOR };
}

async function beginCode(
  made: Change & { readonly author: UserAuthorship },
  request: CodeRequest,
): Promise<TooMany | 'conflict' | null> {
  const { tx, author } = made;
  const { connection, account } = request;
  const { externalId } = account;
  await lockAccount(tx, connection.id, externalId);
  const tooMany =
    (await exhausted(tx, { userId: author.userId, method: 'code', at: author.at })) ??
    (await accountExhausted(tx, connection.id, externalId, author.at));
  if (tooMany) return tooMany;
  const holder = await holderOf(tx, connection.id, externalId);
  if (holder !== null && holder !== author.userId) {
    await reject(made, { connection, account, requestId: null }, 'conflict');
    return 'conflict';
  }
  const { id, digest } = request;
  await insertRequest(tx, { id, method: 'code', connectionId: connection.id, digest, account }, author);
  return null;
}

async function accountExhausted(tx: Transaction, connectionId: PublicId, externalId: string, at: Micros) {
  // index: account_link_requests_of_account
  const rows = await tx<{ created_at: Micros }[]>`
    select created_at from account_link_requests
    where connection_id = ${connectionId} and external_id = ${externalId} and method = 'code' and is_counted
      and created_at > ${at - COUNTED_FOR}
    order by created_at desc limit ${CODES_PER_ACCOUNT}`;
  return afterOldest(rows, CODES_PER_ACCOUNT);
}

interface NewRequest {
  readonly id?: PublicId;
  readonly method: 'token' | 'code';
  readonly connectionId: PublicId;
  readonly digest: Uint8Array;
  readonly account: CodeRequest['account'] | null;
}

/** In place of the User's open one of the same kind for the same Connection. */
async function insertRequest(
  tx: Transaction,
  { id = newPublicId('AR'), method, connectionId, digest, account }: NewRequest,
  { userId, at }: UserAuthorship,
): Promise<void> {
  await tx`
    update account_link_requests set state = 'void'
    where user_id = ${userId} and connection_id = ${connectionId} and method = ${method} and state = 'open'`;
  await tx`
    insert into account_link_requests (
      id, user_id, connection_id, method, digest, state, external_id, username, display_name, created_at, expires_at
    )
    values (
      ${id}, ${userId}, ${connectionId}, ${method}, ${Buffer.from(digest)}, 'open', ${account?.externalId ?? null},
      ${account?.username ?? null}, ${account?.displayName ?? null}, ${at}, ${at + REQUEST_TTL}
    )`;
}

/** The request is locked from reading to writing: of tries side by side each is counted before the next compares. */
async function confirmCode(
  made: Change & { readonly author: UserAuthorship },
  id: PublicId,
  digest: Uint8Array,
): Promise<Confirmation> {
  const { tx, author } = made;
  const [row] = await tx<RequestRow[]>`
    select r.*, c.name as connection_name
    from account_link_requests r
    join connections c on c.id = r.connection_id and c.type = 'bridge'
    where r.id = ${id} and r.user_id = ${author.userId} and r.method = 'code'
    for update of r`;
  if (!row || row.external_id === null) return { is: 'unknown' };
  const connection: ConnectionRef = { id: row.connection_id, name: row.connection_name };
  const account = {
    externalId: row.external_id,
    username: row.username,
    displayName: row.display_name,
  };
  const subject = { connection, account, requestId: id };
  if (row.state !== 'open') return { is: 'invalid', reason: null };
  if (row.expires_at <= author.at) return refused(made, subject, 'token_expired');
  const attempts = row.attempts + 1;
  const isRight = equalSecrets(row.digest, digest);
  const state = isRight || attempts < CODE_ATTEMPTS ? 'open' : 'void';
  await tx`update account_link_requests set attempts = ${attempts}, state = ${state} where id = ${id}`;
  if (!isRight) return refused(made, subject, 'wrong_code');
  await lockAccount(tx, connection.id, account.externalId);
  const wanted = {
    messenger: 'bridge',
    space: connection.id,
    connection,
    account,
    userId: author.userId,
  } as const;
  const link = await storeLink(made, wanted);
  if (!link) {
    await reject(made, subject, 'conflict');
    return { is: 'conflict' };
  }
  await tx`update account_link_requests set state = 'used' where id = ${id}`;
  await rerenderThrough(tx, [connection.id], author.at);
  return { is: 'linked', link, connection };
}

type Subject = Pick<Parameters<typeof auditRejection>[1], 'connection' | 'account' | 'requestId'>;

async function refused(
  made: Change & { readonly author: UserAuthorship },
  subject: Subject,
  reason: RejectReason,
): Promise<Confirmation> {
  await reject(made, subject, reason);
  return { is: 'invalid', reason };
}

function reject(
  made: Change & { readonly author: UserAuthorship },
  subject: Subject,
  reason: RejectReason,
): Promise<void> {
  return auditRejection(made, { ...subject, messenger: 'bridge', userId: made.author.userId, reason });
}
