/** What a provider says of a person, as this service reads it (access §6.4). Pure. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { codePoints } from '../../text.ts';

export type Claims = Readonly<Record<string, unknown>>;

const MOST_CHARACTERS = 200;
const MOST_EMAIL_CHARACTERS = 254;
const RESERVED_LOGIN = 'deleted-user-';
const NO_LOGIN = /[\s\p{Cc}]/u;
const CONTROL = /\p{Cc}/gu;
const EMAIL = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** One group, or several; members of another type say nothing. Null when the claim is not there at all. */
export function groupsOf(claims: Claims, claim: string): readonly string[] | null {
  if (!Object.hasOwn(claims, claim)) return null;
  return texts(claims[claim]);
}

export interface NewPerson {
  readonly login: string;
  readonly name: string;
  readonly email: string | null;
}

/** Who a new account is for. Later sign-ins change neither of them. */
export function personOf(claims: Claims, subject: string): NewPerson {
  const login = loginOf(claims, subject);
  const name = textOf(claims.name)?.replace(CONTROL, ' ').trim() ?? '';
  const email = textOf(claims.email);
  return {
    login,
    name: [...name].slice(0, MOST_CHARACTERS).join('') || login,
    email: email !== null && codePoints(email) <= MOST_EMAIL_CHARACTERS && EMAIL.test(email) ? email : null,
  };
}

/** The first text that can be a login. */
function loginOf(claims: Claims, subject: string): string {
  const usable = [textOf(claims.preferred_username), textOf(claims.email), subject].find(
    (text) => text !== null && canBeLogin(text),
  );
  return usable ?? `oidc-${createHash('sha256').update(subject).digest('hex').slice(0, 12)}`;
}

function canBeLogin(text: string): boolean {
  if (text === '' || codePoints(text) > MOST_CHARACTERS || NO_LOGIN.test(text)) return false;
  return !text.toLowerCase().startsWith(RESERVED_LOGIN);
}

const KNOWLEDGE = ['pwd', 'pin', 'kba'];
const POSSESSION = ['otp', 'hwk', 'swk', 'sms', 'tel', 'sc', 'fpt', 'face', 'iris', 'retina', 'vbm'];
const MULTI_FACTOR_CLASSES = [
  'https://refeds.org/profile/mfa',
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
];

/** Whether the provider says that it asked for more than one factor. */
export function assertsMultiFactor({ amr, acr }: Claims): boolean {
  const methods = texts(amr);
  const has = (some: readonly string[]) => some.some((method) => methods.includes(method));
  if (has(['mfa']) || (has(KNOWLEDGE) && has(POSSESSION))) return true;
  return MULTI_FACTOR_CLASSES.some((known) => known === acr);
}

const TEXT = v.string();

function textOf(value: unknown): string | null {
  return v.is(TEXT, value) ? value : null;
}

function texts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((member) => v.is(TEXT, member));
  return v.is(TEXT, value) ? [value] : [];
}
