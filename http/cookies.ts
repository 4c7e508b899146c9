/** The session cookie (access §3): HttpOnly, Secure, SameSite=Lax, gone with the browser. */

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

/** The session cookie's value in a Cookie header; null when there is none. The first of several counts. */
export function readSessionCookie(header: string | null): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== SESSION_COOKIE) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}

/** The 32 bytes behind a cookie's value; null when it is not one that this service makes. */
export function sessionBytes(value: string): Buffer | null {
  return VALUE.test(value) ? Buffer.from(value, 'base64url') : null;
}
