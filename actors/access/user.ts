/** A User as stored, and as the API shows it (seed 2 §2.2). */
import { formatInstant, formatInstantOrNull, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

export type RoleName = 'admin' | 'responder' | 'viewer';
export type UserStatus = 'active' | 'disabled' | 'deleted';
export type UserSource = 'local' | 'oidc' | 'bootstrap';

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

/** How somebody stands with the identity provider through which they sign in. */
export interface ProviderStanding {
  /** When the user last signed in through it. */
  readonly signedInAt: Micros;
  /** It refused the user, who has not signed in through it since (access §6.6). */
  readonly isRefused: boolean;
  /** Whether it can be asked about the user without them. */
  readonly hasOfflineToken: boolean;
}

/** The form in which logins are compared: unique whatever the case (access §4.1). */
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
