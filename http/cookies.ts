/**
 * The session cookie (access §3): HttpOnly, Secure, SameSite=Lax, gone with the browser. And the one that binds a sign-in
 * through the identity provider to the browser in which it began (access §6.3).
 */

export const SESSION_COOKIE = 'svc_session';

const ATTRIBUTES = 'HttpOnly; Secure; SameSite=Lax; Path=/';
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(value: string): string {
  return `${SESSION_COOKIE}=${value}; ${ATTRIBUTES}`;
}

/** Makes the browser forget the cookie. */
export function clearedSessionCookie(): string {
  return `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
}

/** The session cookie's value in a Cookie header; null when there is none. */
export function readSessionCookie(header: string | null): string | null {
  return readCookie(header, SESSION_COOKIE);
}

const STATE_COOKIE = 'svc_oidc_state';
const STATE_ATTRIBUTES = 'HttpOnly; Secure; SameSite=Lax; Path=/api/v1/';
const STATE_SECONDS = 600;

export function stateCookie(state: string): string {
  return `${STATE_COOKIE}=${state}; ${STATE_ATTRIBUTES}; Max-Age=${STATE_SECONDS}`;
}

export function clearedStateCookie(): string {
  return `${STATE_COOKIE}=; ${STATE_ATTRIBUTES}; Max-Age=0`;
}

export function readStateCookie(header: string | null): string | null {
  return readCookie(header, STATE_COOKIE);
}

/** The first of several counts. */
function readCookie(header: string | null, name: string): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}

/** The 32 bytes behind a cookie's value; null when it is not one that this service makes. */
export function sessionBytes(value: string): Buffer | null {
  return VALUE.test(value) ? Buffer.from(value, 'base64url') : null;
}
