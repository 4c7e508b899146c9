/** `tocsin keys` on real databases: rotation while people save, crashes, replicas that lack a key, values that do not open. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DestinationFields } from '../../../actors/destination/ports.ts';
import { appendAudit } from '../../../storage/access/audit.ts';
import { createConnectionStore } from '../../../storage/configuration/connections.ts';
import { createDestinationStore } from '../../../storage/configuration/destinations.ts';
import { createReplicaRecordStore } from '../../../storage/engine/replica-records.ts';
import { SECRET_FIELDS, sealedValues } from '../../../storage/keys/sealed-values.ts';
import { connect } from '../../../storage/postgres/connection.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { firstStart, internalAlerts } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { until } from '../../../test/harness/until.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { MINUTE, type Micros, systemClock } from '../../clock.ts';
import type { PublicId } from '../../public-id.ts';
import { createKeyring, type MasterKey, masterKey } from '../../secrets/keyring.ts';
import { SEALED_FIELDS } from '../../secrets/sealed-fields.ts';
import { runCommandLine } from '../command.ts';
import { keysReset } from './reset.ts';
import { keysRotate } from './rotate.ts';
import { keysStatus, keysVerify } from './status.ts';

const database = useDatabase();
const newKey = () => masterKey(randomBytes(32));
const [old, next, other] = [newKey(), newKey(), newKey()];
const both = createKeyring([old, next], old.id);

const PROXY = { enabled: true, type: 'http', address: 'proxy.example:3128', username: 'tocsin' } as const;
const PASSWORD = { kind: 'set', password: 'proxy-password' } as const;
const LIMITER = { limit: 1, per_seconds: 1 };

let now: Micros;
let destination: PublicId;
let bridge: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  now = systemClock.now();
  await firstStart(sql, old);
  await ensurePartitions(sql, now, PARTITIONED_TABLES);
  await empty(sql, 'replicas', 'inbox');
  await fillEveryField();
});

const author = () =>
  ({ by: { kind: 'system', id: null, name: 'test' }, at: now - MINUTE, address: null }) as const;

const destinations = (keyring = both) =>
  createDestinationStore({ sql: database.sql(), appendAudit, keyring, internalAlerts });

function destinationFields(name: string): DestinationFields {
  const events = { url: 'https://receiver.example', headers: [] };
  return {
    type: 'webhook',
    name,
    mode: 'events',
    events,
    template: null,
    mentions: {} as never,
    limiter: LIMITER,
    proxy: PROXY,
  };
}

async function fillEveryField(): Promise<void> {
  const store = destinations();
  const made = await store.create(
    { fields: destinationFields('receiver'), proxyPassword: PASSWORD, found: null },
    author(),
  );
  if (typeof made === 'string') throw new Error(`the database is not empty: ${made}`);
  destination = made.destination.id;
  await store.putSecret(destination, { name: 'token', value: 'the-token' }, null, author());
  await store.generateSigningSecret(destination, author());
  const connections = createConnectionStore({ sql: database.sql(), appendAudit, keyring: both });
  const stored = await connections.create(
    {
      ...{ type: 'bridge', name: 'bridge', base_url: 'https://bridge.example', event_mode: 'push' },
      ...{ limiter: LIMITER, proxy: PROXY },
    },
    {
      ...{ token: 'bridge-token', pushSecret: 'push-secret', proxyPassword: PASSWORD },
      webhook: { url: 'https://ingest.example', secret: 'webhook-secret' },
    },
    author(),
  );
  if (stored === 'name_taken') throw new Error('the database is not empty');
  bridge = stored.id;
  await fillAccess();
}

const PERSON = 'SR0000000000AA';
const STATE = Buffer.alloc(32, 1);
let organization: PublicId;

/** What sign-in and the Organization keep, put there by hand. */
async function fillAccess(): Promise<void> {
  const sql = database.sql();
  const sealer = both.sealer(old.id);
  const [row] = await sql<{ id: PublicId }[]>`select id from organization`;
  if (!row) throw new Error('there is an Organization');
  organization = row.id;
  await sql`
    update organization set
      heartbeat_url = ${sealer.seal('organization.heartbeat_url', organization, 'https://beats.example')},
      heartbeat_proxy_password = ${sealer.seal('organization.heartbeat_proxy_password', organization, 'a')}`;
  await sql`
    insert into users (
      id, version, login, login_folded, name, role, source, status, created_at, offline_token, totp_seed,
      totp_enrolled_at, totp_pending_seed
    )
    values (
      ${PERSON}, 1, 'bob', 'bob', 'Bob', 'viewer', 'local', 'active', ${now},
      ${sealer.seal('user.offline_token', PERSON, 'b')}, ${sealer.seal('user.totp_seed', PERSON, 'c')}, ${now},
      ${sealer.seal('user.totp_pending_seed', PERSON, 'd')}
    )`;
  await sql`
    update oidc_settings set
      client_secret = ${sealer.seal('oidc.client_secret', 'oidc', 'e')},
      proxy_password = ${sealer.seal('oidc.proxy_password', 'oidc', 'f')}`;
  await sql`delete from oidc_requests`;
  await sql`
    insert into oidc_requests (state_hash, nonce, verifier, return_to, expires_at)
    values (${STATE}, '', ${sealer.seal('oidc.pkce_verifier', STATE.toString('hex'), 'g')}, '/', ${now})`;
}

function environment(keys: readonly MasterKey[]) {
  const { host, port, database: name, user, password } = database.settings();
  return {
    SVC_DATABASE_HOST: host,
    SVC_DATABASE_PORT: String(port),
    SVC_DATABASE_NAME: name,
    SVC_DATABASE_USER: user,
    SVC_DATABASE_PASSWORD: password ?? '',
    SVC_SECRET_KEYS: keys.map(({ bytes }) => bytes.toString('base64')).join(','),
    SVC_PUBLIC_URL: 'http://127.0.0.1:8080',
  };
}

async function keys(words: readonly string[], held: readonly MasterKey[] = [old, next]) {
  const [out, err]: [string[], string[]] = [[], []];
  const io = {
    env: environment(held),
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
  };
  const commands = [keysStatus, keysVerify, keysRotate, keysReset];
  return { code: await runCommandLine(['keys', ...words], commands, io), out, err };
}

const rotate = (to: MasterKey, held?: readonly MasterKey[]) =>
  keys(['rotate', '--activate', to.id, '--actor', 'Ann'], held);

function runs(id: string, held: readonly MasterKey[], refreshedAt = now): Promise<string> {
  const record = { id, boot: '1', version: '1.0.0', revision: '', isLeader: false, hasRedis: true };
  const keyIds = held.map((key) => key.id);
  return createReplicaRecordStore(database.sql()).write({ ...record, keyIds, startedAt: now }, refreshedAt);
}

/** How many values of every column of the sealed type, by the catalog, name which key. */
async function keysByColumn(): Promise<Record<string, readonly string[]>> {
  const sql = database.sql();
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns where domain_name = 'sealed'`;
  const found: Record<string, readonly string[]> = {};
  for (const { table, column } of columns) {
    const rows = await sql<{ key: string }[]>`
      select distinct split_part(${sql(column)}, ':', 1) as key from ${sql(table)} where ${sql(column)} is not null`;
    found[`${table}.${column}`] = rows.map(({ key }) => key);
  }
  return found;
}

const everyColumn = (key: MasterKey) =>
  Object.fromEntries(SEALED_FIELDS.map(({ table, column }) => [`${table}.${column}`, [key.id]]));

/** Every value, opened, by field and owner. */
async function everyValue(): Promise<Record<string, string | null>> {
  const opened: Record<string, string | null> = {};
  await database.sql().begin(async (tx) => {
    for (const field of SECRET_FIELDS) {
      for (const { owner, sealed } of await sealedValues(tx, field)) {
        const result = both.open(field.field, owner, sealed);
        opened[`${field.field} ${owner}`] = result.ok ? result.value : null;
      }
    }
  });
  return opened;
}

/** Everything stored beside the sealed texts. */
async function besides() {
  const sql = database.sql();
  const sealed = SEALED_FIELDS.map(({ column }) => column);
  return sql`
    select to_jsonb(d) - ${sealed}::text[] as row from destinations d
    union all select to_jsonb(c) - ${sealed}::text[] from connections c
    union all select to_jsonb(s) - ${sealed}::text[] from destination_secrets s
    order by 1`;
}

const entries = (action: string) => database.sql()`
  select actor_kind, actor_name, transport, details from audit_log where action = ${action} and at >= ${now} order by at`;

describe('a rotation', () => {
  test('seals every column of the sealed type with the new key; values and everything else stay', async () => {
    expect(await keysByColumn()).toEqual(everyColumn(old));
    const [values, rows] = [await everyValue(), await besides()];
    expect(Object.values(values)).not.toContain(null);
    const { code, out, err } = await rotate(next);
    expect([code, out]).toEqual([
      0,
      [expect.stringContaining(`${next.id} is active; ${SECRET_FIELDS.length} values sealed anew.`)],
    ]);
    expect(JSON.parse(err.join(''))).toMatchObject({
      ...{ level: 'warn', event: 'key_activated', from: old.id, to: next.id, actor: 'Ann' },
    });
    expect(await keysByColumn()).toEqual(everyColumn(next));
    expect(await everyValue()).toEqual(values);
    expect(await besides()).toEqual(rows);
    expect(await entries('keyring.key_activated')).toEqual([
      {
        ...{ actor_kind: 'cli', actor_name: 'Ann', transport: 'cli' },
        details: {
          from: old.id,
          to: next.id,
          fields: Object.fromEntries(SECRET_FIELDS.map(({ field }) => [field, 1])),
        },
      },
    ]);
  });

  test('to the key that is active already writes nothing', async () => {
    const { code, out } = await rotate(old);
    expect([code, out]).toEqual([0, [`${old.id} is already active.`]]);
    expect(await entries('keyring.key_activated')).toEqual([]);
  });

  test('loses no save that goes on meanwhile, and none of them ends under the old key', async () => {
    const saved = new Map<string, string>();
    let isOver = false;
    const savers = ['a', 'b', 'c'].map(async (name) => {
      // A process that has not heard of the rotation.
      const store = destinations(createKeyring([old, next], old.id));
      for (let count = 0; !isOver || count < 3; count++) {
        const value = `value ${count} of ${name}`;
        const change = await store.putSecret(destination, { name, value }, null, author());
        expect(change.outcome).toBe('saved');
        saved.set(`destination.secret ${destination}/${name}`, value);
      }
    });
    for (const to of [next, old, next]) expect((await rotate(to)).code).toBe(0);
    isOver = true;
    await Promise.all(savers);
    expect(await keysByColumn()).toEqual(everyColumn(next));
    expect(await everyValue()).toMatchObject(Object.fromEntries(saved));
  });

  test('killed before its commit leaves the old key active and every value readable', async () => {
    const values = await everyValue();
    const holder = connect(database.settings(), { max: 1, applicationName: 'holder' });
    onTestFinished(() => holder.end({ timeout: 1 }));
    const child = await holder.begin(async (tx) => {
      await tx`select 1 from destinations for update`;
      const words = ['runtime/main.ts', 'keys', 'rotate', '--activate', next.id, '--actor', 'Ann'];
      const started = spawn(process.execPath, words, {
        env: { PATH: process.env.PATH, ...environment([old, next]) },
        stdio: 'ignore',
      });
      const gone = new Promise((resolve) => started.once('exit', resolve));
      await until('the rotation to be in the middle', async () => {
        const waiting = await database.sql()`
          select 1 from pg_stat_activity
          where application_name = 'tocsin keys rotate' and wait_event_type = 'Lock' and query like '%resealed%'`;
        return waiting.length > 0;
      });
      started.kill('SIGKILL');
      await gone;
      return started;
    });
    expect(child.signalCode).toBe('SIGKILL');
    await until('the server to have undone it', async () => {
      const left = await database.sql()`
        select 1 from pg_stat_activity where application_name = 'tocsin keys rotate'`;
      return left.length === 0;
    });
    expect(await keysByColumn()).toEqual(everyColumn(old));
    expect(await everyValue()).toEqual(values);
    expect((await keys(['verify'], [old])).code).toBe(0);
    expect((await rotate(next)).code).toBe(0);
  });
});

describe('a rotation is refused, and changes nothing', () => {
  const unchanged = async () => {
    expect(await keysByColumn()).toEqual(everyColumn(old));
    expect(await entries('keyring.key_activated')).toEqual([]);
  };

  test.each([
    ['without an actor', ['--activate', next.id], 2, '--actor'],
    ['without a key', ['--actor', 'Ann'], 2, '--activate'],
    ['with another option', ['--activate', next.id, '--actor', 'Ann', '--force'], 2, '--force'],
    [
      'to a key that is not listed here',
      ['--activate', other.id, '--actor', 'Ann'],
      1,
      'not held by this process',
    ],
  ])('%s', async (_name, words, expected, said) => {
    const { code, out, err } = await keys(['rotate', ...words]);
    expect([code, out]).toEqual([expected, []]);
    expect(err.join('\n')).toContain(said);
    await unchanged();
  });

  test('while live replicas lack the key, naming them; silent ones and earlier runs do not count', async () => {
    await runs('a', [old, next]);
    await runs('b', [old]);
    await runs('c', [old], now - 3 * MINUTE);
    const refused = await rotate(next);
    expect([refused.code, refused.err]).toEqual([1, [expect.stringContaining('is missing on b.')]]);
    await unchanged();
    await database.sql()`
      insert into replicas select id, '2', version, revision, ${[old.id, next.id]}::text[], is_leader, has_redis,
        started_at + 1, refreshed_at from replicas where id = 'b'`;
    expect((await rotate(next)).code).toBe(0);
  });

  test('while a value does not open, naming field and owner, never the value', async () => {
    const gone = createKeyring([other], other.id).sealer(other.id);
    const stray = gone.seal('destination.secret', `${destination}/token`, 'sealed-with-a-lost-key');
    await database.sql()`update destination_secrets set value = ${stray}`;
    const { code, err } = await rotate(next);
    expect([code, err]).toEqual([
      1,
      [
        expect.stringContaining(
          `destination.secret of ${destination}/token cannot be opened with ${other.id}`,
        ),
      ],
    ]);
    const verified = await keys(['verify', '--json']);
    expect([verified.code, JSON.parse(verified.out.join(''))]).toEqual([
      1,
      {
        active: old.id,
        opened: SECRET_FIELDS.length - 1,
        unreadable: [{ field: 'destination.secret', owner: `${destination}/token`, key_id: other.id }],
      },
    ]);
    await database.sql()`delete from destination_secrets`;
    expect((await rotate(next)).code).toBe(0);
  });

  test('with keys of another installation', async () => {
    const { code, err } = await rotate(next, [next, other]);
    expect([code, err.join()]).toEqual([1, expect.stringContaining(old.id)]);
    await unchanged();
  });
});

test('a proxy password copied to another row does not open there, and the original does', async () => {
  await database.sql()`
    update connections set proxy_password = (select proxy_password from destinations where id = ${destination})`;
  const { code, out } = await keys(['verify']);
  expect([code, out[1]]).toEqual([1, expect.stringContaining(`connection.proxy_password of ${bridge}`)]);
  expect(out).toHaveLength(2);
});

test('the same value saved twice gives two texts', async () => {
  const text = async () => (await database.sql()`select value from destination_secrets`)[0]?.value;
  const first = await text();
  await destinations().putSecret(destination, { name: 'token', value: 'the-token' }, null, author());
  expect(await text()).not.toBe(first);
});

describe('the status', () => {
  const status = async () => JSON.parse((await keys(['status', '--json'])).out.join('')).keys;
  const entry = (key: MasterKey, facts: object) => ({
    ...{ id: key.id, active: false, held_by: [], missing_on: [], needed: false, removable: true },
    ...facts,
  });

  test('tells when the old key may go, and forgets it when nobody holds it', async () => {
    await runs('a', [old]);
    await runs('b', [old, next]);
    const active = { active: true, needed: true, removable: false };
    expect(await status()).toEqual([
      entry(old, { ...active, held_by: ['a', 'b'] }),
      entry(next, { held_by: ['b'], missing_on: ['a'] }),
    ]);
    await runs('a', [old, next]);
    await rotate(next);
    expect(await status()).toEqual([
      entry(next, { ...active, held_by: ['a', 'b'] }),
      entry(old, { held_by: ['a', 'b'] }),
    ]);
    await runs('a', [next]);
    await runs('b', [next]);
    expect(await status()).toEqual([entry(next, { ...active, held_by: ['a', 'b'] })]);
  });

  test('is a line a key for people', async () => {
    await runs('a', [old]);
    expect((await keys(['status'])).out).toEqual([
      `${old.id}  active, listed here, held by a`,
      `${next.id}  unused, listed here, held by no running replica`,
    ]);
  });
});

describe('after all keys were lost, a reset', () => {
  const reset = (...words: string[]) => keys(['reset', '--actor', 'Ann', ...words], [other, next]);

  test('wipes every value, lists what to enter again, ends sessions and breaks Destinations', async () => {
    const sql = database.sql();
    await sql`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values ('SR1', 1, 'ann', 'ann', 'Ann', 'admin', 'local', 'active', ${now})`;
    await sql`
      insert into sessions (id, hash, user_id, state, method, created_at, last_used_at, expires_at)
      values ('SS1', '\\x00', 'SR1', 'active', 'local', ${now}, ${now}, ${now + MINUTE})`;
    await sql`update oidc_settings set settings = settings || '{"enabled": true}'`;
    await runs('a', [old]);
    const { code, out, err } = await reset('--yes');
    expect([code, err]).toEqual([0, []]);
    expect(out).toEqual([
      `${other.id} is active; ${SECRET_FIELDS.length} values wiped, 1 session ended.`,
      'Enter again:',
      `  ${destination}/token (receiver): Secret`,
      `  ${destination} (receiver): signing secret (generate a new one)`,
      `  ${destination} (receiver): previous signing secret (nothing to enter)`,
      `  ${destination} (receiver): proxy password`,
      `  ${bridge} (bridge): token`,
      `  ${bridge} (bridge): push secret`,
      `  ${bridge} (bridge): secret of a webhook (nothing to enter: it is set anew)`,
      `  ${bridge} (bridge): proxy password`,
      '  oidc: client secret of the identity provider',
      '  oidc: proxy password of the identity provider',
      `  ${STATE.toString('hex')}: sign-in under way (begin it again)`,
      `  ${PERSON} (Bob): offline token (sign in again)`,
      `  ${PERSON} (Bob): second factor (enrol again)`,
      `  ${PERSON} (Bob): second factor being set up (begin it again)`,
      `  ${organization}: URL of the outgoing heartbeat`,
      `  ${organization}: proxy password of the outgoing heartbeat`,
      'Do not hold this key and end within 30 s: a. Give them the new list.',
    ]);
    const empty = Object.fromEntries(SECRET_FIELDS.map(({ table, column }) => [`${table}.${column}`, []]));
    expect(await keysByColumn()).toEqual({ ...empty, 'keyring.canary': [other.id] });
    expect(await sql`select end_reason from sessions`).toEqual([{ end_reason: 'sign_out_everywhere' }]);
    expect(await sql`select settings -> 'enabled' as enabled from oidc_settings`).toEqual([
      { enabled: false },
    ]);
    expect(await sql`select receiver_key, message from inbox where receiver_kind = 'destination'`).toEqual([
      { receiver_key: destination, message: { type: 'secrets_lost' } },
    ]);
    expect(await entries('keyring.reset')).toMatchObject([
      { actor_name: 'Ann', details: { from: old.id, to: other.id, sessions_ended: 1 } },
    ]);
    const store = destinations(createKeyring([other], other.id));
    expect(await store.secrets(destination)).toMatchObject({ items: [{ name: 'token', isSet: false }] });
    expect(await store.read(destination)).toMatchObject({
      ...{ proxyPasswordAt: null, signingSecret: { updatedAt: null, previousSince: null } },
    });
    await store.putSecret(destination, { name: 'token', value: 'again' }, null, author());
    expect(await store.secrets(destination)).toMatchObject({ items: [{ name: 'token', isSet: true }] });
  });

  test.each([
    ['an actor', ['reset', '--yes'], '--actor'],
    ['--yes', ['reset', '--actor', 'Ann'], '--yes'],
  ])('needs %s', async (_name, words, said) => {
    const { code, out, err } = await keys(words, [other]);
    expect([code, out]).toEqual([2, []]);
    expect(err.join()).toContain(said);
    expect(await keysByColumn()).toEqual(everyColumn(old));
  });
});

test('a database that was never started on has nothing to rotate, verify or reset', async () => {
  await empty(database.sql(), 'keyring');
  for (const words of [
    ['verify'],
    ['rotate', '--activate', next.id, '--actor', 'Ann'],
    ['reset', '--actor', 'Ann', '--yes'],
  ]) {
    const { code, err } = await keys(words);
    expect([code, err.join()]).toEqual([1, expect.stringContaining('has no keyring yet')]);
  }
});
