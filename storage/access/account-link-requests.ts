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
  type LinkRequestStore,
  type Messenger,
  REQUEST_TTL,
  type RejectReason,
  TOKENS_PER_USER,
  type TooMany,
  type UserAuthorship,
} from '../../actors/account-links/link.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { equalSecrets } from '../../runtime/secrets/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type Change, inTransaction } from '../postgres/transaction.ts';
import { useToken } from './account-link-tokens.ts';
import {
  type AccountLinkDeps,
  auditRejection,
  holderOf,
  type LinkedThrough,
  linkedThrough,
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
        const tooMany = await exhausted(tx, 'token', author);
        if (tooMany) return tooMany;
        await insertRequest(tx, { method: 'token', connectionId, digest, account: null }, author);
        return null;
      }),

    codesExhausted: (userId, at) => exhausted(sql, 'code', { userId, at }),
    beginCode: (request, author) => change(author, (made) => beginCode(made, request)),

    async codeForNobody(connectionId, { userId, at }) {
      await sql`
        insert into account_link_requests
          (id, user_id, connection_id, method, digest, state, external_id, created_at, expires_at)
        values (${newPublicId('AR')}, ${userId}, ${connectionId}, 'code', '', 'void', '', ${at}, ${at})`;
    },

    async codeNotSent(id) {
      await sql`update account_link_requests set state = 'void', is_counted = false where id = ${id}`;
    },

    confirmCode: (messenger, id, digest, author) =>
      change(author, (made) => confirmCode(made, messenger, id, digest)),
    useToken: (use, say) => useToken(deps, use, say),
  };
}

const MOST = { token: TOKENS_PER_USER, code: CODES_PER_USER } as const;

/** When the oldest request that counts is an hour old, once there are as many as may be. */
async function exhausted(
  sql: Sql | Transaction,
  method: 'token' | 'code',
  { userId, at }: Pick<UserAuthorship, 'userId' | 'at'>,
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
  const { id, connectionId, account, digest } = request;
  const { externalId } = account;
  const through = await linkedThrough(tx, connectionId);
  await lockAccount(tx, through.space, externalId);
  const tooMany =
    (await exhausted(tx, 'code', author)) ??
    (await accountExhausted(tx, connectionId, externalId, author.at));
  if (tooMany) return tooMany;
  const holder = await holderOf(tx, through.space, externalId);
  if (holder !== null && holder !== author.userId) {
    await reject(made, { ...through, account, requestId: null }, 'conflict');
    return 'conflict';
  }
  await insertRequest(tx, { id, method: 'code', connectionId, digest, account }, author);
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
  messenger: Messenger,
  id: PublicId,
  digest: Uint8Array,
): Promise<Confirmation> {
  const { tx, author } = made;
  const [row] = await tx<RequestRow[]>`
    select * from account_link_requests
    where id = ${id} and user_id = ${author.userId} and method = 'code'
    for update`;
  if (!row || row.external_id === null) return { is: 'unknown' };
  const through = await linkedThrough(tx, row.connection_id);
  if (through.messenger !== messenger) return { is: 'unknown' };
  const account = { externalId: row.external_id, username: row.username, displayName: row.display_name };
  const subject = { ...through, account, requestId: id };
  if (row.state !== 'open') return { is: 'invalid', reason: null };
  if (row.expires_at <= author.at) return refused(made, subject, 'token_expired');
  const attempts = row.attempts + 1;
  const isRight = equalSecrets(row.digest, digest);
  const state = isRight || attempts < CODE_ATTEMPTS ? 'open' : 'void';
  await tx`update account_link_requests set attempts = ${attempts}, state = ${state} where id = ${id}`;
  if (!isRight) return refused(made, subject, 'wrong_code');
  await lockAccount(tx, through.space, account.externalId);
  const link = await storeLink(made, { ...through, account, userId: author.userId });
  if (!link) {
    await reject(made, subject, 'conflict');
    return { is: 'conflict' };
  }
  await tx`update account_link_requests set state = 'used' where id = ${id}`;
  return { is: 'linked', link, connection: through.connection };
}

type Subject = LinkedThrough & Pick<Parameters<typeof auditRejection>[1], 'account' | 'requestId'>;

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
  return auditRejection(made, { ...subject, userId: made.author.userId, reason });
}
