/** The proxy of one owner, as its requests use it (outbound-http §3). */
import { createHash } from 'node:crypto';

export const PROXY_TYPES = ['http', 'https', 'socks5'] as const;
export type ProxyType = (typeof PROXY_TYPES)[number];

export interface ProxyRoute {
  readonly type: ProxyType;
  /** A name, or an address without brackets; as a URL means it. */
  readonly host: string;
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
}

const ADDRESS = /^(\[[0-9a-f:.]+\]|[^\s[\]:/?#@\\]+):(\d{1,5})$/i;

/**
 * Reads `host:port`, with IPv6 in brackets. The host is read as a URL's is, before anything is checked: `2130706433`
 * is 127.0.0.1 and nothing else.
 * @returns null for anything else: a scheme, a path, user information, a port that is none
 */
export function parseProxyAddress(text: string): Pick<ProxyRoute, 'host' | 'port'> | null {
  const [, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (name === undefined || !(port >= 1 && port <= 65_535) || !URL.canParse(`http://${name}/`)) return null;
  const host = new URL(`http://${name}/`).hostname.replace(/\.$/, '');
  if (host === '' || host.length > 253) return null;
  return { host: host.startsWith('[') ? host.slice(1, -1) : host, port };
}

/** `Basic` credentials; null when the proxy takes none. */
export function proxyAuthorization({ username, password }: ProxyRoute): string | null {
  if (username === null) return null;
  return `Basic ${Buffer.from(`${username}:${password ?? ''}`, 'utf8').toString('base64')}`;
}

/** Tells proxies and their credentials apart without holding a password. */
export function proxyFingerprint(proxy: ProxyRoute | null): string {
  if (proxy === null) return 'direct';
  const { type, host, port, username, password } = proxy;
  return createHash('sha256')
    .update(JSON.stringify([type, host, port, username, password]))
    .digest('base64url');
}
