/** The database connections that the settings describe. */
import type { ConfigReader } from './config-reader.ts';
import type { SettingName } from './config-settings.ts';
import { urlOf } from './config-values.ts';
import { type DatabaseSettings, SSL_MODES, type SslMode } from './database-settings.ts';

/** Settings that were set and are not used, because another one stands for them. */
export interface SettingsConflict {
  readonly used: SettingName;
  readonly ignored: readonly SettingName[];
}

export interface DatabaseConfig {
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
export function readDatabase(reader: ConfigReader): DatabaseConfig | null {
  const ca = readCa(reader);
  const database = reader.has('SVC_DATABASE_URL')
    ? fromUrl(reader, 'SVC_DATABASE_URL', ca)
    : fromFields(reader, ca);
  const session = reader.has('SVC_DATABASE_SESSION_URL')
    ? fromUrl(reader, 'SVC_DATABASE_SESSION_URL', ca)
    : readSessionFields(reader);
  if (database === null || session === null) return null;
  return {
    database,
    sessionDatabase: { ...database, ...session },
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
  return { host, port, database, user, password, sslmode, ca };
}

/** Nothing that is not set here, so that it is taken from the main connection. */
function readSessionFields(reader: ConfigReader): Partial<DatabaseSettings> {
  const host = reader.read('SVC_DATABASE_SESSION_HOST');
  const port = reader.read('SVC_DATABASE_SESSION_PORT');
  return { ...(host === null ? {} : { host }), ...(port === null ? {} : { port }) };
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
