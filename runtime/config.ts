/** What the process is told from outside (operations §1): the `SVC_*` variables, read once, in the service's shapes. */
import { ConfigReader, type Environment, type ReadFile } from './config-reader.ts';
import { type SettingName, variableNames } from './config-settings.ts';
import {
  type DatabaseSettings,
  type HostPort,
  isLoopback,
  namedServers,
  SSL_MODES,
  type SslMode,
  urlOf,
} from './config-values.ts';
import type { LogLevel } from './log.ts';

export {
  type DatabaseSettings,
  type HostPort,
  namedServers,
  parseHostPort,
  SSL_MODES,
  type SslMode,
} from './config-values.ts';

export interface Config extends Omit<DatabaseConfig, 'conflicts'> {
  /** False when the session connection is another one: a transaction pooler then stands before the main one. */
  readonly prepareStatements: boolean;
  readonly poolMax: number;
  /** Null: one replica. */
  readonly redisUrl: string | null;
  readonly redisPrefix: string;
  readonly secretKeys: SecretKeysText;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  /** Without a slash at the end. */
  readonly ingestUrl: string;
  readonly listen: Readonly<Record<'app' | 'ingest' | 'internal', HostPort>>;
  readonly ingestFraming: 'strict' | 'fast';
  readonly httpEngine: 'auto' | 'node';
  readonly logLevel: LogLevel;
  readonly migrateOnStart: boolean;
  readonly bootstrapAdmin: { readonly login: string; readonly password: string } | null;
  readonly bootstrapIntegrationToken: string | null;
  /** CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** Without a slash at the end. Null: no links; undefined: to the pages that Tocsin serves itself. */
  readonly runbookBaseUrl: string | null | undefined;
  readonly replicaId: string;
}

/** Worth a log line, not worth stopping for. Names are those of the log events. */
export type ConfigWarning =
  | { readonly event: 'unknown_variable'; readonly name: string }
  | ({ readonly event: 'database_settings_conflict' } & SettingsConflict)
  | { readonly event: 'public_url_not_https' }
  | { readonly event: 'internal_listener_shared'; readonly address: string };

export type ConfigResult =
  | { readonly config: Config; readonly warnings: readonly ConfigWarning[] }
  /** One line each: the variable and the reason, never the value of a secret. The keys are still to be checked. */
  | { readonly errors: readonly string[]; readonly secretKeys: SecretKeysText | null };

/** The list as written, with the variable it came from: `SVC_SECRET_KEYS_FILE` has a key a line. */
export interface SecretKeysText {
  readonly variable: string;
  readonly text: string;
}

/** What the defaults depend on. */
export interface Machine {
  readonly cpus: number;
  readonly hostName: string;
  /** Letters or digits that no other start on this host has. */
  readonly random: string;
}

/** Reads the configuration. Pure but for `readFile`; everything that is wrong is told at once. */
export function readConfig(env: Environment, readFile: ReadFile, machine: Machine): ConfigResult {
  const reader = new ConfigReader(env, readFile);
  const databases = readDatabase(reader);
  const secretKeys = readSecretKeys(reader);
  const publicUrl = reader.require('SVC_PUBLIC_URL');
  const rest = readRest(reader, machine);
  if (reader.errors.length > 0 || databases === null || secretKeys === null || publicUrl === null)
    return { errors: reader.errors, secretKeys };
  const { conflicts, ...connections } = databases;
  const config: Config = {
    ...connections,
    ...rest,
    prepareStatements: namedServers(connections.database) === namedServers(connections.sessionDatabase),
    secretKeys,
    publicUrl,
    ingestUrl: rest.ingestUrl ?? publicUrl,
  };
  return { config, warnings: warningsOf(env, config, conflicts) };
}

/** Whether variables say which database to use. How many connections are used says nothing about it. */
export function namesDatabase(env: Environment): boolean {
  return Object.keys(env).some(
    (name) => name.startsWith('SVC_DATABASE_') && name !== 'SVC_DATABASE_POOL_MAX' && env[name],
  );
}

/** The database that keeps sessions, alone: for commands that need nothing else. Null: the variables name none. */
export function readSessionDatabase(
  env: Environment,
  readFile: ReadFile,
): DatabaseSettings | { readonly errors: readonly string[] } | null {
  if (!namesDatabase(env)) return null;
  const reader = new ConfigReader(env, readFile);
  const databases = readDatabase(reader);
  return databases === null || reader.errors.length > 0
    ? { errors: reader.errors }
    : databases.sessionDatabase;
}

function readSecretKeys(reader: ConfigReader): SecretKeysText | null {
  const text = reader.require('SVC_SECRET_KEYS');
  return text === null ? null : { variable: reader.source('SVC_SECRET_KEYS'), text };
}

function readRest(reader: ConfigReader, machine: Machine) {
  return {
    poolMax: reader.read('SVC_DATABASE_POOL_MAX') ?? Math.max(10, machine.cpus),
    redisUrl: reader.read('SVC_REDIS_URL'),
    redisPrefix: reader.read('SVC_REDIS_PREFIX') ?? 'tocsin:',
    ingestUrl: reader.read('SVC_INGEST_URL'),
    listen: {
      app: reader.read('SVC_LISTEN_APP') ?? { host: '', port: 8080 },
      ingest: reader.read('SVC_LISTEN_INGEST') ?? { host: '', port: 8081 },
      internal: reader.read('SVC_LISTEN_INTERNAL') ?? { host: '', port: 8082 },
    },
    ingestFraming: reader.read('SVC_INGEST_FRAMING') ?? 'strict',
    httpEngine: reader.read('SVC_HTTP_ENGINE') ?? 'auto',
    logLevel: reader.read('SVC_LOG_LEVEL') ?? 'info',
    migrateOnStart: reader.read('SVC_MIGRATE_ON_START') ?? false,
    bootstrapAdmin: readBootstrapAdmin(reader),
    bootstrapIntegrationToken: reader.read('SVC_BOOTSTRAP_INTEGRATION_TOKEN'),
    trustedProxies: reader.read('SVC_TRUSTED_PROXIES') ?? [],
    runbookBaseUrl: reader.has('SVC_RUNBOOK_BASE_URL') ? reader.read('SVC_RUNBOOK_BASE_URL') : undefined,
    replicaId: reader.read('SVC_REPLICA_ID') ?? replicaName(machine),
  };
}

function readBootstrapAdmin(reader: ConfigReader): Config['bootstrapAdmin'] {
  const login = reader.read('SVC_BOOTSTRAP_ADMIN_EMAIL');
  const password = reader.read('SVC_BOOTSTRAP_ADMIN_PASSWORD');
  const hasLogin = reader.has('SVC_BOOTSTRAP_ADMIN_EMAIL');
  const hasPassword = reader.has('SVC_BOOTSTRAP_ADMIN_PASSWORD');
  if (hasLogin && !hasPassword)
    reader.refuse('SVC_BOOTSTRAP_ADMIN_EMAIL', 'needs SVC_BOOTSTRAP_ADMIN_PASSWORD (or its _FILE) beside it');
  if (hasPassword && !hasLogin)
    reader.refuse('SVC_BOOTSTRAP_ADMIN_PASSWORD', 'needs SVC_BOOTSTRAP_ADMIN_EMAIL beside it');
  return login === null || password === null ? null : { login, password };
}

/**
 * The name of this replica, for what is logged before the configuration was read: as {@link readConfig} will find it,
 * and the made-up one while SVC_REPLICA_ID breaks its rule.
 */
export function replicaIdOf(env: Environment, machine: Machine): string {
  const reader = new ConfigReader(env, () => '');
  return reader.read('SVC_REPLICA_ID') ?? replicaName(machine);
}

function replicaName({ hostName, random }: Machine): string {
  const name = hostName.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 63 - random.length);
  return `${name}-${random}`;
}

function warningsOf(
  env: Environment,
  config: Config,
  conflicts: readonly SettingsConflict[],
): ConfigWarning[] {
  const known = new Set(variableNames());
  const unknown = Object.keys(env).filter((name) => name.startsWith('SVC_') && !known.has(name));
  const warnings: ConfigWarning[] = [
    ...unknown.sort().map((name) => ({ event: 'unknown_variable' as const, name })),
    ...conflicts.map((conflict) => ({ event: 'database_settings_conflict' as const, ...conflict })),
  ];
  if (config.publicUrl.startsWith('http:') && !isLoopback(config.publicUrl))
    warnings.push({ event: 'public_url_not_https' });
  const { app, ingest, internal } = config.listen;
  if ([app, ingest].some(({ host, port }) => port !== 0 && host === internal.host && port === internal.port))
    warnings.push({ event: 'internal_listener_shared', address: `${internal.host}:${internal.port}` });
  return warnings;
}

/** Settings that were set and are not used, because another one stands for them. */
interface SettingsConflict {
  readonly used: SettingName;
  readonly ignored: readonly SettingName[];
}

interface DatabaseConfig {
  readonly database: DatabaseSettings;
  readonly sessionDatabase: DatabaseSettings;
  readonly conflicts: readonly SettingsConflict[];
}

const DEFAULT_PORT = 5432;

const FIELDS = [
  'SVC_DATABASE_HOST',
  'SVC_DATABASE_PORT',
  'SVC_DATABASE_NAME',
  'SVC_DATABASE_USER',
  'SVC_DATABASE_PASSWORD',
  'SVC_DATABASE_SSLMODE',
] as const;
const SESSION_FIELDS = ['SVC_DATABASE_SESSION_HOST', 'SVC_DATABASE_SESSION_PORT'] as const;

/** Null when something was refused. */
function readDatabase(reader: ConfigReader): DatabaseConfig | null {
  const ca = readCa(reader);
  const database = reader.has('SVC_DATABASE_URL')
    ? fromUrl(reader, 'SVC_DATABASE_URL', ca)
    : fromFields(reader, ca);
  const session = reader.has('SVC_DATABASE_SESSION_URL')
    ? fromUrl(reader, 'SVC_DATABASE_SESSION_URL', ca)
    : readSessionFields(reader, database);
  if (database === null || session === null) return null;
  const { others: _, ...main } = database;
  return {
    database,
    sessionDatabase: { ...main, ...session },
    conflicts: [
      ...conflict(reader, 'SVC_DATABASE_URL', FIELDS),
      ...conflict(reader, 'SVC_DATABASE_SESSION_URL', SESSION_FIELDS),
    ],
  };
}

function conflict(
  reader: ConfigReader,
  used: SettingName,
  fields: readonly SettingName[],
): SettingsConflict[] {
  const ignored = fields.filter((name) => reader.has(name));
  return reader.has(used) && ignored.length > 0 ? [{ used, ignored }] : [];
}

function readCa(reader: ConfigReader): string | null {
  const path = reader.read('SVC_DATABASE_CA_FILE');
  if (path === null) return null;
  const pem = reader.readFile('SVC_DATABASE_CA_FILE', path);
  if (pem === null) return null;
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    reader.refuse('SVC_DATABASE_CA_FILE', 'names a file without a PEM certificate');
  return pem;
}

function fromFields(reader: ConfigReader, ca: string | null): DatabaseSettings | null {
  const missing = (['SVC_DATABASE_HOST', 'SVC_DATABASE_NAME', 'SVC_DATABASE_USER'] as const).filter(
    (name) => !reader.has(name),
  );
  if (missing.length === 3 && !FIELDS.some((name) => reader.has(name)))
    reader.refuse('SVC_DATABASE_URL', `is required (or ${missing.join(', ')})`);
  else for (const name of missing) reader.refuse(name, 'is required unless SVC_DATABASE_URL is set');
  const host = reader.read('SVC_DATABASE_HOST');
  const database = reader.read('SVC_DATABASE_NAME');
  const user = reader.read('SVC_DATABASE_USER');
  const port = reader.read('SVC_DATABASE_PORT') ?? DEFAULT_PORT;
  const password = reader.read('SVC_DATABASE_PASSWORD');
  const sslmode = reader.read('SVC_DATABASE_SSLMODE') ?? 'prefer';
  if (host === null || database === null || user === null) return null;
  return { ...serversOf(host, port), database, user, password, sslmode, ca };
}

/** Several hosts share one port. */
function serversOf(
  [host = '', ...others]: readonly string[],
  port: number,
): Pick<DatabaseSettings, 'host' | 'port' | 'others'> {
  return {
    host,
    port,
    ...(others.length === 0 ? {} : { others: others.map((other) => ({ host: other, port })) }),
  };
}

/** Where other servers are named than those of the main connection, or a port; everything else is taken from it. */
function readSessionFields(reader: ConfigReader, main: DatabaseSettings | null): Partial<DatabaseSettings> {
  const hosts = reader.read('SVC_DATABASE_SESSION_HOST');
  const port = reader.read('SVC_DATABASE_SESSION_PORT');
  if (main === null) return {};
  if (hosts !== null) return serversOf(hosts, port ?? main.port);
  const others = port === null ? main.others : main.others?.map(({ host }) => ({ host, port }));
  return { ...(port === null ? {} : { port }), ...(others ? { others } : {}) };
}

type UrlSetting = 'SVC_DATABASE_URL' | 'SVC_DATABASE_SESSION_URL';

function fromUrl(reader: ConfigReader, name: UrlSetting, ca: string | null): DatabaseSettings | null {
  const text = reader.read(name);
  if (text === null) return null;
  const result = parseDatabaseUrl(text);
  if (typeof result !== 'string') return { ...result, ca };
  reader.refuse(reader.source(name), result);
  return null;
}

/** What is wrong, as a reason, when it is no database URL. */
function parseDatabaseUrl(text: string): Omit<DatabaseSettings, 'ca'> | string {
  const match = HOSTS_OF_URL.exec(text);
  if (match === null) return parseSingleUrl(text);
  const [, start = '', hosts = '', rest = ''] = match;
  const others: HostPort[] = [];
  let first: Omit<DatabaseSettings, 'ca'> | null = null;
  for (const one of hosts.split(',')) {
    const parsed = parseSingleUrl(`${start}${one}${rest}`);
    if (typeof parsed === 'string') return parsed;
    if (first === null) first = parsed;
    else others.push({ host: parsed.host, port: parsed.port });
  }
  if (first === null) return 'must name host';
  return others.length === 0 ? first : { ...first, others };
}

const HOSTS_OF_URL = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^@/?#]+)(.*)$/;
/** What everybody may write who names several servers; it is what is done anyway. */
const TAKES_WRITES = ['read-write', 'primary'];

function parseSingleUrl(text: string): Omit<DatabaseSettings, 'ca'> | string {
  const url = urlOf(text);
  if (!url || !['postgres:', 'postgresql:'].includes(url.protocol)) return 'must be a postgres:// URL';
  const parts = decoded([
    url.hostname.replace(/^\[|\]$/g, ''),
    url.username,
    url.password,
    url.pathname.slice(1),
  ]);
  if (parts === null) return 'holds a % that does not begin an escape';
  const [host = '', user = '', password = '', database = ''] = parts;
  const absent = Object.entries({ host, user, database }).filter(([, value]) => value === '');
  if (absent.length > 0) return `must name ${absent.map(([part]) => part).join(', ')}`;
  const target = url.searchParams.get('target_session_attrs');
  if (target !== null && !TAKES_WRITES.includes(target))
    return `must have a target_session_attrs that is one of ${TAKES_WRITES.join(', ')}`;
  url.searchParams.delete('target_session_attrs');
  const unknown = [...url.searchParams.keys()].filter((key) => key !== 'sslmode');
  if (unknown.length > 0) return `has parameters other than sslmode: ${unknown.join(', ')}`;
  const sslmode = url.searchParams.get('sslmode') ?? 'prefer';
  if (!isSslMode(sslmode)) return `must have an sslmode that is one of ${SSL_MODES.join(', ')}`;
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  if (port === 0) return 'must have a port from 1 to 65535';
  return { host, port, database, user, password: password === '' ? null : password, sslmode };
}

function decoded(parts: readonly string[]): string[] | null {
  try {
    return parts.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function isSslMode(text: string): text is SslMode {
  return (SSL_MODES as readonly string[]).includes(text);
}
