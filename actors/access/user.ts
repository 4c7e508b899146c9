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
}

/** The form in which logins are compared: unique whatever the case (access §4.1). */
export function foldLogin(login: string): string {
  return login.toLowerCase();
}

/**
 * The API's User. Every account is local in this build: none signs in through a provider, none has a second factor.
 */
export function userShape(user: User) {
  return {
    id: user.id,
    name: user.name,
    login: user.login,
    email: user.email,
    role: user.role,
    role_locked: false,
    source: user.source,
    oidc_offline_access: false,
    sign_in_method: 'local' as const,
    status: user.status,
    totp_enabled: false,
    time_zone: user.timeZone,
    language: user.language,
    last_sign_in_at: formatInstantOrNull(user.lastSignInAt),
    created_at: formatInstant(user.createdAt),
    etag: `"${user.version}"`,
  };
}
