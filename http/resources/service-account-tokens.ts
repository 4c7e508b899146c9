/** Tokens of Service accounts: list, create, revoke (access §9, api §8). People sign in for it; tokens make no tokens. */
import { randomBytes } from 'node:crypto';
import { apiTokenHash, newApiToken, type ServiceAccounts } from '../../actors/access/api-tokens.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { invalid, notFound } from '../problem.ts';
import { itemsOf } from '../shapes.ts';
import {
  createdShape,
  ServiceAccountTokenShape,
  TOO_MANY_TOKENS,
  TokenInput,
  tokenBody,
  tokenErrors,
} from './api-token-shapes.ts';

const PATH = '/service-accounts/{service_account_id}/tokens';
const TAG = 'Service accounts';
const ACCOUNT_ID = { service_account_id: 'SA' } as const;

export function serviceAccountTokenOperations(accounts: ServiceAccounts): readonly Operation[] {
  return [
    operation({
      id: 'listServiceAccountTokens',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'List the tokens of a Service account, newest first',
      needs: 'service-accounts:read',
      ids: ACCOUNT_ID,
      answers: {
        200: { description: 'Tokens without their values', schema: itemsOf(ServiceAccountTokenShape) },
      },
      async handle(call) {
        const tokens = await accounts.tokens(accountId(call));
        return tokens ? { status: 200, body: { items: tokens.map(tokenBody) } } : notFound();
      },
    }),

    operation({
      id: 'createServiceAccountToken',
      method: 'POST',
      path: PATH,
      tag: TAG,
      summary: 'Create a token of a Service account; its value is in this answer only',
      needs: 'service-accounts:write',
      credential: 'session',
      ids: ACCOUNT_ID,
      body: TokenInput,
      answers: {
        201: { description: 'The token and its value', schema: createdShape(ServiceAccountTokenShape) },
      },
      handle: (call) => create(accounts, call),
    }),

    operation({
      id: 'revokeServiceAccountToken',
      method: 'DELETE',
      path: `${PATH}/{token_id}`,
      tag: TAG,
      summary: 'Revoke a token of a Service account at once',
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

async function create(accounts: ServiceAccounts, call: Call<unknown, TokenInput>): Promise<Answer> {
  const { body, now } = call;
  const id = accountId(call);
  const errors = tokenErrors(body, now);
  // Existence is judged before meaning (api §1.3).
  if (errors.length > 0) return (await accounts.read(id)) ? invalid(errors) : notFound();
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

function accountId(call: Pick<Call, 'params'>): PublicId {
  return call.params.service_account_id as PublicId;
}
