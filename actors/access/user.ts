/** A User as stored and shown, what its names must be like, and the store behind it (access §7). */
import { formatInstant, formatInstantOrNull, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import { codePoints } from '../text.ts';

export type RoleName = 'admin' | 'responder' | 'viewer';
type UserStatus = 'active' | 'disabled' | 'deleted';
type UserSource = 'local' | 'oidc' | 'bootstrap';

export interface User {
  readonly id: PublicId;
  readonly version: number;
  readonly login: string;
  readonly name: string;
  readonly email: string | null;
  readonly role: RoleName;
  readonly source: UserSource;
  readonly status: UserStatus;
  readonly timeZone: string | null;
  readonly language: 'en' | 'ru' | null;
  readonly lastSignInAt: Micros | null;
  readonly createdAt: Micros;
  readonly hasPassword: boolean;
  readonly totpEnabled: boolean;
  /** Null for an account that signs in with a password. */
  readonly oidc: ProviderStanding | null;
  /** Whether the identity provider alone decides the Role. */
  readonly roleLocked: boolean;
}

/** State of a user with the identity provider through which they sign in. */
export interface ProviderStanding {
  /** When the user last signed in through it. */
  readonly signedInAt: Micros;
  /** It refused the user, who has not signed in through it since (access §6.6). */
  readonly isRefused: boolean;
  /** Whether it can be asked about the user without them. */
  readonly hasOfflineToken: boolean;
}

/** The form in which logins are compared: unique whatever the case (access §4 rule 1). */
export function foldLogin(login: string): string {
  return login.toLowerCase();
}

/** The API's User. */
export function userShape(user: User) {
  return {
    id: user.id,
    name: user.name,
    login: user.login,
    email: user.email,
    role: user.role,
    role_locked: user.roleLocked,
    source: user.source,
    oidc_offline_access: user.oidc?.hasOfflineToken ?? false,
    sign_in_method: user.oidc ? ('oidc' as const) : ('local' as const),
    status: user.status,
    totp_enabled: user.totpEnabled,
    time_zone: user.timeZone,
    language: user.language,
    last_sign_in_at: formatInstantOrNull(user.lastSignInAt),
    created_at: formatInstant(user.createdAt),
    etag: `"${user.version}"`,
  };
}

/** What people's names, logins and addresses must be like (access §7). Pure. */
const LONGEST_LOGIN = 200;
const LONGEST_EMAIL = 254;
/** Deleted users are called so; nobody else is. */
const OF_DELETED = 'deleted-user-';

/** What is wrong with the login of a new user; null when it will do. Nothing is trimmed. */
export function loginFault(login: string): 'too_long' | 'invalid_format' | null {
  if (codePoints(login) > LONGEST_LOGIN) return 'too_long';
  if (/[\s\p{Cc}]/u.test(login) || login.toLowerCase().startsWith(OF_DELETED)) return 'invalid_format';
  return null;
}

/** Whether a text has the form local@domain. Whether anybody reads what is sent there is not asked. */
export function isEmail(text: string): boolean {
  return codePoints(text) <= LONGEST_EMAIL && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text);
}

/** Name and login of a user who was deleted. */
export function nameOfDeleted(id: string): string {
  return `${OF_DELETED}${id}`;
}

/** What managing users needs from storage. Implemented in storage/access/users.ts and storage/access/user-status.ts. */
export interface UserFields {
  readonly name: string;
  readonly email: string | null;
  readonly role: RoleName;
}

export interface NewUser extends UserFields {
  readonly login: string;
}

/** A link with which its holder sets the password; of the token only the hash is kept. */
export interface NewSetupLink {
  readonly hash: Uint8Array;
  readonly expiresAt: Micros;
}

/** Empty lists and null are no filter. */
export interface UserFilter {
  /** A part of the name, the login or the address, in any case. */
  readonly q: string | null;
  readonly roles: readonly RoleName[];
  readonly statuses: readonly UserStatus[];
  readonly sources: readonly UserSource[];
}

export interface FoundUsers {
  readonly users: readonly User[];
  /** Lower-cased name and id of the last one when there are more. */
  readonly next: readonly [string, string] | null;
}

export type UserDecision<Refusal> = { readonly save: UserFields } | { readonly refuse: Refusal };

export type UserUpdate<Refusal> =
  | { readonly outcome: 'unknown' | 'role_locked' | 'last_admin' }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'saved' | 'unchanged'; readonly user: User };

export type UserSwitch =
  | { readonly outcome: 'unknown' | 'last_admin' }
  | { readonly outcome: 'switched' | 'unchanged'; readonly user: User };

export interface UserStore {
  page(filter: UserFilter, after: readonly [string, string] | null, limit: number): Promise<FoundUsers>;
  /** Deleted ones too. */
  read(id: PublicId): Promise<User | null>;
  create(fields: NewUser, link: NewSetupLink, author: Authorship): Promise<User | 'name_taken'>;
  /** `decide` judges what is there under a lock. A Role that changes ends the user's sessions. */
  update<Refusal>(
    id: PublicId,
    decide: (current: User) => UserDecision<Refusal>,
    author: Authorship,
  ): Promise<UserUpdate<Refusal>>;
  /** Ends sessions, forgets the offline token and hands acknowledgements back (access §7 rule 5). */
  disable(id: PublicId, author: Authorship): Promise<UserSwitch>;
  enable(id: PublicId, author: Authorship): Promise<UserSwitch>;
  /** Leaves a name without a person (access §7 rule 6). */
  remove(
    id: PublicId,
    isCurrent: ((version: number) => boolean) | null,
    author: Authorship,
  ): Promise<'unknown' | 'stale' | 'last_admin' | 'removed'>;
  /** Sessions end with it; nothing happens to who has no second factor. */
  resetTotp(id: PublicId, author: Authorship): Promise<'unknown' | 'reset'>;
  /** The account signs in with a password from now on, which the link sets. */
  convertToLocal(
    id: PublicId,
    link: NewSetupLink,
    author: Authorship,
  ): Promise<User | 'unknown' | 'oidc_not_linked'>;
  /** Replaces an earlier link; the present password works until this one is used. */
  addSetupLink(
    id: PublicId,
    link: NewSetupLink,
    author: Authorship,
  ): Promise<'unknown' | 'local_user_only' | 'added'>;
}

/** Whether the user has to sign in through the provider before the tokens work again. */
export function recheckRequired({ oidc }: Pick<User, 'oidc'>, graceSeconds: number, now: Micros): boolean {
  if (oidc === null) return false;
  if (oidc.isRefused) return true;
  return !oidc.hasOfflineToken && now - oidc.signedInAt > graceSeconds * SECOND;
}
