/** Where Redis is, as SVC_REDIS_URL says it (operations §1.1). Pure. */

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Who logs in; null for what the URL leaves out. */
export interface RedisCredentials {
  readonly username: string | null;
  readonly password: string | null;
}

export interface RedisAddress {
  /** The one server, or the Sentinels that know it. */
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly tls: boolean;
  readonly credentials: RedisCredentials;
  readonly database: number;
  /** Null when the server is named directly. */
  readonly sentinel: {
    /** What the Sentinels call the group of servers. */
    readonly master: string;
    readonly credentials: RedisCredentials;
  } | null;
}

/** The forms that {@link parseRedisUrl} accepts, in the words of an error. */
export const REDIS_URL_RULE =
  'must be redis://host[:port][/database] or redis+sentinel://host[:port][,host[:port]…]/master[/database], ' +
  'with rediss for TLS and user:password@ before the host as needed';

const URL_PARTS =
  /^redis(?<tls>s?)(?<sentinel>\+sentinel)?:\/\/(?:(?<user>[^@/?#:]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;
const HOST = /^(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Null when the text is none of the forms of {@link REDIS_URL_RULE}. User, password and master are percent-decoded. */
export function parseRedisUrl(text: string): RedisAddress | null {
  const parts = URL_PARTS.exec(text)?.groups;
  if (!parts) return null;
  const isSentinel = parts.sentinel !== undefined;
  const hosts = parseHosts(parts.hosts ?? '', isSentinel ? SENTINEL_PORT : REDIS_PORT);
  const path = parsePath(parts.path ?? '', isSentinel);
  const credentials = parseCredentials(parts.user, parts.password);
  if (hosts === null || path === null || credentials === null) return null;
  if (!isSentinel && (hosts.length > 1 || parts.query !== undefined)) return null;
  const guards = parseSentinelCredentials(parts.query, credentials);
  if (guards === null) return null;
  return {
    hosts,
    tls: parts.tls === 's',
    credentials,
    database: path.database,
    sentinel: path.master === null ? null : { master: path.master, credentials: guards },
  };
}

/** For people: host and port, or the group and its Sentinels. Never user and password. */
export function describeAddress({ hosts, sentinel }: RedisAddress): string {
  const list = hosts.map(describeHost).join(', ');
  return sentinel === null ? list : `${sentinel.master} (Sentinels ${list})`;
}

/** `host:port`, with brackets around an IPv6 address. */
export function describeHost({ host, port }: RedisHost): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function parseHosts(text: string, standardPort: number): RedisAddress['hosts'] | null {
  const [first, ...others] = text.split(',').map((part) => parseHost(part, standardPort));
  return first && others.every((host) => host !== null) ? [first, ...others] : null;
}

function parseHost(text: string, standardPort: number): RedisHost | null {
  const parts = HOST.exec(text)?.groups;
  const host = parts?.v6 ?? parts?.name;
  if (host === undefined) return null;
  const port = parts?.port === undefined ? standardPort : Number(parts.port);
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

/** `/database` of a server, `/master/database` of Sentinels. */
function parsePath(path: string, isSentinel: boolean): { master: string | null; database: number } | null {
  const [first = '', second = '', ...more] = path.slice(1).split('/');
  const [master, database] = isSentinel ? [decoded(first), second] : [null, first];
  if (more.length > 0 || (!isSentinel && second !== '') || master === '') return null;
  if (isSentinel && master === null) return null;
  return /^\d{0,5}$/.test(database) ? { master, database: Number(database) } : null;
}

function parseCredentials(user: string | undefined, password: string | undefined): RedisCredentials | null {
  const [username, secret] = [decoded(user ?? ''), decoded(password ?? '')];
  if (username === null || secret === null) return null;
  return { username: username === '' ? null : username, password: secret === '' ? null : secret };
}

/** `?sentinel_user=…&sentinel_password=…`; with neither, Sentinels are told what the servers are told. */
function parseSentinelCredentials(
  query: string | undefined,
  otherwise: RedisCredentials,
): RedisCredentials | null {
  if (query === undefined) return otherwise;
  const given = new URLSearchParams(query);
  for (const name of given.keys()) if (!['sentinel_user', 'sentinel_password'].includes(name)) return null;
  return { username: given.get('sentinel_user') || null, password: given.get('sentinel_password') || null };
}

/** Null for a broken escape. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
