/** What the process is told from outside (operations §1): the `SVC_*` variables, read once, in the service's shapes. */
import { type DatabaseConfig, readDatabase, type SettingsConflict } from './config-database.ts';
import { ConfigReader, type Environment, type ReadFile } from './config-reader.ts';
import { variableNames } from './config-settings.ts';
import { type HostPort, isLoopback } from './config-values.ts';
import type { LogLevel } from './log.ts';

export { type HostPort, parseHostPort } from './config-values.ts';
export { type DatabaseSettings, SSL_MODES, type SslMode } from './database-settings.ts';

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
  readonly logLevel: LogLevel;
  readonly migrateOnStart: boolean;
  readonly bootstrapAdmin: { readonly login: string; readonly password: string } | null;
  /** CIDR notation. */
  readonly trustedProxies: readonly string[];
  /** Without a slash at the end; null for no links. */
  readonly runbookBaseUrl: string | null;
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

/** Where the documentation is when SVC_RUNBOOK_BASE_URL does not say. */
const DOCUMENTATION = 'https://tocsin.example/docs';

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
    prepareStatements:
      connections.database.host === connections.sessionDatabase.host &&
      connections.database.port === connections.sessionDatabase.port,
    secretKeys,
    publicUrl,
    ingestUrl: rest.ingestUrl ?? publicUrl,
  };
  return { config, warnings: warningsOf(env, config, conflicts) };
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
    logLevel: reader.read('SVC_LOG_LEVEL') ?? 'info',
    migrateOnStart: reader.read('SVC_MIGRATE_ON_START') ?? false,
    bootstrapAdmin: readBootstrapAdmin(reader),
    trustedProxies: reader.read('SVC_TRUSTED_PROXIES') ?? [],
    runbookBaseUrl: reader.has('SVC_RUNBOOK_BASE_URL') ? reader.read('SVC_RUNBOOK_BASE_URL') : DOCUMENTATION,
    replicaId: reader.read('SVC_REPLICA_ID') ?? replicaName(machine),
  };
}

function readBootstrapAdmin(reader: ConfigReader): Config['bootstrapAdmin'] {
  const login = reader.read('SVC_BOOTSTRAP_ADMIN_EMAIL');
  const password = reader.read('SVC_BOOTSTRAP_ADMIN_PASSWORD');
  const [hasLogin, hasPassword] = [
    reader.has('SVC_BOOTSTRAP_ADMIN_EMAIL'),
    reader.has('SVC_BOOTSTRAP_ADMIN_PASSWORD'),
  ];
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
