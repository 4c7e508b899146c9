/** API tokens as they arrive and as they are answered (api §4, §8). */
import * as v from 'valibot';
import { type ApiToken, TOKENS_PER_OWNER } from '../../actors/access/api-tokens.ts';
import { formatInstant, formatInstantOrNull, type Micros, parseInstant } from '../../runtime/clock.ts';
import { name, nameErrors } from '../fields.ts';
import { type FieldError, invalid } from '../problem.ts';
import { PermissionShape } from './user-shapes.ts';

export const TokenInput = v.object({
  name,
  expires_at: v.nullish(
    v.pipe(
      v.string(),
      v.check((text) => parseInstant(text) !== null, 'invalid_format'),
      v.transform((text) => parseInstant(text) as Micros),
    ),
  ),
});
export type TokenInput = v.InferOutput<typeof TokenInput>;

const common = {
  id: v.string(),
  name: v.string(),
  expires_at: v.nullable(v.string()),
  created_at: v.string(),
  last_used_at: v.nullable(v.string()),
  last_used_address: v.nullable(v.string()),
};

export const ServiceAccountTokenShape = v.object(common);
export const PersonalTokenShape = v.object({ ...common, permissions: v.array(PermissionShape) });

/** The token and its value, which no later answer holds. */
export function createdShape<Token extends v.GenericSchema>(token: Token) {
  return v.object({ token, value: v.string() });
}

/** 422 of what every kind of token has. */
export function tokenErrors({ name, expires_at }: TokenInput, now: Micros): readonly FieldError[] {
  const errors = [...nameErrors(name)];
  if (expires_at != null && expires_at <= now) {
    errors.push({ pointer: '/expires_at', code: 'out_of_range', detail: 'Choose a time in the future.' });
  }
  return errors;
}

export function tokenBody(token: ApiToken) {
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

export const TOO_MANY_TOKENS = invalid([
  {
    pointer: '',
    code: 'out_of_range',
    detail: `At most ${TOKENS_PER_OWNER} tokens are possible. Revoke one first.`,
  },
]);
