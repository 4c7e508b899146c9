/** API tokens and Service accounts: what they are, and what storage does for them (access §9). */
import { hash } from 'node:crypto';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { RoleName, User } from './user.ts';

export const TOKEN_PREFIXES = { personal: 'svc_pat_', service_account: 'svc_sat_' } as const;
export type ApiTokenKind = keyof typeof TOKEN_PREFIXES;

const RANDOM_BYTES = 32;
const FORM = /^svc_[ps]at_[a-z2-7]{52}$/;

/** Unrevoked tokens that one owner may have. */
export const TOKENS_PER_OWNER = 100;

/** A new value: the prefix and 256 random bits in base32. Shown once, kept nowhere. */
export function newApiToken(kind: ApiTokenKind, random: (size: number) => Uint8Array): string {
  return TOKEN_PREFIXES[kind] + base32(random(RANDOM_BYTES));
}

/** What is stored of a value; null for a text that is no API token. */
export function apiTokenHash(value: string): Buffer | null {
  return FORM.test(value) ? hash('sha256', value, 'buffer') : null;
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 without padding, in small letters. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}

export interface ApiToken {
  readonly id: PublicId;
  readonly name: string;
  /** What a user's token is narrowed to; null for a Service account's. */
  readonly permissions: readonly string[] | null;
  readonly expiresAt: Micros | null;
  readonly createdAt: Micros;
  readonly lastUsedAt: Micros | null;
  readonly lastUsedAddress: string | null;
}

export interface NewApiToken {
  readonly name: string;
  readonly permissions: readonly string[] | null;
  readonly expiresAt: Micros | null;
  readonly hash: Uint8Array;
}

export interface ServiceAccount {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly role: RoleName;
  readonly status: 'active' | 'disabled';
  /** Unrevoked ones, expired ones included. */
  readonly tokenCount: number;
  readonly createdAt: Micros;
}

/** A token that is known and not revoked, with whoever it acts for as they are now. */
export interface FoundToken {
  readonly token: Pick<ApiToken, 'id' | 'name' | 'permissions' | 'expiresAt'>;
  readonly owner:
    | { readonly kind: 'user'; readonly user: User }
    | {
        readonly kind: 'service_account';
        readonly id: PublicId;
        readonly name: string;
        readonly role: RoleName;
        readonly isActive: boolean;
      };
  /** How long tokens outlive the last sign-in of an owner about whom no provider can be asked. */
  readonly graceSeconds: number;
}

/** What every request with a token asks. */
export interface ApiTokens {
  find(hash: Uint8Array): Promise<FoundToken | null>;
  /** Notes when and from where a token was used: at once for the caller, at most once a minute for the database. */
  used(id: PublicId, address: string, now: Micros): void;
}

export type TokenAddition =
  | { readonly outcome: 'added'; readonly token: ApiToken }
  /** The owner has {@link TOKENS_PER_OWNER}. */
  | { readonly outcome: 'too_many' }
  | { readonly outcome: 'unknown' };

export interface PersonalTokens {
  /** Unrevoked ones, expired ones included; newest first. */
  list(userId: PublicId): Promise<readonly ApiToken[]>;
  add(userId: PublicId, token: NewApiToken, author: Authorship): Promise<TokenAddition>;
  /** False when the user has no such token, or no longer. */
  revoke(userId: PublicId, tokenId: PublicId, author: Authorship): Promise<boolean>;
}

export interface ServiceAccountFields {
  readonly name: string;
  readonly role: RoleName;
}

export type ServiceAccountUpdate =
  | { readonly outcome: 'saved' | 'unchanged'; readonly account: ServiceAccount }
  | { readonly outcome: 'unknown' | 'stale' | 'name_taken' };

export interface ServiceAccounts {
  /** By creation, then id. */
  page(
    after: readonly [Micros, string] | null,
    limit: number,
  ): Promise<{ readonly items: readonly ServiceAccount[]; readonly more: boolean }>;
  /** Null for a deleted one, too. */
  read(id: PublicId): Promise<ServiceAccount | null>;
  create(fields: ServiceAccountFields, author: Authorship): Promise<ServiceAccount | 'name_taken'>;
  update(
    id: PublicId,
    fields: ServiceAccountFields,
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<ServiceAccountUpdate>;
  /** Null when it is unknown; a status that it has already changes nothing. */
  setStatus(
    id: PublicId,
    status: ServiceAccount['status'],
    author: Authorship,
  ): Promise<ServiceAccount | null>;
  /** With its tokens. */
  remove(
    id: PublicId,
    isCurrent: ((version: number) => boolean) | null,
    author: Authorship,
  ): Promise<'removed' | 'unknown' | 'stale'>;
  /** As {@link PersonalTokens.list}; null for an unknown Service account. */
  tokens(id: PublicId): Promise<readonly ApiToken[] | null>;
  addToken(id: PublicId, token: NewApiToken, author: Authorship): Promise<TokenAddition>;
  revokeToken(id: PublicId, tokenId: PublicId, author: Authorship): Promise<boolean>;
}
