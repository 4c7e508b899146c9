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
import { invalid, notFound } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors } from '../../schema/fields.ts';
import { Role } from '../../schema/words.ts';
import {
  byAge,
  configurationOperations,
  NAME_REFUSAL,
  PLACE_BY_AGE,
  type PlaceByAge,
  PlainQuery,
} from '../configuration.ts';
import { refusalOfAccount, serviceAccountTokenOperations } from './api-tokens.ts';

const PATH = '/service-accounts';
const ONE = `${PATH}/{service_account_id}`;
const TAG = 'Service accounts';
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
    status: d.described(
      v.picklist(['active', 'disabled']),
      '`active`: its tokens work; `disabled`: they are refused.',
    ),
    token_count: d.count('Tokens that were not revoked.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
  }),
  'An identity of a program.',
);

const OF_ACCOUNT = { description: 'The Service account', schema: AccountShape, etag: true } as const;

export function serviceAccountOperations(accounts: ServiceAccounts): readonly Operation[] {
  return [
    ...configurationOperations({
      names: ['ServiceAccount', 'ServiceAccounts'],
      tag: TAG,
      path: PATH,
      id: ['service_account_id', 'SA'],
      noun: 'Service account',
      words: {
        create: ['Create a Service account', 'It can do nothing until it has a token.'],
        get: ['Read a Service account', 'Tokens are listed apart.'],
        update: ['Rename a Service account or give it another Role', 'Its tokens have the new Role at once.'],
        delete: ['Delete a Service account and revoke its tokens', 'What it did keeps its name.'],
      },
      shape: AccountShape,
      input: AccountInput,
      refusals: { create: [NAME_REFUSAL], update: [NAME_REFUSAL] },
      list: {
        words: ['List Service accounts, oldest first', 'Disabled ones included.'],
        answer: 'Service accounts',
        query: PlainQuery,
        place: PLACE_BY_AGE,
        filters: () => ({}),
        page: async (_call, after, limit) => byAge(await accounts.page(after as PlaceByAge | null, limit)),
      },
      body: accountBody,
      read: (id) => accounts.read(id),
      async create(call) {
        const errors = errorsOf(call);
        if (errors.length > 0) return { refuse: invalid(errors) };
        const account = await accounts.create(fieldsOf(call.body), authorOf(call));
        return account === 'name_taken' ? account : { saved: account };
      },
      async update(call, id) {
        const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
        const errors = errorsOf(call);
        if (errors.length > 0) {
          // Existence and version are judged before meaning (api §1.3).
          const current = await accounts.read(id);
          if (!current) return 'unknown';
          return isCurrent(current.version) ? { refuse: invalid(errors) } : 'stale';
        }
        const saving = await accounts.update(id, fieldsOf(call.body), isCurrent, authorOf(call));
        return 'account' in saving ? { saved: saving.account } : saving.outcome;
      },
      remove: (call, id, isCurrent) => accounts.remove(id, isCurrent, authorOf(call)),
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
