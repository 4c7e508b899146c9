/** `tocsin doctor` on real databases, well ones and broken ones. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';
import { firstStart } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { createTestDatabase, dropTestDatabase, useDatabase } from '../../test/postgres.ts';
import { MINUTE, systemClock } from '../clock.ts';
import type { DatabaseSettings } from '../config.ts';
import { createKeyring, masterKey } from '../secrets/keyring.ts';
import { runCommandLine } from './command.ts';
import { openReadOnly } from './doctor/database-checks.ts';
import { doctor } from './doctor.ts';

const key = randomBytes(32);
const PASSWORD = 'canary-database-password';
const REDIS_PASSWORD = 'canary-redis-password';
const ADMIN_PASSWORD = 'canary-admin-password';

const database = useDatabase();
let settings: DatabaseSettings;
let sql: Sql;

beforeEach(async () => {
  settings = database.settings();
  sql = database.sql();
  await firstStart(sql, masterKey(key));
  await empty(sql, 'replicas', 'snapshot_queue');
  await sql`update shards set owner = null, taken_at = null where owner is not null`;
  await ensurePartitions(sql, systemClock.now(), PARTITIONED_TABLES);
});

type Env = Readonly<Record<string, string>>;

function environment(): Env {
  return {
    SVC_DATABASE_HOST: settings.host,
    SVC_DATABASE_PORT: String(settings.port),
    SVC_DATABASE_NAME: settings.database,
    SVC_DATABASE_USER: settings.user,
    SVC_DATABASE_PASSWORD: settings.password ?? '',
    SVC_SECRET_KEYS: key.toString('base64'),
    SVC_PUBLIC_URL: 'http://127.0.0.1:8080',
    SVC_BOOTSTRAP_ADMIN_EMAIL: 'admin@a.example',
    SVC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
  };
}

interface Examined {
  readonly code: number;
  readonly lines: readonly string[];
  /** The line of a check. */
  line(name: string): string;
}

async function examine(env: Env = {}, ...words: readonly string[]): Promise<Examined> {
  const lines: string[] = [];
  const io = {
    env: { ...environment(), ...env },
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
  };
  const code = await runCommandLine(['doctor', ...words], [doctor], io);
  return {
    code,
    lines,
    line: (name) => lines.find((line) => line.split(' ')[1]?.replace(/:$/, '') === name) ?? '',
  };
}

async function insertReplica(id: string, refreshedAgo: number, hasRedis = false): Promise<void> {
  const now = systemClock.now();
  await sql`
    insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
    values (
      ${id}, 'b1', '0.1.0', '', ${[masterKey(key).id]}::text[], true, ${hasRedis}, ${now - 60 * MINUTE},
      ${now - refreshedAgo}
    )`;
}

async function insertConnection(type: string, url: string, wrong: string | null = null): Promise<void> {
  const keyring = createKeyring([masterKey(key)], masterKey(key).id);
  const sealer = keyring.sealer(keyring.activeKeyId);
  await sql`
    insert into connections (
      id, version, type, name, address, access, event_mode, limiter, proxy, created_at, bridge_token, inbound_error,
      inbound_since, tokenless
    ) values (
      'CN1', 1, ${type}, 'Zulip', ${url}, 1, ${type === 'bridge' ? 'poll' : null}, '{"limit": 5, "per_seconds": 1}',
      '{"enabled": false, "type": null, "address": null, "username": null}', 1,
      ${sealer.seal('connection.bridge_token', 'CN1', 'token')}, ${wrong},
      ${wrong === null ? null : systemClock.now() - 5 * MINUTE}, false
    )`;
  await sql`
    insert into destinations (
      id, version, name, type, connection_id, channel_id, mentions, limiter, secrets_version, created_at, broken_since,
      broken_reason
    ) values (
      'DS2', 1, 'ops', ${type}, 'CN1', 'ops', '[]', '{}', 1, 1, ${systemClock.now() - 5 * MINUTE}, 'channel gone'
    )`;
}

test.each(['bridge', 'chat_server'])('a Connection to a %s is looked at, and its channels', async (type) => {
  await insertConnection(type, 'http://169.254.169.254/', 'the answer is no JSON');
  const { line, code } = await examine();
  expect(line('connection')).toMatch(/^WARN connection CN1: "Zulip": 169\.254\.169\.254: .*outbound policy/);
  expect(line('connection')).toMatch(/It was never reached.*No events for 5 min: the answer is no JSON\./);
  expect(line('destination')).toMatch(/^WARN destination DS2: "ops": Broken for 5 min: channel gone/);
  expect(code).toBe(0);
  await sql`update connections set address = 'https://192.0.2.7', info = '{}', inbound_error = null`;
  await sql`update destinations set broken_since = null, broken_reason = null`;
  const well = await examine();
  expect(well.line('connection')).toBe(
    'OK connection CN1: "Zulip": 192.0.2.7 is 192.0.2.7, which may be called',
  );
  expect(well.line('destination')).toBe('OK destination DS2: "ops": posts through the Connection CN1');
  expect((await examine({}, '--offline')).line('connection')).toBe('');
});

async function insertDestination(url: string, secret: string | null, broken: string | null = null) {
  const keyring = createKeyring([masterKey(key)], masterKey(key).id);
  const now = systemClock.now();
  const events = JSON.stringify({ url, headers: [] });
  const sealer = keyring.sealer(keyring.activeKeyId);
  await sql`
    insert into destinations (
      id, version, name, type, mode, events, mentions, limiter, secrets_version, created_at, broken_since, broken_reason,
      signing_secret
    ) values (
      'DS1', 1, 'Pager', 'webhook', 'events', ${events}::text::jsonb, '[]', '{}', 1, ${now},
      ${broken === null ? null : now - 5 * MINUTE}, ${broken},
      ${sealer.seal('destination.signing_secret', 'DS1', 'whsec_c2VjcmV0')}
    )`;
  if (secret === null) return;
  await sql`
    insert into destination_secrets (destination_id, name, value, updated_at)
    values ('DS1', 'token', ${sealer.seal('destination.secret', 'DS1/token', secret)}, ${now})`;
}

test('everything is OK in a database that was started on', async () => {
  const { code, lines } = await examine();
  expect(lines.filter((line) => !line.startsWith('OK '))).toEqual([]);
  expect(lines.map((line) => /^OK (\w+): ./.exec(line)?.[1])).toEqual([
    'settings',
    'database',
    'postgresql_version',
    'schema',
    'session_connection',
    'tls_main',
    'tls_session',
    'redis',
    'replicas',
    'key_canary',
    'keyring',
    'clock_skew',
    'partitions',
    'backlog',
    'integrations',
    'public_url',
    'connection',
    'destination',
  ]);
  expect(code).toBe(0);
});

test('--offline leaves Destinations out, --json says it all in one object', async () => {
  const { code, lines } = await examine({}, '--offline', '--json');
  expect(code).toBe(0);
  expect(lines).toHaveLength(1);
  const said = JSON.parse(lines[0] ?? '');
  expect(said.ok).toBe(true);
  expect(said.checks).toHaveLength(16);
  expect(said.checks[0]).toEqual({ name: 'settings', status: 'OK', detail: expect.any(String) });
});

test('its connections say whose they are and cannot write', async () => {
  const database = openReadOnly(settings, true);
  const [row] = await database.read(
    (tx) => tx<{ name: string }[]>`select current_setting('application_name') as name`,
  );
  expect(row?.name).toBe('tocsin doctor');
  const writing = database.read((tx) => tx`update shards set epoch = epoch + 1`.execute());
  await expect(writing).rejects.toThrow('read-only transaction');
  await database.close();
});

test('a main connection through a transaction pooler takes no settings, and still cannot write', async () => {
  // A second way to the same server makes the first count as a pooler.
  const { code, lines } = await examine({ SVC_DATABASE_SESSION_HOST: `${settings.host}/` });
  expect(lines.filter((line) => !line.startsWith('OK '))).toEqual([]);
  expect(code).toBe(0);
  const database = openReadOnly(settings, false);
  const writing = database.read((tx) => tx`update shards set epoch = epoch + 1`.execute());
  await expect(writing).rejects.toThrow('read-only transaction');
  await database.close();
});

test('it writes nothing', async () => {
  const dump = async () => {
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by 1`;
    const digests = [];
    for (const { name } of tables)
      digests.push(
        (
          await sql`select ${name} as name, md5(coalesce(string_agg(t::text, '' order by t::text), '')) as md5 from ${sql(name)} t`
        )[0],
      );
    return digests;
  };
  const before = await dump();
  await examine();
  expect(await dump()).toEqual(before);
});

describe('the database', () => {
  test('that does not answer fails, and what needs it is not checked', async () => {
    const { code, line } = await examine({ SVC_DATABASE_HOST: '127.0.0.1', SVC_DATABASE_PORT: '1' });
    expect(code).toBe(1);
    expect(line('database')).toMatch(/^FAIL database: .* as .*ECONNREFUSED.*See that the server runs/);
    expect(line('keyring')).toBe('WARN keyring: not checked, because database failed');
    expect(line('public_url')).toMatch(/^OK/);
  });

  test('that does not exist fails', async () => {
    const { code, line } = await examine({ SVC_DATABASE_NAME: 'nowhere' });
    expect(code).toBe(1);
    expect(line('database')).toContain('database "nowhere" does not exist');
  });

  test('without a schema says how to make one', async () => {
    const empty = await createTestDatabase(inject('postgres'), 'empty');
    const { code, line } = await examine({ SVC_DATABASE_NAME: empty.database });
    await dropTestDatabase(inject('postgres'), empty);
    expect(code).toBe(1);
    expect(line('schema')).toMatch(/^FAIL schema: .*version 0.*tocsin migrate/);
    expect(line('key_canary')).toBe('WARN key_canary: not checked, because schema failed');
  });

  test('with an older schema says how to bring it up to date', async () => {
    const [newest] = await sql`
      delete from schema_migrations where version = (select max(version) from schema_migrations) returning *`;
    onTestFinished(async () => void (await sql`insert into schema_migrations ${sql(newest ?? {})}`));
    const { code, line } = await examine();
    expect(code).toBe(1);
    expect(line('schema')).toMatch(/^FAIL schema: .*tocsin migrate/);
  });

  test('with a newer schema names both versions', async () => {
    await sql`
      insert into schema_migrations (version, name, checksum, started_at, applied_at)
      values (999, 'later', '', 1, 1)`;
    onTestFinished(async () => void (await sql`delete from schema_migrations where version = 999`));
    expect((await examine()).line('schema')).toMatch(/^FAIL schema: .*version 999.*newer release/);
  });

  test('is not the one of the session connection', async () => {
    const user = `${encodeURIComponent(settings.user)}:${encodeURIComponent(settings.password ?? '')}`;
    const url = `postgres://${user}@${encodeURIComponent(settings.host)}:${settings.port}/postgres`;
    const { code, line } = await examine({ SVC_DATABASE_SESSION_URL: url });
    expect(code).toBe(1);
    expect(line('session_connection')).toMatch(/^FAIL session_connection: leads to another database/);
  });
});

describe('keys', () => {
  test('that do not fit the database fail', async () => {
    const other = randomBytes(32);
    const { code, line } = await examine({ SVC_SECRET_KEYS: other.toString('base64') });
    expect(code).toBe(1);
    expect(line('key_canary')).toMatch(/^FAIL key_canary: master key does not match the database\./);
    expect(line('keyring')).toContain(`${masterKey(key).id} is needed and not listed here`);
  });

  test('whose canary is damaged fail', async () => {
    await sql`update keyring set canary = active_key_id || ':AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'`;
    expect((await examine()).line('key_canary')).toMatch(/^FAIL key_canary: master key does not match/);
  });

  test('that nothing uses are told', async () => {
    const [first, second] = [key, randomBytes(32)].map((bytes) => bytes.toString('base64'));
    const { code, line } = await examine({ SVC_SECRET_KEYS: `${first},${second}` });
    expect(code).toBe(0);
    expect(line('keyring')).toMatch(/^WARN keyring: k-\w+ is removable/);
  });

  test('of a database that was never started on have yet to be chosen', async () => {
    await empty(sql, 'keyring');
    const { code, line } = await examine();
    expect(code).toBe(0);
    expect(line('key_canary')).toMatch(/^WARN key_canary: there is none yet/);
    expect(line('keyring')).toBe('OK keyring: no key is in use yet');
  });
});

describe('replicas', () => {
  test('of which one died are told, with the shards that it owned', async () => {
    await insertReplica('alive', 1);
    await insertReplica('dead', 5 * MINUTE);
    await sql`update shards set owner = 'alive/b1', taken_at = 1`;
    await sql`update shards set owner = 'dead/b1' where shard < 3`;
    const { code, line } = await examine();
    expect(code).toBe(0);
    expect(line('replicas')).toMatch(
      /^WARN replicas: 1 replica \(alive\), .*\. Owned by nobody who lives: 3 shards \(owner by record: dead\/b1\)/,
    );
    expect(line('replicas')).toContain('Silent: dead/b1 5 min');
  });

  test('beside each other without Redis are told', async () => {
    await insertReplica('one', 1);
    await insertReplica('two', 1);
    expect((await examine()).line('redis')).toMatch(
      /^WARN redis: 2 replicas have a fresh record \(one, two\)/,
    );
  });
});

describe('partitions', () => {
  const drop = async () => {
    const [row] = await sql<{ name: string }[]>`
      select inhrelid::regclass::text as name from pg_inherits
      where inhparent = 'stored_snapshots'::regclass order by 1 limit 1`;
    await sql`drop table ${sql(row?.name ?? '')}`;
  };

  test('of today fail while replicas run', async () => {
    await drop();
    await insertReplica('one', 1);
    await sql`update shards set owner = 'one/b1', taken_at = 1`;
    const { code, line } = await examine();
    expect(code).toBe(1);
    expect(line('partitions')).toMatch(
      /^FAIL partitions: stored_snapshots_\d{8} do not exist, so what belongs there/,
    );
  });

  test('are made by the next start while none runs', async () => {
    await drop();
    const { code, line } = await examine();
    expect(code).toBe(0);
    expect(line('partitions')).toMatch(/^WARN partitions: .*the next start makes them/);
  });
});

test('Snapshots that wait for long are told', async () => {
  await sql`
    insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes)
    values (1, 'SS1', 'IN1', ${systemClock.now() - 5 * MINUTE}, '', 1)`;
  expect((await examine()).line('backlog')).toMatch(
    /^WARN backlog: Waiting to be processed: 1 Snapshot, the oldest for 5 min/,
  );
});

describe('a Destination', () => {
  const said = async (env: Env = {}) =>
    (await examine(env)).lines.find((line) => line.includes('destination')) ?? '';

  test('that may be called is OK', async () => {
    await insertDestination('https://10.1.2.3/hook?t={{ .Secrets.token }}', 'canary-destination-secret');
    expect(await said()).toBe('OK destination DS1: "Pager": 10.1.2.3 is 10.1.2.3, which may be called');
  });

  test('that is Broken says since when and why', async () => {
    await insertDestination('https://10.1.2.3/hook', null, 'answered 401');
    expect(await said()).toMatch(/^WARN destination DS1: "Pager": Broken for 5 min: answered 401\./);
  });

  test('that the outbound policy refuses says so', async () => {
    await insertDestination('http://127.0.0.1:9/hook', null);
    expect(await said()).toContain('refused by the outbound policy: 127.0.0.1 loopback');
  });

  test('whose name does not resolve says so', async () => {
    await insertDestination('https://nowhere.invalid/hook', null);
    expect(await said()).toMatch(
      /^WARN destination DS1: "Pager": nowhere\.invalid: DNS: nowhere\.invalid not found/,
    );
  });

  test('whose template reads a Secret that it lacks says so', async () => {
    await insertDestination('https://10.1.2.3/{{ .Secrets.token }}', null);
    expect(await said()).toContain('there is no Secret token: correct the template');
  });

  test('whose Secret was sealed with a key that is gone says so', async () => {
    await insertDestination('https://10.1.2.3/{{ .Secrets.token }}', 'x');
    await sql`update destination_secrets set value = 'k-0000000000000000:AAAA'`;
    expect(await said()).toMatch(
      /^WARN .*sealed with the key k-0000000000000000 and cannot be opened: enter it again/,
    );
  });
});

test('a host that comes from a Secret is not shown, in whatever letters', async () => {
  await insertDestination('https://{{ .Secrets.token }}/hook', 'Canary-Host.invalid');
  const line = (await examine()).lines.at(-1) ?? '';
  expect(line).toMatch(/^WARN destination DS1: "Pager": \[redacted\]: DNS: \[redacted\] not found/);
});

test('no secret appears in any output', async () => {
  await insertDestination(
    'https://canary-destination-secret.invalid/{{ .Secrets.token }}',
    'canary-destination-secret',
  );
  const secrets = [
    settings.password ?? '',
    REDIS_PASSWORD,
    ADMIN_PASSWORD,
    key.toString('base64'),
    'canary-destination-secret',
  ];
  const redis = `redis://:${REDIS_PASSWORD}@127.0.0.1:1`;
  const outputs = [
    await examine({ SVC_REDIS_URL: redis }),
    await examine({ SVC_REDIS_URL: redis }, '--json'),
    await examine({ SVC_REDIS_URL: redis, SVC_DATABASE_HOST: '127.0.0.1', SVC_DATABASE_PORT: '1' }),
    await examine({ SVC_REDIS_URL: redis, SVC_DATABASE_NAME: PASSWORD }),
    await examine({
      SVC_REDIS_URL: `http://:${REDIS_PASSWORD}@x`,
      SVC_SECRET_KEYS: `${key.toString('base64')}x`,
    }),
  ];
  const text = outputs.flatMap(({ lines }) => lines).join('\n');
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(text).toContain('[redacted]');
});
