import { beforeEach, describe, expect, test } from 'vitest';
import { ORGANIZATION_DEFAULTS } from '../../actors/access/organization.ts';
import type { SignIn } from '../../actors/access/ports.ts';
import { type Session, sessionHash } from '../../actors/access/session.ts';
import { EVALUATION_LIMIT, FORGOTTEN_AFTER } from '../../actors/access/throttle.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import { HOUR, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { noSeeds } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createAccessStore, pruneAccess } from './access.ts';
import { type BootstrapAdmin, BootstrapError, ensureAccess } from './ensure-access.ts';

const database = useDatabase();

const NOW: Micros = 1_791_020_467_000_000;
const KEYS = { account: 'account/a', source: 'source/b' };
const ADMIN: BootstrapAdmin = { login: 'Ada@example.org', password: 'correct horse battery' };

let audit: AuditEntry[];
let logged: string[];

const appendAudit = async (_tx: unknown, entry: AuditEntry) => void audit.push(entry);
const log: Log = (event) => void logged.push(event);

beforeEach(async () => {
  audit = [];
  logged = [];
  await empty(database.sql(), 'organization', 'users', 'sessions', 'login_throttles');
});

function ensure(bootstrap: BootstrapAdmin | null = ADMIN) {
  return database.sql().begin((tx) =>
    ensureAccess(tx, {
      bootstrap,
      hash: async (password) => `hash of ${password}`,
      appendAudit,
      now: NOW,
      log,
    }),
  );
}

const store = () => createAccessStore({ sql: database.sql(), appendAudit, ...noSeeds });

async function adminId(): Promise<PublicId> {
  const account = await store().accounts.findByLogin('ada@example.org');
  return account?.user.id ?? expect.fail('the Admin exists');
}

async function signIn(userId: PublicId, changes: Partial<SignIn> = {}): Promise<Session> {
  const session: Session = {
    id: newPublicId('SN'),
    userId,
    state: 'active',
    method: 'local',
    createdAt: NOW,
    lastUsedAt: NOW,
    expiresAt: NOW + 168 * HOUR,
    endedAt: null,
    endReason: null,
  };
  await store().accounts.signIn({
    session,
    hash: sessionHash(Buffer.from(session.id)),
    address: '192.0.2.1',
    userAgent: null,
    passwordHash: 'hash of correct horse battery',
    rehashed: null,
    attempt: null,
    proof: null,
    replaces: null,
    entry: entry('session.signed_in'),
    ...changes,
  });
  return session;
}

function entry(action: string): AuditEntry {
  return {
    at: NOW,
    actor: { kind: 'system', id: null, name: 'system' },
    action,
    resourceType: 'session',
    resourceId: null,
    resourceName: null,
    address: null,
    diff: [],
    details: {},
  };
}

describe('ensure steps', () => {
  test('the first start creates the Organization with its defaults and the Admin; later ones change nothing', async () => {
    expect(await ensure()).toEqual({ adminCreated: true });
    expect(logged).toEqual(['organization_created']);
    const organization = await store().organization.read();
    expect(organization).toMatchObject({ version: 1, settings: ORGANIZATION_DEFAULTS });
    expect(await store().accounts.findByLogin('ada@example.org')).toMatchObject({
      passwordHash: 'hash of correct horse battery',
      user: {
        login: 'Ada@example.org',
        name: 'Ada',
        email: 'Ada@example.org',
        role: 'admin',
        source: 'bootstrap',
      },
    });
    expect(audit.map(({ action, actor }) => [action, actor.kind])).toEqual([['user.created', 'bootstrap']]);

    expect(await ensure()).toEqual({ adminCreated: false });
    expect(await store().organization.read()).toEqual(organization);
    expect(logged).toEqual(['organization_created', 'bootstrap_admin_ignored']);
    expect(audit).toHaveLength(1);
  });

  test('without an Admin and without a configured one the start goes on and says so', async () => {
    expect(await ensure(null)).toEqual({ adminCreated: false });
    expect(logged).toEqual(['organization_created', 'bootstrap_admin_missing']);
  });

  test('quickstart may use a login that is no email address', async () => {
    await ensure({ login: 'admin', password: 'correct horse battery' });
    expect(await store().accounts.findByLogin('admin')).toMatchObject({
      user: { name: 'admin', email: null },
    });
  });

  test('a short password and a login that somebody holds stop the start', async () => {
    await expect(ensure({ ...ADMIN, password: 'short' })).rejects.toThrow(BootstrapError);
    await ensure();
    await database.sql()`update users set role = 'viewer'`;
    await expect(ensure({ ...ADMIN, login: 'ADA@example.org' })).rejects.toThrow(/ADA@example.org is in use/);
  });
});

describe('sessions', () => {
  test('a sign-in makes a session, ends the one of the cookie sent along and forgets failures', async () => {
    await ensure();
    const id = await adminId();
    const first = await signIn(id);
    await store().throttle.admit(KEYS, NOW);
    const second = await signIn(id, {
      replaces: sessionHash(Buffer.from(first.id)),
      attempt: KEYS,
      rehashed: 'new hash',
    });

    const { sessions, accounts } = store();
    expect(await sessions.find(sessionHash(Buffer.from(first.id)))).toMatchObject({
      session: { endedAt: NOW, endReason: 'sign_out' },
    });
    expect(await sessions.find(sessionHash(Buffer.from(second.id)))).toEqual({
      session: second,
      user: expect.objectContaining({ id, lastSignInAt: NOW }),
    });
    expect(await accounts.findByLogin('ada@example.org')).toMatchObject({ passwordHash: 'new hash' });
    expect(await database.sql()`select key from login_throttles`).toHaveLength(0);
  });

  test('an account that is no longer active gets no session', async () => {
    await ensure();
    const id = await adminId();
    await database.sql()`update users set status = 'disabled'`;
    await signIn(id);
    expect(await database.sql()`select id from sessions`).toHaveLength(0);
    expect(audit.map(({ action }) => action)).toEqual(['user.created']);
  });

  test('ending is recorded once; a touched session lives on, an ended or idle one does not', async () => {
    await ensure();
    const id = await adminId();
    const [ended, touched, idle] = [await signIn(id), await signIn(id), await signIn(id)];
    const { sessions } = store();
    expect(await sessions.end(ended.id, 'sign_out', NOW, entry('session.signed_out'))).toBe(true);
    expect(await sessions.end(ended.id, 'sign_out', NOW, entry('session.signed_out'))).toBe(false);
    expect(audit.filter(({ action }) => action === 'session.signed_out')).toHaveLength(1);

    await sessions.touch(touched.id, NOW + HOUR);
    const later = NOW + 12 * HOUR;
    expect(await sessions.live([ended.id, touched.id, idle.id], later)).toEqual(new Set([touched.id]));
    await database.sql()`update users set status = 'disabled'`;
    expect(await sessions.live([touched.id], later)).toEqual(new Set());
  });
});

describe('failed sign-ins', () => {
  const ACCOUNT = 'account/a';
  const SOURCE = 'source/s';
  const admit = (at: Micros, account = ACCOUNT, source = SOURCE) =>
    store().throttle.admit({ account, source }, at);
  /** As many attempts that fail as are wanted, each as soon as it is looked at. @returns when the last one was */
  const fail = async (at: Micros, times: number, account = ACCOUNT, source = SOURCE): Promise<Micros> => {
    let now = at;
    for (let count = 0; count < times; ) {
      const admission = await admit(now, account, source);
      if (!admission.admitted) now += admission.wait;
      else {
        count++;
        await store().throttle.failed({ account, source }, now, entry('session.sign_in_failed'));
      }
    }
    return now;
  };

  test('waits grow with consecutive failures up to a minute', async () => {
    const waits: number[] = [];
    let now = NOW;
    for (let failures = 1; failures <= 11; failures++) {
      now = await fail(now, 1);
      const admission = await admit(now);
      waits.push(admission.admitted ? 0 : admission.wait / SECOND);
      if (admission.admitted) await store().throttle.release({ account: ACCOUNT, source: SOURCE }, now);
    }
    expect(waits).toEqual([0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(audit).toHaveLength(11);
  });

  test('of attempts of one source that arrive together as many are evaluated as in a row', async () => {
    const replicas = [store(), store(), store()];
    const admissions = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        replicas[index % 3]!.throttle.admit({ account: `account/${index}`, source: SOURCE }, NOW),
      ),
    );
    expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(3);
    expect(await admit(NOW, 'account/another')).toEqual({ admitted: false, wait: SECOND });
  });

  test('a source that failed slows down every account it tries', async () => {
    const now = await fail(NOW, 4);
    expect(await admit(now, 'account/other')).toEqual({ admitted: false, wait: 2 * SECOND });
    expect(await admit(now, 'account/other', 'source/other')).toEqual({ admitted: true });
  });

  test('one source alone makes nobody else wait for the account, however long it goes on', async () => {
    const now = await fail(NOW, 30);
    expect(await admit(now)).toEqual({ admitted: false, wait: 60 * SECOND });
    expect(await admit(now, ACCOUNT, 'source/other')).toEqual({ admitted: true });
  });

  test('one source does not keep up for others the wait that several caused', async () => {
    let now = NOW;
    for (let source = 1; source <= 5; source++) now = await fail(now, 2, ACCOUNT, `source/${source}`);
    now = await fail(now, 4, ACCOUNT, 'source/1');
    expect(await admit(now, ACCOUNT, 'source/other')).toEqual({ admitted: true });
  });

  test('several sources slow the account down for everybody', async () => {
    let now = NOW;
    for (let source = 1; source <= 6; source++) now = await fail(now, 2, ACCOUNT, `source/${source}`);
    expect(await admit(now, ACCOUNT, 'source/other')).toEqual({ admitted: false, wait: 60 * SECOND });
    expect(await admit(now, 'account/other', 'source/other')).toEqual({ admitted: true });
  });

  test('an attempt that came to nothing has not failed', async () => {
    for (let count = 0; count < 20; count++) {
      expect(await admit(NOW)).toEqual({ admitted: true });
      await store().throttle.release({ account: ACCOUNT, source: SOURCE }, NOW);
    }
    expect(await database.sql()`select 1 from login_throttles where failures > 0`).toHaveLength(0);
  });

  test('failures are forgotten a day after the last one', async () => {
    const now = await fail(NOW, 6);
    await fail(now + FORGOTTEN_AFTER, 1);
    expect(await admit(now + FORGOTTEN_AFTER)).toEqual({ admitted: true });
  });

  test('of attempts on one account that arrive together one is evaluated', async () => {
    const admissions = await Promise.all(
      [1, 2, 3, 4].map((source) => admit(NOW, ACCOUNT, `source/${source}`)),
    );
    expect(admissions.filter(({ admitted }) => admitted)).toHaveLength(1);
    expect(admissions.filter((admission) => !admission.admitted && admission.wait === SECOND)).toHaveLength(
      3,
    );
    // A process that died while evaluating does not lock the account for good.
    expect(await admit(NOW + EVALUATION_LIMIT)).toEqual({ admitted: true });
  });

  test('an attempt that outlived its limit does not free the account that another attempt holds', async () => {
    const slow = { account: ACCOUNT, source: 'source/slow' };
    const slower = { account: ACCOUNT, source: 'source/slower' };
    const second = NOW + EVALUATION_LIMIT;
    const third = second + EVALUATION_LIMIT;
    expect(await admit(NOW, ACCOUNT, slow.source)).toEqual({ admitted: true });
    expect(await admit(second, ACCOUNT, slower.source)).toEqual({ admitted: true });
    expect(await admit(third)).toEqual({ admitted: true });
    await store().throttle.failed(slow, NOW, entry('session.sign_in_failed'));
    await store().throttle.release(slower, second);
    expect(await admit(third, ACCOUNT, 'source/other')).toEqual({ admitted: false, wait: SECOND });
    await store().throttle.failed(
      { account: ACCOUNT, source: SOURCE },
      third,
      entry('session.sign_in_failed'),
    );
    expect(await admit(third, ACCOUNT, 'source/other')).toEqual({ admitted: true });
  });
});

describe('the user directory', () => {
  test('pages by lower-cased name, finds parts of names and logins literally, and shows deleted users', async () => {
    await database.sql()`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      select 'SR' || n, 1, login, lower(login), name, 'viewer', 'local', status, 0
      from (values
        (1, 'bea', 'bea', 'active'), (2, 'Al_ex', 'Zoe', 'active'), (3, 'carl', 'Ann 100%', 'deleted'),
        (4, 'dora', 'anna', 'disabled')
      ) u (n, login, name, status)`;
    const { users } = store();
    const first = await users.page(null, null, null, 3);
    expect(first.users.map(({ name }) => name)).toEqual(['Ann 100%', 'anna', 'bea']);
    const second = await users.page(null, null, first.next, 3);
    expect(second).toMatchObject({ users: [{ name: 'Zoe' }], next: null });
    expect((await users.page('ANN', null, null, 10)).users.map(({ status }) => status)).toEqual([
      'deleted',
      'disabled',
    ]);
    expect((await users.page('0%', null, null, 10)).users.map(({ name }) => name)).toEqual(['Ann 100%']);
    expect((await users.page('l_e', null, null, 10)).users.map(({ name }) => name)).toEqual(['Zoe']);
  });
});

test('sessions go 7 days after their end, whatever ended them; failures after a day', async () => {
  await ensure();
  const id = await adminId();
  const [ended, , used] = [await signIn(id), await signIn(id), await signIn(id)];
  const { sessions, throttle } = store();
  await sessions.end(ended.id, 'sign_out', NOW + HOUR, null);
  await sessions.touch(used.id, NOW + 13 * HOUR);
  await throttle.admit(KEYS, NOW);

  const week = 7 * 24 * HOUR;
  const none = { sessions: 0, login_throttles: 0, password_setup_links: 0, oidc_requests: 0 };
  const prune = (at: Micros) => pruneAccess(database.sql(), at);
  expect(await prune(NOW + 24 * HOUR - 1)).toEqual(none);
  expect(await prune(NOW + week + HOUR)).toEqual({ ...none, sessions: 1, login_throttles: 3 });
  expect(await prune(NOW + week + 12 * HOUR)).toEqual({ ...none, sessions: 1 });
  const left = await database.sql()`select id from sessions`;
  expect(left.map((row) => row.id)).toEqual([used.id]);
});

test('sign-ins through the provider that came to nothing go an hour after their end', async () => {
  const sql = database.sql();
  await sql`
    insert into oidc_requests (state_hash, nonce, return_to, expires_at) values ('\\x00', '', '/', ${NOW})`;
  expect(await pruneAccess(sql, NOW + HOUR - 1)).toMatchObject({ oidc_requests: 0 });
  expect(await pruneAccess(sql, NOW + HOUR)).toMatchObject({ oidc_requests: 1 });
});

test('the Audit log takes entries and refuses to change or lose them', async () => {
  const sql = database.sql();
  await sql`create table if not exists audit_log_test partition of audit_log default`;
  await sql`
    insert into audit_log (id, at, actor_kind, actor_name, transport, action, diff, details)
    values ('AE1', 1, 'system', 'system', 'system', 'user.created', '[]', '{}')`;
  await expect(sql`update audit_log set action = 'x'`).rejects.toThrow('append-only');
  await expect(sql`delete from audit_log`).rejects.toThrow('append-only');
  await expect(sql`truncate audit_log`).rejects.toThrow('append-only');
});
