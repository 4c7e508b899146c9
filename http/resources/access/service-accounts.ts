/** Service accounts: list, create, read, update, disable, enable, delete (access §9 rule 8, api §8). */
import * as v from 'valibot';
import type {
  ServiceAccount,
  ServiceAccountFields,
  ServiceAccounts,
} from '../../../actors/access/api-tokens.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, invalid, notFound, preconditionFailed } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { Role } from '../../schema/words.ts';
import { refusalOfAccount, serviceAccountTokenOperations } from './api-tokens.ts';

const PATH = '/service-accounts';
const ONE = `${PATH}/{service_account_id}`;
const TAG = 'Service accounts';
const LIST = 'service-accounts';
const ACCOUNT_ID = { service_account_id: 'SA' } as const;

const AccountInput = d.named(
  'ServiceAccountInput',
  v.object({ name, role: Role }),
  'A Service account as it is saved.',
);
type AccountInput = v.InferOutput<typeof AccountInput>;

const AccountShape = d.named(
  'ServiceAccount',
  v.object({
    id: d.id('SA'),
    name: d.text('Its name, unique in any case.'),
    role: Role,
    status: d.described(v.picklist(['active', 'disabled']), '`disabled`: its tokens are refused.'),
    token_count: d.count('Tokens that were not revoked.'),
    created_at: d.time('When it was created.'),
    etag: d.text('Its version, as in the header `ETag`.'),
  }),
  'An identity of a program.',
);

const OF_ACCOUNT = { description: 'The Service account', schema: AccountShape, etag: true } as const;
const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const;
const ListQuery = v.object(pageQuery);

export function serviceAccountOperations(accounts: ServiceAccounts): readonly Operation[] {
  return [
    operation({
      id: 'listServiceAccounts',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'List Service accounts, oldest first',
      description: 'Disabled ones included.',
      needs: 'service-accounts:read',
      query: ListQuery,
      answers: { 200: { description: 'Service accounts', schema: pageOf(AccountShape) } },
      handle: (call) => list(accounts, call),
    }),

    operation({
      id: 'createServiceAccount',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Create a Service account',
      description: 'It can do nothing until it has a token.',
      needs: 'service-accounts:write',
      body: AccountInput,
      answers: { 201: OF_ACCOUNT },
      refusals: [NAME_REFUSAL],
      handle: (call) => create(accounts, call),
    }),

    operation({
      id: 'getServiceAccount',
      method: 'GET',
      path: ONE,
      tag: TAG,
      summary: 'Read a Service account',
      description: 'Tokens are listed apart.',
      needs: 'service-accounts:read',
      ids: ACCOUNT_ID,
      answers: { 200: OF_ACCOUNT },
      handle: async (call) => accountOrNothing(await accounts.read(accountId(call))),
    }),

    operation({
      id: 'updateServiceAccount',
      method: 'PUT',
      path: ONE,
      tag: TAG,
      summary: 'Rename a Service account or give it another Role',
      description: 'Its tokens have the new Role at once.',
      needs: 'service-accounts:write',
      ids: ACCOUNT_ID,
      ifMatch: 'required',
      body: AccountInput,
      answers: { 200: OF_ACCOUNT },
      refusals: [NAME_REFUSAL],
      handle: (call) => update(accounts, call),
    }),

    operation({
      id: 'deleteServiceAccount',
      method: 'DELETE',
      path: ONE,
      tag: TAG,
      summary: 'Delete a Service account and revoke its tokens',
      description: 'What it did keeps its name.',
      needs: 'service-accounts:write',
      ids: ACCOUNT_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      handle: (call) => remove(accounts, call),
    }),

    ...(['disable', 'enable'] as const).map((verb) => standing(accounts, verb)),
    ...serviceAccountTokenOperations(accounts),
  ];
}

const STANDINGS = {
  disable: {
    id: 'disableServiceAccount',
    status: 'disabled',
    summary: 'Stop its tokens until it is enabled',
    description: 'Requests with its tokens are 401. Already disabled: unchanged.',
  },
  enable: {
    id: 'enableServiceAccount',
    status: 'active',
    summary: 'Let its tokens work again',
    description: 'Already enabled: unchanged.',
  },
} as const;

function standing(accounts: ServiceAccounts, verb: keyof typeof STANDINGS): Operation {
  const { id, status, summary, description } = STANDINGS[verb];
  return operation({
    id,
    method: 'POST',
    path: `${ONE}/${verb}`,
    tag: TAG,
    summary,
    description,
    needs: 'service-accounts:write',
    ids: ACCOUNT_ID,
    answers: { 200: OF_ACCOUNT },
    refusals: status === 'active' ? [[422, 'validation-failed', '']] : [],
    async handle(call) {
      const refusal = status === 'active' ? await refusalOfAccount(accounts, call) : null;
      return refusal ?? accountOrNothing(await accounts.setStatus(accountId(call), status, authorOf(call)));
    },
  });
}

async function create(accounts: ServiceAccounts, call: Call<unknown, AccountInput>): Promise<Answer> {
  const errors = errorsOf(call);
  if (errors.length > 0) return invalid(errors);
  const account = await accounts.create(fieldsOf(call.body), authorOf(call));
  if (account === 'name_taken') return NAME_TAKEN;
  return { ...accountAnswer(201, account), location: `/api/v1${PATH}/${account.id}` };
}

async function update(accounts: ServiceAccounts, call: Call<unknown, AccountInput>): Promise<Answer> {
  const id = accountId(call);
  const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
  const errors = errorsOf(call);
  if (errors.length > 0) {
    // Existence and version are judged before meaning (api §1.3).
    const current = await accounts.read(id);
    if (!current) return notFound();
    return isCurrent(current.version) ? invalid(errors) : preconditionFailed();
  }
  const saving = await accounts.update(id, fieldsOf(call.body), isCurrent, authorOf(call));
  switch (saving.outcome) {
    case 'unknown':
      return notFound();
    case 'stale':
      return preconditionFailed();
    case 'name_taken':
      return NAME_TAKEN;
    case 'saved':
    case 'unchanged':
      return accountAnswer(200, saving.account);
  }
}

async function remove(accounts: ServiceAccounts, call: Call): Promise<Answer> {
  const { ifMatch } = call;
  const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
  const removal = await accounts.remove(accountId(call), isCurrent, authorOf(call));
  if (removal === 'unknown') return notFound();
  return removal === 'stale' ? preconditionFailed() : { status: 204 };
}

async function list(
  accounts: ServiceAccounts,
  { query }: Call<v.InferOutput<typeof ListQuery>>,
): Promise<Answer> {
  const { cursor, limit = DEFAULT_LIMIT } = query;
  const after = cursor === undefined ? null : readCursor(cursor);
  if (after === 'invalid') return INVALID_CURSOR;
  const { items, more } = await accounts.page(after, limit);
  const last = more ? items.at(-1) : undefined;
  const next = last ? encodeCursor(LIST, {}, [last.createdAt, last.id]) : null;
  return { status: 200, body: { items: items.map(accountBody), next_cursor: next } };
}

function readCursor(cursor: string): readonly [number, string] | 'invalid' {
  const [createdAt, id] = decodeCursor(LIST, {}, cursor) ?? [];
  return typeof createdAt === 'number' && typeof id === 'string' ? [createdAt, id] : 'invalid';
}

function errorsOf({ body, identity }: Pick<Call<unknown, AccountInput>, 'body' | 'identity'>) {
  return [...nameErrors(body.name), ...unheldErrors(identity, '/role', body.role)];
}

function fieldsOf({ name, role }: AccountInput): ServiceAccountFields {
  return { name: name.trim(), role };
}

function accountId(call: Pick<Call, 'params'>): PublicId {
  return call.params.service_account_id as PublicId;
}

function accountBody(account: ServiceAccount): v.InferOutput<typeof AccountShape> {
  const { id, name, role, status, tokenCount, createdAt, version } = account;
  return {
    ...{ id, name, role, status },
    token_count: tokenCount,
    created_at: formatInstant(createdAt),
    etag: `"${version}"`,
  };
}

function accountAnswer(status: number, account: ServiceAccount) {
  return { status, body: accountBody(account), etag: account.version };
}

function accountOrNothing(account: ServiceAccount | null): Answer {
  return account ? accountAnswer(200, account) : notFound();
}

const NAME_TAKEN = conflict('name_taken', 'Another Service account has this name. Choose a different one.');
