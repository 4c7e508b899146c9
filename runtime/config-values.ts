/** What the texts of settings may say: one valibot schema a kind of value, with the rule as its message. */
import ipaddr from 'ipaddr.js';
import * as v from 'valibot';
import { parseRedisUrl, REDIS_URL_RULE } from './redis/address.ts';

/** Where a listener listens. */
export interface HostPort {
  /** Empty for every address of the machine. */
  readonly host: string;
  readonly port: number;
}

const LISTEN = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/;

/** `host:port`, `[IPv6]:port` or `:port`. Null when the text is none of them. */
export function parseHostPort(text: string): HostPort | null {
  const match = LISTEN.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) return null;
  return { host: match[1] ?? match[2] ?? '', port };
}

const parsed = <T>(parse: (text: string) => T | null, rule: string) =>
  v.pipe(
    v.string(),
    v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
      const value = parse(dataset.value);
      if (value !== null) return value;
      addIssue({ message: rule });
      return NEVER;
    }),
  );

export const anyText = v.string();
/** Hosts, comma-separated; the first is tried first. */
export const hosts = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((host) => host.trim())),
  v.check((list) => !list.includes(''), 'names an empty host'),
);

/** A password of one's own, not the one that example files hold (operations §1.3). */
export const ownPassword = v.pipe(
  v.string(),
  v.notValue('REPLACE_ME', 'is still the placeholder of the example file; replace it'),
);

export const listenAddress = parsed(parseHostPort, 'must be host:port or :port');

export const port = wholeNumber(1, 65_535);

/** A whole number between two bounds, both included. */
export function wholeNumber(least: number, most: number) {
  return parsed((text) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= least && value <= most ? value : null;
  }, `must be a whole number from ${least} to ${most}`);
}

export function oneOf<const Words extends readonly string[]>(words: Words) {
  const isWord = (text: string): text is Words[number] => words.includes(text);
  return parsed<Words[number]>((text) => (isWord(text) ? text : null), `must be one of ${words.join(', ')}`);
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

export const booleanText = parsed((text) => BOOLEANS[text] ?? null, 'must be true, false, 1 or 0');

export function matching(pattern: RegExp, rule = `must match ${pattern.source}`) {
  return parsed((text) => (pattern.test(text) ? text : null), rule);
}

/** `svc_int_` and 32 bytes in unpadded base64url (ingestion §2.3). */
export const INTEGRATION_TOKEN = /^svc_int_[A-Za-z0-9_-]{43}$/;

export const email = parsed(
  (text) => (/^[^\s@]+@[^\s@]+$/.test(text) ? text : null),
  'must be an email address',
);

/** An http(s) address without query, fragment and credentials; slashes at its end are removed. */
export const webAddress = parsed((text) => {
  const url = urlOf(text);
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === '';
  if (!url || !isPlain || text.endsWith('?') || text.endsWith('#')) return null;
  return ['http:', 'https:'].includes(url.protocol) ? url.href.replace(/\/+$/, '') : null;
}, 'must be an absolute http or https URL without query and fragment');

export const redisAddress = parsed((text) => (parseRedisUrl(text) === null ? null : text), REDIS_URL_RULE);

/** Networks in CIDR notation, separated by commas. */
export const networks = parsed<readonly string[]>((text) => {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => ipaddr.isValidCIDR(part)) ? parts : null;
}, 'must be a comma-separated list of networks such as 10.0.0.0/8');

/** Whether a web address leads to this machine only. */
export function isLoopback(address: string): boolean {
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}

/** Whether the app is for people on this machine alone, by its address, and yet listens to other machines. */
export function isOpenWithoutHttps(publicUrl: string, { host, port }: HostPort): boolean {
  if (!publicUrl.startsWith('http:') || !isLoopback(publicUrl)) return false;
  return (
    host === '' ||
    !isLoopback(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`)
  );
}

export function urlOf(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** How to reach one PostgreSQL database. */
export interface DatabaseSettings {
  /** Host name, IP address, or the absolute folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string | null;
  readonly sslmode: SslMode;
  /** PEM of the only roots that `verify-ca` and `verify-full` trust; null for the system's. */
  readonly ca: string | null;
  /** Further servers of the same database: the one of all that takes writes is used, wherever it is now. */
  readonly others?: readonly HostPort[];
}

/** The servers of a database, for people. */
export function namedServers({
  host,
  port,
  others = [],
}: Pick<DatabaseSettings, 'host' | 'port' | 'others'>) {
  return [{ host, port }, ...others].map((server) => `${server.host}:${server.port}`).join(', ');
}
