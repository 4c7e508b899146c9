/** Service accounts in Postgres, with their tokens (access §9 rule 8). */
import type {
  ServiceAccount,
  ServiceAccountFields,
  ServiceAccounts,
  ServiceAccountUpdate,
} from '../../actors/access/api-tokens.ts';
import type { RoleName } from '../../actors/access/user.ts';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction, unlessViolated } from '../postgres/transaction.ts';
import {
  addApiToken,
  readApiTokens,
  revokeAllTokens,
  revokeApiToken,
  type TokenOwner,
} from './api-tokens.ts';

const NAME_RULE = 'service_accounts_name';

export function createServiceAccountStore(sql: Sql, appendAudit: AppendAudit): ServiceAccounts {
  const change = <Result>(author: Authorship, run: (made: Change) => Promise<Result>) =>
    inTransaction(sql, (tx) => run({ tx, appendAudit, author }));

  return {
    async page(after, limit) {
      const [createdAt, id] = after ?? [0, ''];
      // index: service_accounts_list
      const rows = await sql<AccountRow[]>`
        select a.*, ${tokenCount(sql)} from service_accounts a
        where status <> 'deleted' and (created_at, id) > (${createdAt}, ${id})
        order by created_at, id
        limit ${limit + 1}`;
      return { items: rows.slice(0, limit).map(accountOf), more: rows.length > limit };
    },

    read: (id) => readAccount(sql, id),

    create: (fields, author) =>
      unlessViolated(NAME_RULE, 'name_taken' as const, () => change(author, (made) => insert(made, fields))),

    update: (id, fields, isCurrent, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' as const }, () =>
        change(author, (made) => update(made, id, fields, isCurrent)),
      ),

    setStatus: (id, status, author) => change(author, (made) => setStatus(made, id, status)),

    remove: (id, isCurrent, author) => change(author, (made) => remove(made, id, isCurrent)),

    async tokens(id) {
      if (!(await readAccount(sql, id))) return null;
      return readApiTokens(sql, { column: 'service_account_id', id });
    },

    addToken: (id, token, author) =>
      change(author, async (made) => {
        const account = await lockAccount(made.tx, id);
        if (!account) return { outcome: 'unknown' };
        const added = await addApiToken(made, ownerOf(account), token);
        return added ? { outcome: 'added', token: added } : { outcome: 'too_many' };
      }),

    revokeToken: (id, tokenId, author) =>
      change(author, async (made) => {
        const account = await lockAccount(made.tx, id);
        return account !== null && revokeApiToken(made, ownerOf(account), tokenId);
      }),
  };
}

interface AccountRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly role: RoleName;
  readonly status: ServiceAccount['status'];
  readonly created_at: Micros;
  readonly token_count: number;
}

/** index: api_tokens_of_account */
function tokenCount(sql: Sql | Transaction) {
  return sql`(
    select count(*)::int from api_tokens t where t.service_account_id = a.id and t.revoked_at is null
  ) as token_count`;
}

function accountOf(row: AccountRow): ServiceAccount {
  const { id, version, name, role, status } = row;
  return { id, version, name, role, status, tokenCount: row.token_count, createdAt: row.created_at };
}

async function readAccount(sql: Sql | Transaction, id: PublicId): Promise<ServiceAccount | null> {
  const [row] = await sql<AccountRow[]>`
    select a.*, ${tokenCount(sql)} from service_accounts a where id = ${id} and status <> 'deleted'`;
  return row ? accountOf(row) : null;
}

async function lockAccount(tx: Transaction, id: PublicId): Promise<ServiceAccount | null> {
  await tx`select 1 from service_accounts where id = ${id} for no key update`;
  return readAccount(tx, id);
}

function ownerOf({ id, name }: ServiceAccount): TokenOwner {
  return { column: 'service_account_id', id, name };
}

async function insert(made: Change, fields: ServiceAccountFields): Promise<ServiceAccount> {
  const { tx, author } = made;
  const id = newPublicId('SA');
  const { name, role } = fields;
  await tx`
    insert into service_accounts (id, version, name, role, status, created_at)
    values (${id}, 1, ${name}, ${role}, 'active', ${author.at})`;
  await record(made, { id, name }, { verb: 'created', diff: auditDiff(null, fields) });
  return { id, version: 1, name, role, status: 'active', tokenCount: 0, createdAt: author.at };
}

async function update(
  made: Change,
  id: PublicId,
  fields: ServiceAccountFields,
  isCurrent: (version: number) => boolean,
): Promise<ServiceAccountUpdate> {
  const account = await lockAccount(made.tx, id);
  if (!account) return { outcome: 'unknown' };
  if (!isCurrent(account.version)) return { outcome: 'stale' };
  const { name, role } = fields;
  const diff = auditDiff({ name: account.name, role: account.role }, fields);
  if (diff.length === 0) return { outcome: 'unchanged', account };
  await made.tx`
    update service_accounts set version = version + 1, name = ${name}, role = ${role} where id = ${id}`;
  await record(made, { id, name }, { verb: 'updated', diff });
  return { outcome: 'saved', account: { ...account, ...fields, version: account.version + 1 } };
}

async function setStatus(
  made: Change,
  id: PublicId,
  status: ServiceAccount['status'],
): Promise<ServiceAccount | null> {
  const account = await lockAccount(made.tx, id);
  if (!account || account.status === status) return account;
  await made.tx`update service_accounts set status = ${status} where id = ${id}`;
  const diff = auditDiff({ status: account.status }, { status });
  await record(made, account, { verb: status === 'active' ? 'enabled' : 'disabled', diff });
  return { ...account, status };
}

async function remove(
  made: Change,
  id: PublicId,
  isCurrent: ((version: number) => boolean) | null,
): Promise<'removed' | 'unknown' | 'stale'> {
  const account = await lockAccount(made.tx, id);
  if (!account) return 'unknown';
  if (isCurrent && !isCurrent(account.version)) return 'stale';
  await made.tx`update service_accounts set status = 'deleted' where id = ${id}`;
  const revoked = await revokeAllTokens(made.tx, { column: 'service_account_id', id }, made.author.at);
  await record(made, account, { verb: 'deleted', details: { tokens_revoked: revoked } });
  return 'removed';
}

function record(
  { tx, appendAudit, author }: Change,
  { id, name }: { readonly id: PublicId; readonly name: string },
  { verb, ...change }: Pick<Parameters<typeof auditEntry>[1], 'diff' | 'details'> & { readonly verb: string },
): Promise<void> {
  const action = `service_account.${verb}`;
  return appendAudit(tx, auditEntry(author, { action, resourceId: id, resourceName: name, ...change }));
}
