/** Personal access tokens: list, create, revoke one's own (access §9, api §4). */
import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { apiTokenHash, newApiToken, type PersonalTokens } from '../../actors/access/api-tokens.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Identity, type Operation, operation } from '../operation.ts';
import { inCatalogueOrder, type Permission } from '../permissions.ts';
import { type FieldError, invalid, notFound } from '../problem.ts';
import { itemsOf } from '../shapes.ts';
import {
  createdShape,
  PersonalTokenShape,
  TOO_MANY_TOKENS,
  TokenInput,
  tokenBody,
  tokenErrors,
} from './api-token-shapes.ts';
import { PermissionShape } from './user-shapes.ts';

const PATH = '/me/personal-access-tokens';
const TAG = 'Profile';

const PersonalTokenInput = v.object({
  ...TokenInput.entries,
  permissions: v.pipe(v.array(PermissionShape), v.nonEmpty('too_short')),
});
type PersonalTokenInput = v.InferOutput<typeof PersonalTokenInput>;

export function personalTokenOperations(tokens: PersonalTokens): readonly Operation[] {
  return [
    operation({
      id: 'listPersonalAccessTokens',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'List your Personal access tokens, newest first',
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
      path: PATH,
      tag: TAG,
      summary: 'Create a Personal access token; its value is in this answer only',
      needs: 'session',
      body: PersonalTokenInput,
      answers: { 201: { description: 'The token and its value', schema: createdShape(PersonalTokenShape) } },
      handle: (call) => create(tokens, call),
    }),

    operation({
      id: 'revokePersonalAccessToken',
      method: 'DELETE',
      path: `${PATH}/{token_id}`,
      tag: TAG,
      summary: 'Revoke a Personal access token at once',
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

async function create(tokens: PersonalTokens, call: Call<unknown, PersonalTokenInput>): Promise<Answer> {
  const { body, now } = call;
  const { id, permissions: held } = caller(call);
  const errors = [...tokenErrors(body, now), ...notHeld(body.permissions, held)];
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

function notHeld(wanted: readonly Permission[], held: ReadonlySet<Permission>): readonly FieldError[] {
  return wanted.flatMap((permission, index): FieldError[] =>
    held.has(permission)
      ? []
      : [
          {
            pointer: `/permissions/${index}`,
            code: 'permission_not_held',
            detail: 'You do not hold this permission yourself.',
          },
        ],
  );
}

function caller({ identity }: Pick<Call, 'identity'>): Identity {
  if (!identity) throw new Error('the caller of a request exists');
  return identity;
}
