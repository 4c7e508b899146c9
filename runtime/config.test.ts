import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Config, type ConfigWarning, namesDatabase, readConfig, replicaIdOf } from './config.ts';
import { SETTING_NAMES, type Setting, settingOf } from './config-settings.ts';
import { readDocuments } from './documents.ts';
import { REDIS_URL_RULE } from './redis/address.ts';

const KEY = 'bm90IGEga2V5IGJ1dCAzMiBieXRlcyBsb25nIHRleHQ=';
const PLENTY = {
  SVC_DATABASE_URL: 'postgres://ann:s%40fe@db.example:6432/oncall?sslmode=verify-full',
  SVC_SECRET_KEYS: KEY,
  SVC_PUBLIC_URL: 'https://oncall.example.org',
};
const FIELDS = {
  ...PLENTY,
  SVC_DATABASE_URL: '',
  SVC_DATABASE_HOST: 'db.example',
  SVC_DATABASE_NAME: 'oncall',
  SVC_DATABASE_USER: 'ann',
};
const FILES: Readonly<Record<string, string>> = {
  '/keys': `# ours\n${KEY}\n\n`,
  '/password': 'secret \n',
  '/url': 'postgres://bob@other/x\r\n',
  '/ca.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  '/empty': '\n',
  '/placeholder': 'REPLACE_ME\n',
};
const MACHINE = { cpus: 4, hostName: 'node 1.example', random: 'k3x9' };

function readFile(path: string): string {
  const text = FILES[path];
  if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
  return text;
}

type Env = Readonly<Record<string, string>>;

function accepted(env: Env): { config: Config; warnings: readonly ConfigWarning[] } {
  const result = readConfig(env, readFile, MACHINE);
  if ('errors' in result) throw new Error(result.errors.join('\n'));
  return result;
}

function refusals(env: Env): readonly string[] {
  const result = readConfig(env, readFile, MACHINE);
  return 'errors' in result ? result.errors : [];
}

test('what is not set has its default', () => {
  expect(accepted(PLENTY)).toEqual({
    config: {
      database: {
        host: 'db.example',
        port: 6432,
        database: 'oncall',
        user: 'ann',
        password: 's@fe',
        sslmode: 'verify-full',
        ca: null,
      },
      sessionDatabase: expect.objectContaining({ host: 'db.example', port: 6432, password: 's@fe' }),
      prepareStatements: true,
      poolMax: 10,
      redisUrl: null,
      redisPrefix: 'tocsin:',
      secretKeys: { variable: 'SVC_SECRET_KEYS', text: KEY },
      publicUrl: 'https://oncall.example.org',
      ingestUrl: 'https://oncall.example.org',
      listen: {
        app: { host: '', port: 8080 },
        ingest: { host: '', port: 8081 },
        internal: { host: '', port: 8082 },
      },
      ingestFraming: 'strict',
      httpEngine: 'auto',
      logLevel: 'info',
      migrateOnStart: false,
      bootstrapAdmin: null,
      bootstrapIntegrationToken: null,
      trustedProxies: [],
      runbookBaseUrl: undefined,
      replicaId: 'node-1.example-k3x9',
    },
    warnings: [],
  });
});

test('a made-up replica name is no longer than one that is given may be, and keeps its suffix', () => {
  const machine = { ...MACHINE, hostName: 'n'.repeat(253) };
  const result = readConfig(PLENTY, readFile, machine);
  expect(result).toHaveProperty('config.replicaId', `${'n'.repeat(59)}-k3x9`);
});

test.each<[string, Env, string]>([
  ['is the configured one', { SVC_REPLICA_ID: 'tocsin-0' }, 'tocsin-0'],
  ['is made up when it is not set', {}, 'node-1.example-k3x9'],
  ['is made up when it is empty', { SVC_REPLICA_ID: '' }, 'node-1.example-k3x9'],
  ['is made up while the configured one is refused', { SVC_REPLICA_ID: 'a b' }, 'node-1.example-k3x9'],
])('the replica name in the log %s', (_, env, name) => {
  expect(replicaIdOf(env, MACHINE)).toBe(name);
});

test.each<[string, Env, Partial<Config>]>([
  [
    'slashes at the end of addresses go',
    { SVC_PUBLIC_URL: 'https://a.example/x//' },
    { publicUrl: 'https://a.example/x' },
  ],
  [
    'machines may have an address of their own',
    { SVC_INGEST_URL: 'http://in.example:81/' },
    { ingestUrl: 'http://in.example:81' },
  ],
  [
    'keys come from a file with their newlines but the last',
    { SVC_SECRET_KEYS: '', SVC_SECRET_KEYS_FILE: '/keys' },
    { secretKeys: { variable: 'SVC_SECRET_KEYS_FILE', text: `# ours\n${KEY}\n` } },
  ],
  ['more CPUs make a larger pool', { SVC_DATABASE_POOL_MAX: '200' }, { poolMax: 200 }],
  ['booleans are words or digits', { SVC_MIGRATE_ON_START: '1' }, { migrateOnStart: true }],
  ['an empty runbook base means no links', { SVC_RUNBOOK_BASE_URL: '' }, { runbookBaseUrl: null }],
  [
    'networks are a list',
    { SVC_TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8' },
    { trustedProxies: ['10.0.0.0/8', 'fd00::/8'] },
  ],
  [
    'an Admin has login and password',
    { SVC_BOOTSTRAP_ADMIN_EMAIL: 'a@b.example', SVC_BOOTSTRAP_ADMIN_PASSWORD_FILE: '/password' },
    { bootstrapAdmin: { login: 'a@b.example', password: 'secret ' } },
  ],
  ['a replica has the name it is given', { SVC_REPLICA_ID: 'tocsin-0' }, { replicaId: 'tocsin-0' }],
  [
    'an empty variable is not set',
    { SVC_LOG_LEVEL: '', SVC_REDIS_URL: '' },
    { logLevel: 'info', redisUrl: null },
  ],
  [
    'Redis',
    { SVC_REDIS_URL: 'rediss://:p@r.example:6380/1', SVC_REDIS_PREFIX: 'a:b_c-1' },
    { redisUrl: 'rediss://:p@r.example:6380/1', redisPrefix: 'a:b_c-1' },
  ],
])('%s', (_, env, expected) => {
  expect(accepted({ ...PLENTY, ...env }).config).toMatchObject(expected);
});

test.each([
  [':9000', { host: '', port: 9000 }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['[::1]:8080', { host: '::1', port: 8080 }],
  ['app.local:65535', { host: 'app.local', port: 65_535 }],
])('listeners listen on %s', (text, expected) => {
  expect(accepted({ ...PLENTY, SVC_LISTEN_APP: text }).config.listen.app).toEqual(expected);
});

describe('the database', () => {
  test.each<[Env, boolean]>([
    [{ SVC_DATABASE_POOL_MAX: '20' }, false],
    [{ SVC_DATABASE_HOST: '' }, false],
    [{ SVC_DATABASE_NAME: 'oncall', SVC_DATABASE_POOL_MAX: '20' }, true],
    [{ SVC_DATABASE_URL_FILE: '/url' }, true],
  ])('%o names one: %s', (env, names) => {
    expect(namesDatabase(env)).toBe(names);
  });

  test.each<[string, Env, object]>([
    [
      'in fields',
      { SVC_DATABASE_PASSWORD_FILE: '/password' },
      {
        host: 'db.example',
        port: 5432,
        database: 'oncall',
        user: 'ann',
        password: 'secret ',
        sslmode: 'prefer',
      },
    ],
    [
      'with its own roots',
      { SVC_DATABASE_SSLMODE: 'verify-ca', SVC_DATABASE_CA_FILE: '/ca.pem' },
      { sslmode: 'verify-ca', ca: FILES['/ca.pem']?.trimEnd() },
    ],
    [
      'as a URL in a file',
      { SVC_DATABASE_URL_FILE: '/url' },
      { host: 'other', port: 5432, database: 'x', user: 'bob', password: null, sslmode: 'prefer' },
    ],
    [
      'on an IPv6 address',
      { SVC_DATABASE_URL: 'postgresql://bob@[fd00::5]:6000/x' },
      { host: 'fd00::5', port: 6000 },
    ],
    [
      'on a Unix socket',
      { SVC_DATABASE_URL: 'postgres://bob@%2Frun%2Fpg/x' },
      { host: '/run/pg', port: 5432 },
    ],
  ])('%s', (_, env, expected) => {
    expect(accepted({ ...FIELDS, ...env }).config.database).toMatchObject(expected);
  });

  test('a session connection in fields takes the rest from the main one', () => {
    const { config } = accepted({ ...PLENTY, SVC_DATABASE_SESSION_HOST: 'direct.example' });
    expect(config.sessionDatabase).toEqual({ ...config.database, host: 'direct.example' });
    expect(config.prepareStatements).toBe(false);
  });

  test.each<[string, Env, Partial<Config['database']>, boolean]>([
    [
      'as hosts of a URL, each with its port',
      {
        SVC_DATABASE_URL:
          'postgres://bob:x,y@a:6000,[fd00::5]/x?sslmode=require&target_session_attrs=read-write',
      },
      {
        host: 'a',
        port: 6000,
        password: 'x,y',
        sslmode: 'require',
        others: [{ host: 'fd00::5', port: 5432 }],
      },
      true,
    ],
    [
      'as hosts with one port',
      { ...FIELDS, SVC_DATABASE_HOST: 'a, b', SVC_DATABASE_PORT: '6000' },
      { host: 'a', port: 6000, others: [{ host: 'b', port: 6000 }] },
      true,
    ],
    [
      'and behind a pooler',
      { SVC_DATABASE_URL: 'postgres://bob@pooler/x', SVC_DATABASE_SESSION_URL: 'postgres://bob@a,b/x' },
      { host: 'a', port: 5432, others: [{ host: 'b', port: 5432 }] },
      false,
    ],
  ])('several servers are named %s', (_, env, parts, prepares) => {
    const { config } = accepted({ ...PLENTY, ...env });
    expect(config.sessionDatabase).toMatchObject(parts);
    expect(config.prepareStatements).toBe(prepares);
  });

  test('a session connection to one server is not led to those of the main one', () => {
    const env = { SVC_DATABASE_URL: 'postgres://bob@a,b/x', SVC_DATABASE_SESSION_HOST: 'direct' };
    expect(accepted({ ...PLENTY, ...env }).config.sessionDatabase).not.toHaveProperty('others');
  });

  test('a session connection as a URL stands for itself', () => {
    const { config } = accepted({ ...PLENTY, SVC_DATABASE_SESSION_URL: 'postgres://carol@direct/y' });
    expect(config.sessionDatabase).toMatchObject({
      user: 'carol',
      password: null,
      sslmode: 'prefer',
      port: 5432,
    });
  });

  test('with a URL the fields are ignored, the password file unread, and that is told', () => {
    const { warnings } = accepted({
      ...FIELDS,
      ...PLENTY,
      SVC_DATABASE_PASSWORD_FILE: '/absent',
      SVC_DATABASE_SESSION_URL: 'postgres://c@d/y',
      SVC_DATABASE_SESSION_PORT: 'nonsense',
    });
    expect(warnings).toEqual([
      {
        event: 'database_settings_conflict',
        used: 'SVC_DATABASE_URL',
        ignored: ['SVC_DATABASE_HOST', 'SVC_DATABASE_NAME', 'SVC_DATABASE_USER', 'SVC_DATABASE_PASSWORD'],
      },
      {
        event: 'database_settings_conflict',
        used: 'SVC_DATABASE_SESSION_URL',
        ignored: ['SVC_DATABASE_SESSION_PORT'],
      },
    ]);
  });
});

test.each<[string, Env, string]>([
  [
    'a URL of something else',
    { SVC_DATABASE_URL: 'mysql://a@b/c' },
    'SVC_DATABASE_URL: must be a postgres:// URL',
  ],
  [
    'a URL without a user',
    { SVC_DATABASE_URL: 'postgres://b' },
    'SVC_DATABASE_URL: must name user, database',
  ],
  [
    'a URL with a broken escape',
    { SVC_DATABASE_URL: 'postgres://a:%zz@b/c' },
    'SVC_DATABASE_URL: holds a % that does not begin an escape',
  ],
  [
    'a URL for a standby',
    { SVC_DATABASE_URL: 'postgres://a@b,d/c?target_session_attrs=standby' },
    'SVC_DATABASE_URL: must have a target_session_attrs that is one of read-write, primary',
  ],
  [
    'a URL with a second host that is none',
    { SVC_DATABASE_URL: 'postgres://a@b,/c' },
    'SVC_DATABASE_URL: must be a postgres:// URL',
  ],
  [
    'a URL with other parameters',
    { SVC_DATABASE_URL: 'postgres://a@b/c?x=1' },
    'SVC_DATABASE_URL: has parameters other than sslmode: x',
  ],
  [
    'a URL with an unknown sslmode',
    { SVC_DATABASE_URL: 'postgres://a@b/c?sslmode=on' },
    'SVC_DATABASE_URL: must have an sslmode that is one of disable, allow, prefer, require, verify-ca, verify-full',
  ],
  [
    'both forms of a secret',
    { SVC_SECRET_KEYS_FILE: '/keys' },
    'SVC_SECRET_KEYS: and SVC_SECRET_KEYS_FILE are both set; remove one',
  ],
  [
    'a file that is not there',
    { SVC_REDIS_URL_FILE: '/absent' },
    'SVC_REDIS_URL_FILE: names a file that cannot be read (ENOENT)',
  ],
  ['a file with nothing in it', { SVC_REDIS_URL_FILE: '/empty' }, 'SVC_REDIS_URL_FILE: names an empty file'],
  [
    'roots that are no PEM',
    { SVC_DATABASE_CA_FILE: '/password' },
    'SVC_DATABASE_CA_FILE: names a file without a PEM certificate',
  ],
  ['debug', { SVC_LOG_LEVEL: 'debug' }, 'SVC_LOG_LEVEL: must be one of info, warn, error'],
  ['yes', { SVC_MIGRATE_ON_START: 'yes' }, 'SVC_MIGRATE_ON_START: must be true, false, 1 or 0'],
  [
    'a pool of one',
    { SVC_DATABASE_POOL_MAX: '1' },
    'SVC_DATABASE_POOL_MAX: must be a whole number from 2 to 200',
  ],
  [
    'a number in other clothes',
    { SVC_DATABASE_POOL_MAX: '1e1' },
    'SVC_DATABASE_POOL_MAX: must be a whole number from 2 to 200',
  ],
  ['a port too large', { SVC_LISTEN_APP: ':65536' }, 'SVC_LISTEN_APP: must be host:port or :port'],
  ['a port alone', { SVC_LISTEN_APP: '8080' }, 'SVC_LISTEN_APP: must be host:port or :port'],
  [
    'an address with a query',
    { SVC_PUBLIC_URL: 'https://a.example/?x' },
    'SVC_PUBLIC_URL: must be an absolute http or https URL without query and fragment',
  ],
  [
    'an address without a scheme',
    { SVC_PUBLIC_URL: 'a.example' },
    'SVC_PUBLIC_URL: must be an absolute http or https URL without query and fragment',
  ],
  ['no public address', { SVC_PUBLIC_URL: '' }, 'SVC_PUBLIC_URL: is required'],
  ['no keys', { SVC_SECRET_KEYS: '' }, 'SVC_SECRET_KEYS: is required (or SVC_SECRET_KEYS_FILE)'],
  [
    'an Admin without a password',
    { SVC_BOOTSTRAP_ADMIN_EMAIL: 'a@b.example' },
    'SVC_BOOTSTRAP_ADMIN_EMAIL: needs SVC_BOOTSTRAP_ADMIN_PASSWORD (or its _FILE) beside it',
  ],
  [
    'a password without an Admin',
    { SVC_BOOTSTRAP_ADMIN_PASSWORD: 'x' },
    'SVC_BOOTSTRAP_ADMIN_PASSWORD: needs SVC_BOOTSTRAP_ADMIN_EMAIL beside it',
  ],
  [
    'an Admin who is no email address',
    { SVC_BOOTSTRAP_ADMIN_EMAIL: 'admin', SVC_BOOTSTRAP_ADMIN_PASSWORD: 'x' },
    'SVC_BOOTSTRAP_ADMIN_EMAIL: must be an email address',
  ],
  [
    'a network without its length',
    { SVC_TRUSTED_PROXIES: '10.0.0.1' },
    'SVC_TRUSTED_PROXIES: must be a comma-separated list of networks such as 10.0.0.0/8',
  ],
  ['a prefix with a blank', { SVC_REDIS_PREFIX: 'a b' }, 'SVC_REDIS_PREFIX: must match ^[a-z0-9_:-]{1,32}$'],
  [
    'the password of the example file',
    { ...FIELDS, SVC_DATABASE_PASSWORD_FILE: '/placeholder' },
    'SVC_DATABASE_PASSWORD_FILE: is still the placeholder of the example file; replace it',
  ],
  [
    'the first password of the example file',
    { SVC_BOOTSTRAP_ADMIN_EMAIL: 'a@b.example', SVC_BOOTSTRAP_ADMIN_PASSWORD: 'REPLACE_ME' },
    'SVC_BOOTSTRAP_ADMIN_PASSWORD: is still the placeholder of the example file; replace it',
  ],
  [
    'a token that is too short',
    { SVC_BOOTSTRAP_INTEGRATION_TOKEN: `svc_int_${'a'.repeat(42)}` },
    'SVC_BOOTSTRAP_INTEGRATION_TOKEN: must be svc_int_ and 43 letters, digits, - or _',
  ],
  [
    'a file that holds no token',
    { SVC_BOOTSTRAP_INTEGRATION_TOKEN_FILE: '/placeholder' },
    'SVC_BOOTSTRAP_INTEGRATION_TOKEN_FILE: must be svc_int_ and 43 letters, digits, - or _',
  ],
  ['a Redis of another kind', { SVC_REDIS_URL: 'http://r' }, `SVC_REDIS_URL: ${REDIS_URL_RULE}`],
  [
    'an empty host among several',
    { SVC_DATABASE_SESSION_HOST: 'a,,b' },
    'SVC_DATABASE_SESSION_HOST: names an empty host',
  ],
])('refused: %s', (_, env, error) => {
  expect(refusals({ ...PLENTY, ...env })).toEqual([error]);
});

test('everything that is wrong is told in one run, and no secret with it', () => {
  const errors = refusals({
    SVC_DATABASE_URL: 'postgres://ann:hunter2@',
    SVC_SECRET_KEYS: 'hunter2',
    SVC_SECRET_KEYS_FILE: '/keys',
    SVC_LOG_LEVEL: 'loud',
    SVC_LISTEN_INGEST: 'here',
  });
  expect(errors.map((error) => error.split(':')[0])).toEqual([
    'SVC_DATABASE_URL',
    'SVC_SECRET_KEYS',
    'SVC_PUBLIC_URL',
    'SVC_LISTEN_INGEST',
    'SVC_LOG_LEVEL',
  ]);
  expect(errors.join()).not.toContain('hunter2');
});

test('without any database setting the URL is asked for; with some, the missing ones', () => {
  expect(refusals({ ...PLENTY, SVC_DATABASE_URL: '' })).toEqual([
    'SVC_DATABASE_URL: is required (or SVC_DATABASE_HOST, SVC_DATABASE_NAME, SVC_DATABASE_USER)',
  ]);
  expect(refusals({ ...FIELDS, SVC_DATABASE_NAME: '' })).toEqual([
    'SVC_DATABASE_NAME: is required unless SVC_DATABASE_URL is set',
  ]);
});

test.each<[string, Env, readonly ConfigWarning[]]>([
  [
    'unknown variables',
    { SVC_PUBIC_URL: 'x', SVC_LOG_LEVEL_FILE: '/x', PGHOST: 'y' },
    [
      { event: 'unknown_variable', name: 'SVC_LOG_LEVEL_FILE' },
      { event: 'unknown_variable', name: 'SVC_PUBIC_URL' },
    ],
  ],
  [
    'a public address without TLS',
    { SVC_PUBLIC_URL: 'http://oncall.example' },
    [{ event: 'public_url_not_https' }],
  ],
  ['none for this machine', { SVC_PUBLIC_URL: 'http://127.0.0.1:8080' }, []],
  ['none for this machine by name', { SVC_PUBLIC_URL: 'http://localhost:8080' }, []],
  [
    'an internal listener on a shared port',
    { SVC_LISTEN_APP: ':8082' },
    [{ event: 'internal_listener_shared', address: ':8082' }],
  ],
  ['none for ports chosen by the system', { SVC_LISTEN_APP: ':0', SVC_LISTEN_INTERNAL: ':0' }, []],
])('warned of: %s', (_, env, warnings) => {
  expect(accepted({ ...PLENTY, ...env }).warnings).toEqual(warnings);
});

describe('docs/settings.md', () => {
  test('lists the settings as the table has them (write it anew with vitest --update)', async () => {
    const render = readDocuments<{ settings: { settings: readonly Setting[] } }>(
      path.join(import.meta.dirname, 'documents'),
      String,
    );
    const settings = SETTING_NAMES.map((name) => ({ name, ...settingOf(name) }));
    await expect(render('settings', { settings })).toMatchFileSnapshot('../docs/settings.md');
  });

  test('says of every setting what it is', () => {
    for (const name of SETTING_NAMES) expect(settingOf(name).about.length, name).toBeGreaterThan(15);
  });
});
