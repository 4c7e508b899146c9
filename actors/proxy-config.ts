/** The proxy of an owner as people configure it: its checks, and what a change makes of it (outbound-http §3). */
import {
  type PROXY_TYPES,
  type ProxyRoute,
  type ProxyType,
  parseProxyAddress,
} from '../runtime/outbound/proxy.ts';

/** What is stored besides the password; null where nothing was ever set. */
export interface ProxyFields {
  readonly enabled: boolean;
  readonly type: ProxyType | null;
  readonly address: string | null;
  readonly username: string | null;
}

/** As it arrives: what is left out keeps its value, null clears. */
export interface ProxyInput {
  readonly enabled: boolean;
  readonly type?: (typeof PROXY_TYPES)[number] | undefined;
  readonly address?: string | undefined;
  readonly username?: string | null | undefined;
  readonly password?: string | null | undefined;
}

export type PasswordChange =
  | { readonly kind: 'keep' }
  | { readonly kind: 'clear' }
  | { readonly kind: 'set'; readonly password: string };

export interface ProxyChange {
  readonly fields: ProxyFields;
  readonly password: PasswordChange;
}

export interface ProxyError {
  readonly pointer: string;
  readonly code: 'required' | 'invalid_format' | 'too_long' | 'too_short';
  readonly detail: string;
}

export const NO_PROXY: ProxyFields = { enabled: false, type: null, address: null, username: null };

const CREDENTIAL_BYTES = 255;

/** Everything that is wrong with a proxy, at most one item a field, below `/proxy`. */
export function proxyErrors(input: ProxyInput, current: ProxyFields): readonly ProxyError[] {
  return [
    typeError(input, current),
    addressError(input, current),
    usernameError(input),
    passwordError(input),
  ].filter((error) => error !== null);
}

/**
 * What is to be stored. A password never reaches another proxy: with another type or address it is forgotten, unless
 * the change brings one.
 * @param input judged by {@link proxyErrors}; null goes back to no proxy at all, undefined keeps everything
 */
export function changedProxy(input: ProxyInput | null | undefined, current: ProxyFields): ProxyChange {
  if (input === undefined) return { fields: current, password: { kind: 'keep' } };
  if (input === null) return { fields: NO_PROXY, password: { kind: 'clear' } };
  const fields: ProxyFields = {
    enabled: input.enabled,
    type: input.type ?? current.type,
    address: input.address?.trim().toLowerCase() ?? current.address,
    username: input.username === undefined ? current.username : input.username || null,
  };
  const isElsewhere = fields.type !== current.type || fields.address !== current.address;
  return { fields, password: passwordChange(input.password, isElsewhere) };
}

/**
 * The proxy that requests go through; null while it is off.
 * @param password opened by the caller
 */
export function proxyRoute(fields: ProxyFields, password: string | null): ProxyRoute | null {
  const { enabled, type, address, username } = fields;
  const place = address === null ? null : parseProxyAddress(address);
  if (!enabled || type === null || place === null) return null;
  return { type, ...place, username, password };
}

function passwordChange(password: string | null | undefined, isElsewhere: boolean): PasswordChange {
  if (password === undefined) return { kind: isElsewhere ? 'clear' : 'keep' };
  return password === null ? { kind: 'clear' } : { kind: 'set', password };
}

function typeError({ enabled, type }: ProxyInput, current: ProxyFields): ProxyError | null {
  if (!enabled || type !== undefined || current.type !== null) return null;
  return problem('type', 'required', 'Say which kind of proxy it is.');
}

function addressError({ enabled, address }: ProxyInput, current: ProxyFields): ProxyError | null {
  const wanted = 'Give the proxy as host:port, with IPv6 addresses in brackets.';
  if (address === undefined) {
    return enabled && current.address === null ? problem('address', 'required', wanted) : null;
  }
  if (address.trim() === '') return problem('address', 'required', wanted);
  return parseProxyAddress(address.trim()) ? null : problem('address', 'invalid_format', wanted);
}

function usernameError({ username }: ProxyInput): ProxyError | null {
  if (!username) return null;
  if (Buffer.byteLength(username) > CREDENTIAL_BYTES) return tooLong('username');
  if (!/[:\r\n]/.test(username)) return null;
  return problem('username', 'invalid_format', 'A user name has no colon and no line break.');
}

function passwordError({ password }: ProxyInput): ProxyError | null {
  if (password === '')
    return problem('password', 'too_short', 'Leave it out to keep it, or send null to clear it.');
  return password && Buffer.byteLength(password) > CREDENTIAL_BYTES ? tooLong('password') : null;
}

function tooLong(field: string): ProxyError {
  return problem(field, 'too_long', `At most ${CREDENTIAL_BYTES} bytes are possible.`);
}

function problem(field: string, code: ProxyError['code'], detail: string): ProxyError {
  return { pointer: `/proxy/${field}`, code, detail };
}
