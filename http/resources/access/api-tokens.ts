/** API tokens: people's own, and those of Service accounts, listed, created, revoked (access §9, api §4, §8). */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import {
  type ApiToken,
  apiTokenHash,
  newApiToken,
  type PersonalTokens,
  type ServiceAccounts,
  TOKENS_PER_OWNER,
} from '../../../actors/access/api-tokens.ts';
import { formatInstant, formatInstantOrNull, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import {
  type Answer,
  authorOf,
  type Call,
  type Identity,
  type Operation,
  operation,
} from '../../operation.ts';
import { inCatalogueOrder } from '../../permissions.ts';
import { type FieldError, invalid, notFound } from '../../problem.ts';
import { unheldErrors } from '../../request/admission.ts';
import * as d from '../../schema/described.ts';
import { name, nameErrors, requiredInstant } from '../../schema/fields.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { PermissionShape } from './users.ts';

const TokenInput = d.named(
  'ApiTokenInput',
  v.object({
    name,
    expires_at: d.described(
      v.nullish(requiredInstant),
      'When the token ends, in the future; null or left out for never.',
    ),
  }),
  'A new API token.',
);
export type TokenInput = v.InferOutput<typeof TokenInput>;

const TokenShape = d.named(
  'ApiToken',
  v.object({
    id: d.ANY_ID,
    name: d.text('Its name.'),
    expires_at: v.nullable(d.time('When it ends; null for never.')),
    created_at: d.CREATED_AT,
    last_used_at: d.LAST_USE,
    last_used_address: d.textOrNull('Address it was last used from; null when never.'),
  }),
  'An API token, without its value.',
);
const PersonalTokenShape = d.extending(
  TokenShape,
  'PersonalAccessToken',
  v.object({
    ...TokenShape.entries,
    permissions: d.described(v.array(PermissionShape), 'What it may do, as long as its owner may.'),
  }),
  'A Personal access token, without its value.',
);

/** The token and its value, which no later answer holds. */
function createdShape<Token extends v.GenericSchema>(token: Token) {
  return v.object({
    token: token,
    value: d.text('The token itself. In this answer only.'),
  });
}

/** 422 of what every kind of token has. */
function tokenErrors({ name, expires_at }: TokenInput, now: Micros): readonly FieldError[] {
  const errors = [...nameErrors(name)];
  if (expires_at != null && expires_at <= now) {
    errors.push({ pointer: '/expires_at', code: 'out_of_range', detail: 'Choose a time in the future.' });
  }
  return errors;
}

function tokenBody(token: ApiToken) {
  return {
    id: token.id,
    name: token.name,
    ...(token.permissions === null ? {} : { permissions: token.permissions }),
    expires_at: formatInstantOrNull(token.expiresAt),
    created_at: formatInstant(token.createdAt),
    last_used_at: formatInstantOrNull(token.lastUsedAt),
    last_used_address: token.lastUsedAddress,
  };
}

const TOO_MANY_TOKENS = invalid([
  {
    pointer: '',
    code: 'out_of_range',
    detail: `At most ${TOKENS_PER_OWNER} tokens are possible. Revoke one first.`,
  },
]);

/** Personal access tokens: list, create, revoke one's own (access §9, api §4). */
const PERSONAL_TOKENS = '/me/personal-access-tokens';
const PROFILE_TAG = 'Profile';

const PersonalTokenInput = d.extending(
  TokenInput,
  'PersonalAccessTokenInput',
  v.object({
    ...TokenInput.entries,
    permissions: d.described(
      v.pipe(v.array(PermissionShape), v.nonEmpty('too_short')),
      'All of them held by you; repeats are dropped.',
    ),
  }),
  'A new Personal access token.',
);
type PersonalTokenInput = v.InferOutput<typeof PersonalTokenInput>;

export function personalTokenOperations(tokens: PersonalTokens): readonly Operation[] {
  return [
    operation({
      id: 'listPersonalAccessTokens',
      method: 'GET',
      path: PERSONAL_TOKENS,
      tag: PROFILE_TAG,
      summary: 'List your Personal access tokens, newest first',
      description: 'Those not revoked, expired ones included.',
      needs: 'user',
      answers: { 200: { description: 'Tokens without their values', schema: itemsOf(PersonalTokenShape) } },
      handle: async (call) => ({
        status: 200,
        body: { items: (await tokens.list(caller(call).id)).map(tokenBody) },
      }),
    }),

    operation({
      id: 'createPersonalAccessToken',
      method: 'POST',
      path: PERSONAL_TOKENS,
      tag: PROFILE_TAG,
      summary: 'Create a Personal access token; its value is in this answer only',
      description: 'At most 100. A token does never more than its owner may at that moment.',
      needs: 'session',
      body: PersonalTokenInput,
      answers: { 201: { description: 'The token and its value', schema: createdShape(PersonalTokenShape) } },
      handle: (call) => createForCaller(tokens, call),
    }),

    operation({
      id: 'revokePersonalAccessToken',
      method: 'DELETE',
      path: `${PERSONAL_TOKENS}/{token_id}`,
      tag: PROFILE_TAG,
      summary: 'Revoke a Personal access token at once',
      description: 'It is refused from then on, everywhere.',
      needs: 'session',
      ids: { token_id: 'PT' },
      answers: { 204: { description: 'Revoked' } },
      async handle(call) {
        const tokenId = call.params.token_id as PublicId;
        return (await tokens.revoke(caller(call).id, tokenId, authorOf(call))) ? { status: 204 } : notFound();
      },
    }),
  ];
}

async function createForCaller(
  tokens: PersonalTokens,
  call: Call<unknown, PersonalTokenInput>,
): Promise<Answer> {
  const { body, now } = call;
  const { id } = caller(call);
  const unheld = body.permissions.flatMap((permission, index) =>
    unheldErrors(call.identity, `/permissions/${index}`, [permission]),
  );
  const errors = [...tokenErrors(body, now), ...unheld];
  if (errors.length > 0) return invalid(errors);
  const value = newApiToken('personal', randomBytes);
  const hash = apiTokenHash(value);
  if (!hash) throw new Error('a new token has the form of one');
  const permissions = inCatalogueOrder(new Set(body.permissions));
  const token = { name: body.name.trim(), permissions, expiresAt: body.expires_at ?? null, hash };
  const addition = await tokens.add(id, token, authorOf(call));
  switch (addition.outcome) {
    case 'too_many':
      return TOO_MANY_TOKENS;
    case 'unknown':
      // The caller was disabled or deleted since the request began.
      return notFound();
    case 'added':
      return { status: 201, body: { token: tokenBody(addition.token), value } };
  }
}

function caller({ identity }: Pick<Call, 'identity'>): Identity {
  if (!identity) throw new Error('the caller of a request exists');
  return identity;
}

/** Tokens of Service accounts: list, create, revoke (access §9, api §8). People sign in for it; tokens make no tokens. */
const ACCOUNT_TOKENS = '/service-accounts/{service_account_id}/tokens';
const ACCOUNTS_TAG = 'Service accounts';
const ACCOUNT_ID = { service_account_id: 'SA' } as const;

export function serviceAccountTokenOperations(accounts: ServiceAccounts): readonly Operation[] {
  return [
    operation({
      id: 'listServiceAccountTokens',
      method: 'GET',
      path: ACCOUNT_TOKENS,
      tag: ACCOUNTS_TAG,
      summary: 'List the tokens of a Service account, newest first',
      description: 'Those not revoked, expired ones included.',
      needs: 'service-accounts:read',
      ids: ACCOUNT_ID,
      answers: {
        200: { description: 'Tokens without their values', schema: itemsOf(TokenShape) },
      },
      async handle(call) {
        const tokens = await accounts.tokens(accountId(call));
        return tokens ? { status: 200, body: { items: tokens.map(tokenBody) } } : notFound();
      },
    }),

    operation({
      id: 'createServiceAccountToken',
      method: 'POST',
      path: ACCOUNT_TOKENS,
      tag: ACCOUNTS_TAG,
      summary: 'Create a token of a Service account; its value is in this answer only',
      description: 'At most 100. Needs a session: a token can never make a token.',
      needs: 'service-accounts:write',
      credential: 'session',
      ids: ACCOUNT_ID,
      body: TokenInput,
      answers: {
        201: { description: 'The token and its value', schema: createdShape(TokenShape) },
      },
      handle: (call) => createForAccount(accounts, call),
    }),

    operation({
      id: 'revokeServiceAccountToken',
      method: 'DELETE',
      path: `${ACCOUNT_TOKENS}/{token_id}`,
      tag: ACCOUNTS_TAG,
      summary: 'Revoke a token of a Service account at once',
      description: 'It is refused from then on, everywhere.',
      needs: 'service-accounts:write',
      credential: 'session',
      ids: { ...ACCOUNT_ID, token_id: 'ST' },
      answers: { 204: { description: 'Revoked' } },
      async handle(call) {
        const tokenId = call.params.token_id as PublicId;
        const revoked = await accounts.revokeToken(accountId(call), tokenId, authorOf(call));
        return revoked ? { status: 204 } : notFound();
      },
    }),
  ];
}

async function createForAccount(accounts: ServiceAccounts, call: Call<unknown, TokenInput>): Promise<Answer> {
  const { body, now } = call;
  const id = accountId(call);
  const errors = tokenErrors(body, now);
  // Existence is judged before meaning (api §1.3).
  const refusal = await refusalOfAccount(accounts, call, errors);
  if (refusal) return refusal;
  const value = newApiToken('service_account', randomBytes);
  const hash = apiTokenHash(value);
  if (!hash) throw new Error('a new token has the form of one');
  const token = { name: body.name.trim(), permissions: null, expiresAt: body.expires_at ?? null, hash };
  const addition = await accounts.addToken(id, token, authorOf(call));
  switch (addition.outcome) {
    case 'unknown':
      return notFound();
    case 'too_many':
      return TOO_MANY_TOKENS;
    case 'added':
      return { status: 201, body: { token: tokenBody(addition.token), value } };
  }
}

/** 404, or 422 with the errors and with what the account's Role holds beyond the caller; null lets the change pass. */
export async function refusalOfAccount(
  accounts: ServiceAccounts,
  call: Call,
  errors: readonly FieldError[] = [],
): Promise<Answer | null> {
  const account = await accounts.read(accountId(call));
  if (!account) return notFound();
  const all = [...errors, ...unheldErrors(call.identity, '/path/service_account_id', account.role)];
  return all.length > 0 ? invalid(all) : null;
}

function accountId(call: Pick<Call, 'params'>): PublicId {
  return call.params.service_account_id as PublicId;
}
