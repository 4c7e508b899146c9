/** Account link tokens that come back through a messenger (account-links §4). */
import {
  BAD_TOKENS_ANSWERED,
  COUNTED_FOR,
  type LinkedUser,
  type LinkRequestStore,
  type RejectReason,
  type TokenOutcome,
  type TokenUse,
} from '../../actors/account-links/link.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { equalSecrets } from '../../runtime/secrets/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type Change, inTransaction } from '../postgres/transaction.ts';
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
  unlinkAccount,
} from './account-links.ts';

/** Used and void requests are kept this long after their end, so that late attempts can be distinguished. */
const REQUEST_KEPT: Micros = DAY;

/** {@link LinkRequestStore.useToken} */
export function useToken(
  { sql, appendAudit }: AccountLinkDeps,
  use: TokenUse,
  say: (outcome: TokenOutcome) => string | null,
): ReturnType<LinkRequestStore['useToken']> {
  return inTransaction(sql, async (tx) => {
    const before = await claimEvent(tx, use);
    if (before) return { say: before.say, outcome: null };
    const through = await linkedThrough(tx, use.connectionId);
    const by = { kind: 'system', id: null, name: 'system', transport: through.messenger } as const;
    const change = { tx, appendAudit, author: { by, at: use.at, address: null } };
    const { digest } = use;
    const outcome =
      digest === null ? await unlink(change, use, through) : await judge(change, { ...use, digest }, through);
    const said = say(outcome);
    await tx`
      update connection_events set say = ${said}
      where connection_id = ${use.connectionId} and event_id = ${use.eventId}`;
    return { say: said, outcome };
  });
}

/** Notes the event as handled. @returns what was to be said, when it was handled before */
async function claimEvent(
  tx: Transaction,
  { connectionId, eventId, at }: TokenUse,
): Promise<{ readonly say: string | null } | null> {
  const claimed = await tx`
    insert into connection_events (connection_id, event_id, handled_at) values (${connectionId}, ${eventId}, ${at})
    on conflict do nothing returning event_id`;
  if (claimed.length > 0) return null;
  const [row] = await tx<{ say: string | null }[]>`
    select say from connection_events where connection_id = ${connectionId} and event_id = ${eventId}`;
  return row ?? { say: null };
}

/** The person ends the link of their account from its own side (account-links §8). */
async function unlink(change: Change, use: TokenUse, through: LinkedThrough): Promise<TokenOutcome> {
  const { tx } = change;
  const { externalId } = use.account;
  const holder = await holderOf(tx, through.space, externalId);
  if (holder !== null) {
    await lockUser(tx, holder);
    const [user] = await tx<LinkedUser[]>`select id, name, login, language from users where id = ${holder}`;
    if (!user) throw new Error(`the User ${holder} of an Account link is not there`);
    const { name, login } = user;
    const by = {
      kind: 'user',
      id: holder,
      name,
      login,
      tokenName: null,
      transport: through.messenger,
    } as const;
    const made = { ...change, author: { ...change.author, by } };
    if (await unlinkAccount(made, { ...through, externalId, userId: holder, linkId: use.linkId }))
      return { is: 'unlinked', user };
  }
  const hasOther = holder !== null && use.linkId !== undefined;
  return { is: 'not_linked', hasOther, isAnswered: await countBadToken(tx, use, through) };
}

type Proof = TokenUse & { readonly digest: Uint8Array };

async function judge(change: Change, use: Proof, through: LinkedThrough): Promise<TokenOutcome> {
  const { tx } = change;
  const row = await lockRequest(tx, use.digest);
  const user = row && (await linkedUser(tx, row.user_id));
  const reason = row === null ? 'token_unknown' : (refusalOf(row, use) ?? (user ? null : 'user_disabled'));
  if (reason === null && row && user) {
    await lockAccount(tx, through.space, use.account.externalId);
    if (await storeLink(change, { ...through, account: use.account, userId: user.id })) {
      await tx`update account_link_requests set state = 'used' where id = ${row.id}`;
      return { is: 'linked', user };
    }
  }
  return rejected(change, { use, through, row, user, reason: reason ?? 'conflict' });
}

function refusalOf(row: RequestRow, { connectionId, at }: TokenUse): RejectReason | null {
  if (row.state !== 'open') return 'token_used';
  if (row.expires_at <= at) return 'token_expired';
  return row.connection_id === connectionId ? null : 'wrong_connection';
}

interface Rejected {
  readonly use: TokenUse;
  readonly through: LinkedThrough;
  readonly row: RequestRow | null;
  readonly user: LinkedUser | null;
  readonly reason: RejectReason;
}

/** Guessed tokens must not fill the Audit log, nor cause answers of the bot. */
async function rejected(
  change: Change,
  { use, through, row, user, reason }: Rejected,
): Promise<TokenOutcome> {
  const isAnswered = reason === 'conflict' || (await countBadToken(change.tx, use, through));
  if (isAnswered || reason !== 'token_unknown') {
    await auditRejection(change, {
      ...{ ...through, account: use.account, reason },
      requestId: row?.id ?? null,
      userId: row?.user_id ?? null,
    });
  }
  return { is: 'rejected', reason, user, isAnswered };
}

/** @returns whether this one is still answered; those that are not do not count */
async function countBadToken(
  tx: Transaction,
  { account, at }: TokenUse,
  { space }: LinkedThrough,
): Promise<boolean> {
  await lockAccount(tx, space, account.externalId);
  // index: account_link_bad_tokens_of_account
  const counted = await tx`
    insert into account_link_bad_tokens (space, external_id, at)
    select ${space}, ${account.externalId}, ${at}
    where (
      select count(*) from account_link_bad_tokens
      where space = ${space} and external_id = ${account.externalId} and at > ${at - COUNTED_FOR}
    ) < ${BAD_TOKENS_ANSWERED}
    returning at`;
  return counted.length > 0;
}

/** The request that a token belongs to, held together with its User, who is held first everywhere. */
async function lockRequest(tx: Transaction, digest: Uint8Array): Promise<RequestRow | null> {
  // index: account_link_requests_token
  const [found] = await tx<RequestRow[]>`
    select * from account_link_requests where method = 'token' and digest = ${Buffer.from(digest)}`;
  if (!found || !equalSecrets(found.digest, digest)) return null;
  await lockUser(tx, found.user_id);
  const [row] = await tx<RequestRow[]>`select * from account_link_requests where id = ${found.id} for update`;
  return row ?? null;
}

/** Null unless the User is active. */
async function linkedUser(tx: Transaction, id: PublicId): Promise<LinkedUser | null> {
  const [user] = await tx<LinkedUser[]>`
    select id, name, login, language from users where id = ${id} and status = 'active'`;
  return user ?? null;
}

/** Removes what is no longer needed. @returns how many rows of each table went */
export async function pruneLinkRequests(
  sql: Sql,
  now: Micros,
): Promise<{ readonly account_link_requests: number; readonly account_link_bad_tokens: number }> {
  // index: account_link_requests_old
  const requests = await sql`delete from account_link_requests where expires_at <= ${now - REQUEST_KEPT}`;
  // index: account_link_bad_tokens_old
  const tokens = await sql`delete from account_link_bad_tokens where at <= ${now - COUNTED_FOR}`;
  return { account_link_requests: requests.count, account_link_bad_tokens: tokens.count };
}
