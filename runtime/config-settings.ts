/** Every `SVC_*` variable (operations §1.1): the one table that reading, the documentation and the tests work from. */
import type { GenericSchema } from 'valibot';
import {
  anyText,
  booleanText,
  email,
  hosts,
  INTEGRATION_TOKEN,
  listenAddress,
  matching,
  networks,
  oneOf,
  ownPassword,
  port,
  redisAddress,
  SSL_MODES,
  webAddress,
  wholeNumber,
} from './config-values.ts';

export interface Setting {
  readonly schema: GenericSchema<string, unknown>;
  /** The value when it is not set, in the words of the documentation. */
  readonly fallback: string;
  /** What it is for. */
  readonly about: string;
  /** Never shown, and readable from a file named by the variable with `_FILE` at its end. */
  readonly secret?: true;
  readonly required?: true;
  /** An empty value means something of its own instead of "not set". */
  readonly emptyCounts?: true;
}

export const SETTINGS = {
  SVC_DATABASE_URL: {
    schema: anyText,
    fallback: 'unset',
    about:
      'The PostgreSQL database as a URL that names host, user and database. Without a port 5432, without sslmode ' +
      '`prefer`. Several servers of one database: `postgres://user:password@host1:port1,host2:port2/database`, of ' +
      'which the one that takes writes is used. The folder of a Unix socket is written as a percent-encoded host. ' +
      'When set, the single database settings below are ignored, apart from SVC_DATABASE_CA_FILE.',
    secret: true,
  },
  SVC_DATABASE_HOST: {
    schema: hosts,
    fallback: 'unset',
    about:
      'Host, or the folder of a Unix socket; several servers of one database, comma-separated. Needed, with name and ' +
      'user, unless the URL is set.',
  },
  SVC_DATABASE_PORT: { schema: port, fallback: '5432', about: 'Port of the database.' },
  SVC_DATABASE_NAME: { schema: anyText, fallback: 'unset', about: 'Name of the database.' },
  SVC_DATABASE_USER: { schema: anyText, fallback: 'unset', about: 'User of the database.' },
  SVC_DATABASE_PASSWORD: {
    schema: ownPassword,
    fallback: 'unset',
    about: 'Password of that user.',
    secret: true,
  },
  SVC_DATABASE_SSLMODE: {
    schema: oneOf(SSL_MODES),
    fallback: 'prefer',
    about: `Encryption of the connection: ${SSL_MODES.join(', ')}.`,
  },
  SVC_DATABASE_CA_FILE: {
    schema: anyText,
    fallback: 'the system’s roots',
    about: 'PEM file of the only roots that `verify-ca` and `verify-full` trust.',
  },
  SVC_DATABASE_SESSION_URL: {
    schema: anyText,
    fallback: 'the main connection',
    about:
      'A way to the same database that keeps its session, when a transaction pooler stands before the main one. ' +
      'Prepared statements are then not used on the main connection.',
    secret: true,
  },
  SVC_DATABASE_SESSION_HOST: {
    schema: hosts,
    fallback: 'the main host',
    about: 'Instead of the session URL: everything else is taken from the main connection.',
  },
  SVC_DATABASE_SESSION_PORT: { schema: port, fallback: 'the main port', about: 'Port that goes with it.' },
  SVC_DATABASE_POOL_MAX: {
    schema: wholeNumber(2, 200),
    fallback: '10, or the number of CPUs when that is more',
    about: 'Connections of the main pool of one replica.',
  },
  SVC_REDIS_URL: {
    schema: redisAddress,
    fallback: 'unset: one replica',
    about:
      'Redis, needed when more than one replica runs: `redis://user:password@host:port/database`, `rediss://` for TLS. ' +
      'Behind Sentinels `redis+sentinel://user:password@host:port,host:port/master/database` (`rediss+sentinel://`); ' +
      'they are told the same user and password, unless `?sentinel_user=…&sentinel_password=…` says otherwise. ' +
      'A cluster is not supported.',
    secret: true,
  },
  SVC_REDIS_PREFIX: {
    schema: matching(/^[a-z0-9_:-]{1,32}$/),
    fallback: 'tocsin:',
    about: 'Beginning of every Redis key and channel, so that installations can share one Redis.',
  },
  SVC_SECRET_KEYS: {
    schema: anyText,
    fallback: 'none',
    about:
      'Master keys, each 32 bytes in base64: comma-separated here, one a line in the file. They are never made for ' +
      'you; `openssl rand -base64 32` makes one.',
    secret: true,
    required: true,
  },
  SVC_PUBLIC_URL: {
    schema: webAddress,
    fallback: 'none',
    about: 'Address of the web interface, as people reach it.',
    required: true,
  },
  SVC_INGEST_URL: {
    schema: webAddress,
    fallback: 'SVC_PUBLIC_URL',
    about: 'Address that machines use: in snippets, Heartbeat URLs and messenger callbacks.',
  },
  SVC_LISTEN_APP: { schema: listenAddress, fallback: ':8080', about: 'Web interface and API.' },
  SVC_LISTEN_INGEST: { schema: listenAddress, fallback: ':8081', about: 'Senders and messengers.' },
  SVC_INGEST_FRAMING: {
    schema: oneOf(['strict', 'fast']),
    fallback: 'strict',
    about:
      'fast: a socket that serves senders alone is read by the HTTP library without the strict reading before it, at about ' +
      'half to two thirds of the processor time. Use it where senders are in a network of their own.',
  },
  SVC_HTTP_ENGINE: {
    schema: oneOf(['auto', 'node']),
    fallback: 'auto',
    about:
      'auto: uWebSockets.js where it has a build for this platform and version of Node.js, else node:http. ' +
      'node: node:http, which takes fewer requests a second and always reads strictly.',
  },
  SVC_LISTEN_INTERNAL: {
    schema: listenAddress,
    fallback: ':8082',
    about: 'Health and metrics. Listeners with one address share a port; this one should have its own.',
  },
  SVC_LOG_LEVEL: {
    schema: oneOf(['info', 'warn', 'error']),
    fallback: 'info',
    about: 'Lines below this level are left out: info, warn or error.',
  },
  SVC_MIGRATE_ON_START: {
    schema: booleanText,
    fallback: 'false',
    about: 'Bring the database schema up to date when the service starts.',
  },
  SVC_BOOTSTRAP_ADMIN_EMAIL: {
    schema: email,
    fallback: 'unset',
    about: 'Login and email of the Admin made when there is none. Needs the password.',
  },
  SVC_BOOTSTRAP_ADMIN_PASSWORD: {
    schema: ownPassword,
    fallback: 'unset',
    about: 'First password of that Admin, at least 12 characters.',
    secret: true,
  },
  SVC_BOOTSTRAP_INTEGRATION_TOKEN: {
    schema: matching(INTEGRATION_TOKEN, 'must be svc_int_ and 43 letters, digits, - or _'),
    fallback: 'unset',
    about:
      'Token of the Integration that the first start then makes, with its Heartbeat on: `svc_int_` and 43 letters, ' +
      'digits, `-` or `_`. Once there was an Integration it makes none.',
    secret: true,
  },
  SVC_TRUSTED_PROXIES: {
    schema: networks,
    fallback: 'none',
    about: 'Networks in CIDR notation, comma-separated, whose X-Forwarded-For is believed.',
  },
  SVC_RUNBOOK_BASE_URL: {
    schema: webAddress,
    fallback: 'the pages that Tocsin serves: SVC_PUBLIC_URL/runbooks',
    about:
      'Base of the runbook links in Internal alerts, when they are kept elsewhere. Set to an empty value there are no links.',
    emptyCounts: true,
  },
  SVC_REPLICA_ID: {
    schema: matching(/^[A-Za-z0-9._-]{1,64}$/),
    fallback: 'host name and a random suffix',
    about: 'Name of this replica in logs. No two running ones may share it.',
  },
  SVC_API_URL: {
    schema: webAddress,
    fallback: 'unset',
    about: 'Read by `tocsin groups`, `tocsin init` and `tocsin messenger-check` only: where the API is.',
  },
  SVC_API_TOKEN: {
    schema: anyText,
    fallback: 'unset',
    about: 'Read by `tocsin groups`, `tocsin init` and `tocsin messenger-check` only: the token they use.',
    secret: true,
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

/** A setting of the table, with its optional properties. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name];
}

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Every name a variable may have: the settings and the `_FILE` forms of secrets. */
export function variableNames(): string[] {
  return SETTING_NAMES.flatMap((name) => (settingOf(name).secret ? [name, `${name}_FILE`] : [name]));
}
