/** When a web session lives and how it ends (access §3). */
import { createHash } from 'node:crypto';
import { DAY, HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { User } from './user.ts';

/** `auth.session_idle_timeout`. */
export const SESSION_IDLE_TIMEOUT: Micros = 12 * HOUR;
/** `auth.session_lifetime`. */
export const SESSION_LIFETIME: Micros = 7 * DAY;
/** `auth.oidc_fallback_session_lifetime`: for whom the provider cannot be asked about. */
export const OIDC_FALLBACK_LIFETIME: Micros = 12 * HOUR;
/** Use is written down at most this often. */
export const TOUCH_INTERVAL: Micros = MINUTE;
/** An ended session is kept this long, so that a late request learns why. */
export const ENDED_SESSION_KEPT: Micros = 7 * DAY;

export const SESSION_STATES = ['active', 'totp_required', 'totp_enrolment_required'] as const;
export type SessionState = (typeof SESSION_STATES)[number];
export type SignInMethod = 'local' | 'oidc';

export type EndReason =
  | 'sign_out'
  | 'sign_out_everywhere'
  | 'password_changed'
  | 'role_changed'
  | 'user_disabled'
  | 'user_deleted'
  | 'totp_reset'
  | 'oidc_linked'
  | 'converted_to_local'
  | 'idp_refused'
  | 'expired';

export interface Session {
  readonly id: PublicId;
  readonly userId: PublicId;
  readonly state: SessionState;
  readonly method: SignInMethod;
  readonly createdAt: Micros;
  readonly lastUsedAt: Micros;
  readonly expiresAt: Micros;
  readonly endedAt: Micros | null;
  readonly endReason: EndReason | null;
}

export interface SessionWithUser {
  readonly session: Session;
  readonly user: User;
}

export type SessionStanding = 'live' | 'expired' | 'refused_by_provider' | 'ended';

/** What a session is worth at `now`: anything but `live` is answered 401, each with its own code (access §3 rule 3). */
export function sessionStanding(found: SessionWithUser, now: Micros): SessionStanding {
  const { session, user } = found;
  if (session.endReason === 'idp_refused') return 'refused_by_provider';
  if (session.endReason === 'expired') return 'expired';
  if (session.endedAt !== null || user.status !== 'active') return 'ended';
  return now >= session.expiresAt || now >= idleExpiresAt(session) ? 'expired' : 'live';
}

export function idleExpiresAt(session: Pick<Session, 'lastUsedAt'>): Micros {
  return session.lastUsedAt + SESSION_IDLE_TIMEOUT;
}

/** How long a session lives at most that a provider opened. */
export function providerSessionLifetime(hasOfflineToken: boolean): Micros {
  return hasOfflineToken ? SESSION_LIFETIME : OIDC_FALLBACK_LIFETIME;
}

/** Whether this use is worth a write. */
export function needsTouch(session: Pick<Session, 'lastUsedAt'>, now: Micros): boolean {
  return now - session.lastUsedAt >= TOUCH_INTERVAL;
}

/** What is stored of a cookie's value. */
export function sessionHash(value: Uint8Array): Buffer {
  return createHash('sha256').update(value).digest();
}
