import { describe, expect, test } from 'vitest';
import type { RoleName, User } from '../../../actors/access/user.ts';
import { DAY, formatInstant, HOUR } from '../../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { insertGroup } from '../../../test/configuration.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { inCatalogueOrder, PERMISSIONS, ROLE_PERMISSIONS } from '../../permissions.ts';
import { PASSWORD, startWithPeople } from './people.fixture.ts';

const database = useDatabase();
const start = () => startWithPeople(database.sql());

const USERS = '/api/v1/users';
const NEW = { name: 'Bob', login: 'Bob@example.org', email: 'bob@example.org', role: 'responder' };

interface Created {
  readonly user: { readonly id: PublicId; readonly etag: string };
  readonly password_setup_link: { readonly url: string; readonly expires_at: string };
}

async function withAdmin() {
  const server = await start();
  const admin = await server.person('admin');
  const create = async (more: object = {}) =>
    server.send('POST', USERS, { as: admin, body: { ...NEW, ...more } });
  const made = async (more: object = {}) => (await create(more)).json as unknown as Created;
  const put = (id: string, body: object, etag: string) =>
    server.send('PUT', `${USERS}/${id}`, { as: admin, body, headers: { 'if-match': etag } });
  const post = (id: string, what: string) => server.send('POST', `${USERS}/${id}/${what}`, { as: admin });
  const remove = (id: string) => server.send('DELETE', `${USERS}/${id}`, { as: admin });
  return { ...server, admin, create, made, put, post, remove };
}

describe('a new user', () => {
  test('has no password; the link shown once sets it, and Tocsin sends nothing', async () => {
    const { create, send, attempt, actions, clock, sql } = await withAdmin();
    const answer = await create();
    expect([answer.status, answer.headers.etag]).toEqual([201, '"1"']);
    const { user, password_setup_link: link } = answer.json as unknown as Created;
    expect(answer.headers.location).toBe(`${USERS}/${user.id}`);
    expect(user).toMatchObject({
      login: 'Bob@example.org',
      source: 'local',
      status: 'active',
      totp_enabled: false,
    });
    expect(link.url).toMatch(/^https:\/\/tocsin\.test\/password-setup#token=[A-Za-z0-9_-]{43}$/);
    expect(link.expires_at).toBe(formatInstant(clock.now() + 24 * HOUR));
    expect((await attempt('bob@example.org')).status).toBe(401);

    const token = link.url.split('=')[1] ?? '';
    const stored = await sql`select encode(hash, 'escape') || user_id as text from password_setup_links`;
    expect(JSON.stringify(stored)).not.toContain(token);
    const done = await send('POST', '/api/v1/password-setups', { body: { token, password: PASSWORD } });
    expect(done.status).toBe(204);
    clock.advance(HOUR);
    expect((await attempt('bob@example.org')).status).toBe(201);
    expect(actions()).toEqual([
      'session.signed_in',
      'user.created',
      'session.sign_in_failed',
      'user.password_set',
      'session.signed_in',
    ]);
  });

  test.each([
    ['a blank name', { name: ' ' }, 422, '/name', 'required'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 422, '/name', 'too_long'],
    ['no login', { login: undefined }, 400, '/login', 'required'],
    ['a login with a space', { login: 'bob b' }, 422, '/login', 'invalid_format'],
    ['the login of deleted users', { login: 'Deleted-User-1' }, 422, '/login', 'invalid_format'],
    ['a login that is too long', { login: 'x'.repeat(201) }, 422, '/login', 'too_long'],
    ['an address without a domain', { email: 'bob' }, 422, '/email', 'invalid_format'],
    ['an unknown Role', { role: 'owner' }, 400, '/role', 'invalid_format'],
  ])('is refused with %s', async (_, change, status, pointer, code) => {
    const { create } = await withAdmin();
    const answer = await create(change);
    expect([answer.status, answer.json.errors]).toMatchObject([status, [{ pointer, code }]]);
  });

  test('may leave the address out, or empty; a login is taken in any case', async () => {
    const { create } = await withAdmin();
    expect((await create({ email: '' })).json).toMatchObject({ user: { email: null } });
    expect((await create({ login: 'BOB@EXAMPLE.ORG' })).json).toMatchObject({
      status: 409,
      code: 'name_taken',
    });
  });
});

describe('the list of users', () => {
  test('goes by name, in pages, and narrows down by text, Role, status and source', async () => {
    const { admin, made, post, send } = await withAdmin();
    const carol = await made({ name: 'carol', login: 'c1', email: 'x@mail.example', role: 'viewer' });
    await made({ name: 'Bob', login: 'b1', email: null, role: 'viewer' });
    await post(carol.user.id, 'disable');
    const names = async (query: string) => {
      const { json } = await send('GET', `${USERS}?${query}`, { as: admin });
      return { names: (json.items as { name: string }[]).map(({ name }) => name), next: json.next_cursor };
    };
    const first = await names('limit=2');
    expect(first.names).toEqual(['admin', 'Bob']);
    expect((await names(`limit=2&cursor=${first.next}`)).names).toEqual(['carol']);
    const cases: readonly (readonly [string, readonly string[]])[] = [
      ['q=MAIL.ex', ['carol']],
      ['q=b1', ['Bob']],
      ['role=viewer', ['Bob', 'carol']],
      ['role=viewer&role=admin', ['admin', 'Bob', 'carol']],
      ['status=disabled', ['carol']],
      ['source=oidc', []],
      ['q=%25', []],
    ];
    for (const [query, expected] of cases)
      expect([query, (await names(query)).names]).toEqual([query, expected]);
    expect((await send('GET', `${USERS}?cursor=${first.next}`, { as: admin })).status).toBe(200);
    expect((await send('GET', `${USERS}?q=b&cursor=${first.next}`, { as: admin })).json).toMatchObject({
      errors: [{ code: 'invalid_cursor' }],
    });
  });
});

test('people of every alphabet are found and listed whatever the case', async () => {
  const { admin, made, send } = await withAdmin();
  await made({ name: 'Ян', login: 'yan' });
  await made({ name: 'борис', login: 'boris' });
  await made({ name: 'Вера', login: 'vera' });
  const names = async (path: string) => {
    const { json } = await send('GET', `/api/v1/${path}`, { as: admin });
    return (json.items as { name: string }[]).map(({ name }) => name);
  };
  expect(await names('users?role=responder')).toEqual(['борис', 'Вера', 'Ян']);
  expect(await names(`users?q=${encodeURIComponent('БОР')}`)).toEqual(['борис']);
  expect(await names(`user-directory?q=${encodeURIComponent('вЕР')}`)).toEqual(['Вера']);
});

describe('an update', () => {
  test('keeps what is left out, records what changed, and costs no session', async () => {
    const { made, put, signIn, send, sql, entries } = await withAdmin();
    const { user } = await made();
    await sql`update users set password_hash = ${PASSWORD} where id = ${user.id}`;
    const bob = await signIn('bob@example.org');
    const answer = await put(user.id, { name: ' Robert ', role: 'responder' }, user.etag);
    expect(answer.json).toMatchObject({ name: 'Robert', email: 'bob@example.org', etag: '"2"' });
    expect(entries.at(-1)).toMatchObject({
      action: 'user.updated',
      diff: [{ pointer: '/name', before: 'Bob', after: 'Robert' }],
    });
    expect((await send('GET', '/api/v1/me', { as: bob })).status).toBe(200);
    const before = entries.length;
    expect((await put(user.id, { name: 'Robert', role: 'responder' }, '"2"')).headers.etag).toBe('"2"');
    expect(entries).toHaveLength(before);
  });

  test('of the Role ends the sessions of the user', async () => {
    const { made, put, signIn, send, sql, actions, endings } = await withAdmin();
    const { user } = await made();
    await sql`update users set password_hash = ${PASSWORD} where id = ${user.id}`;
    const bob = await signIn('bob@example.org');
    expect((await put(user.id, { name: 'Bob', role: 'admin' }, user.etag)).json.role).toBe('admin');
    expect((await send('GET', '/api/v1/me', { as: bob })).status).toBe(401);
    expect([actions().at(-1), await endings(user.id)]).toEqual(['user.role_changed', ['role_changed']]);
  });

  test('with what is no longer the newest version is 412, without one 428', async () => {
    const { admin, made, put, send } = await withAdmin();
    const { user } = await made();
    expect((await put(user.id, NEW, '"7"')).status).toBe(412);
    expect((await send('PUT', `${USERS}/${user.id}`, { as: admin, body: NEW })).status).toBe(428);
    expect((await put(newPublicId('SR'), NEW, '"1"')).status).toBe(404);
  });

  test('of a Role that the provider decides is refused, of anything else not', async () => {
    const { made, put, sql } = await withAdmin();
    const { user } = await made();
    await sql`update users set role_locked = true where id = ${user.id}`;
    expect((await put(user.id, { name: 'B', role: 'viewer' }, user.etag)).json.code).toBe('role_locked');
    expect((await put(user.id, { name: 'B', role: 'responder' }, user.etag)).status).toBe(200);
  });
});

describe('the last active Admin', () => {
  const changes: readonly [
    string,
    (world: Awaited<ReturnType<typeof withAdmin>>) => Promise<{ json: unknown }>,
  ][] = [
    ['is not disabled', ({ post, admin }) => post(admin.userId, 'disable')],
    ['keeps the Role', ({ put, admin }) => put(admin.userId, { name: 'a', role: 'viewer' }, '"1"')],
  ];

  test.each(changes)('%s', async (_, change) => {
    const world = await withAdmin();
    const other = await world.made({ login: 'other', role: 'admin' });
    await world.post(other.user.id, 'disable');
    expect((await change(world)).json).toMatchObject({ status: 409, code: 'last_admin' });
    await world.post(other.user.id, 'enable');
    expect((await change(world)).json).not.toMatchObject({ code: 'last_admin' });
  });

  test('is not deleted', async () => {
    const { remove, admin } = await withAdmin();
    expect((await remove(admin.userId)).json).toMatchObject({ status: 409, code: 'last_admin' });
  });

  test('stays, when the last two remove each other at once', async () => {
    const { addUser, users, clock, sql } = await start();
    const by = { kind: 'system', id: null, name: 'test' } as const;
    for (let round = 0; round < 5; round++) {
      const [one, two] = [await addUser('admin', `one${round}`), await addUser('admin', `two${round}`)];
      const author = { by, at: clock.now(), address: null };
      await Promise.all([
        users.disable(one, author),
        users.remove(two, null, author),
        users.update(one, (user: User) => ({ save: { ...user, role: 'viewer' as RoleName } }), author),
      ]);
      const left = await sql`select id from users where role = 'admin' and status = 'active'`;
      expect(left).toHaveLength(1);
      await sql`update users set status = 'deleted', role = 'viewer'`;
    }
  });
});

describe('disabling', () => {
  test('ends sessions and tokens, and enabling brings back nothing but the account', async () => {
    const { addUser, signIn, send, attempt, post, actions, endings } = await withAdmin();
    const id = await addUser('responder', 'bob');
    const bob = await signIn('bob');
    const { json } = await send('POST', '/api/v1/me/personal-access-tokens', {
      as: bob,
      body: { name: 'ci', permissions: ['alerts:read'] },
    });
    const withToken = () => send('GET', '/api/v1/me', { headers: { authorization: `Bearer ${json.value}` } });
    expect((await withToken()).status).toBe(200);
    expect((await post(id, 'disable')).json).toMatchObject({ status: 'disabled', etag: '"2"' });
    expect((await post(id, 'disable')).json).toMatchObject({ etag: '"2"' });
    expect((await send('GET', '/api/v1/me', { as: bob })).status).toBe(401);
    expect((await withToken()).status).toBe(401);
    expect((await attempt('bob')).json.code).toBe('invalid_credentials');
    expect(await endings(id)).toEqual(['user_disabled']);
    expect((await post(id, 'enable')).json).toMatchObject({ status: 'active', etag: '"3"' });
    expect((await send('GET', '/api/v1/me', { as: bob })).status).toBe(401);
    expect((await withToken()).status).toBe(200);
    expect((await attempt('bob')).status).toBe(201);
    expect(actions().filter((action) => /able/.test(action))).toEqual(['user.disabled', 'user.enabled']);
  });

  test.each([
    ['disable', 'owner_disabled'],
    ['delete', 'owner_deleted'],
  ] as const)(
    '%s hands acknowledged Alert Groups their message in the same transaction',
    async (how, reason) => {
      const { addUser, admin, send, sql } = await withAdmin();
      const id = await addUser('responder', 'bob');
      const group = await insertGroup(sql, { routeId: newPublicId('RT'), status: 'acknowledged' });
      await sql`update alert_groups set owner_id = ${id} where id = ${group}`;
      const path = `${USERS}/${id}`;
      await (how === 'delete'
        ? send('DELETE', path, { as: admin })
        : send('POST', `${path}/disable`, { as: admin }));
      const rows =
        await sql`select distinct receiver_key, message from inbox where receiver_kind = 'alert_group'`;
      expect(rows).toEqual([
        { receiver_key: group, message: { type: 'owner_released', userId: id, reason } },
      ]);
    },
  );
});

describe('a deleted user', () => {
  test('keeps nothing that names or lets in a person', async () => {
    const { addUser, signIn, enrol, send, remove, admin, hints, sql, entries } = await withAdmin();
    const id = await addUser('responder', 'bob');
    const bob = await signIn('bob');
    await enrol(bob);
    const body = { name: 'ci', permissions: ['alerts:read'] };
    await send('POST', '/api/v1/me/personal-access-tokens', { as: bob, body });
    await send('POST', `${USERS}/${id}/password-setup-links`, { as: admin });
    expect((await remove(id)).status).toBe(204);

    const name = `deleted-user-${id}`;
    const read = await send('GET', `${USERS}/${id}`, { as: admin });
    expect(read.json).toMatchObject({
      name,
      login: name,
      email: null,
      status: 'deleted',
      totp_enabled: false,
    });
    const [row] = await sql`
      select password_hash, totp_seed, totp_pending_seed, totp_recovery_codes from users where id = ${id}`;
    expect(row).toEqual({
      password_hash: null,
      totp_seed: null,
      totp_pending_seed: null,
      totp_recovery_codes: [],
    });
    expect(await sql`select 1 from api_tokens where user_id = ${id} and revoked_at is null`).toHaveLength(0);
    expect(await sql`select 1 from password_setup_links where ended_at is null`).toHaveLength(0);
    expect(entries.at(-1)).toMatchObject({
      action: 'user.deleted',
      resourceName: name,
      details: { tokens_revoked: 1 },
    });
    expect(hints.sent).toContainEqual({ type: 'account-links', id });
  });

  test('cannot be changed any more, and the login is free again', async () => {
    const { made, put, post, remove, create } = await withAdmin();
    const { user } = await made();
    await remove(user.id);
    const answers = await Promise.all([
      remove(user.id),
      put(user.id, NEW, '"2"'),
      ...['disable', 'enable', 'reset-totp', 'convert-to-local', 'password-setup-links'].map((what) =>
        post(user.id, what),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => 404));
    expect((await create()).status).toBe(201);
  });
});

describe('an account of the identity provider', () => {
  test('becomes local: the identity goes, a link sets the password', async () => {
    const { addUser, signIn, post, sql, clock, actions, endings } = await withAdmin();
    const id = await addUser('responder', 'bob');
    await signIn('bob');
    expect((await post(id, 'convert-to-local')).json.code).toBe('oidc_not_linked');
    await sql`
      update users set oidc_issuer = 'https://idp', oidc_subject = 'bob', oidc_signed_in_at = ${clock.now()},
        password_hash = null
      where id = ${id}`;
    expect((await post(id, 'password-setup-links')).json.code).toBe('local_user_only');
    const answer = await post(id, 'convert-to-local');
    expect(answer.json).toMatchObject({ user: { sign_in_method: 'local' } });
    expect((answer.json as unknown as Created).password_setup_link.url).toContain('#token=');
    expect([actions().at(-1), await endings(id)]).toEqual([
      'user.converted_to_local',
      ['converted_to_local'],
    ]);
  });
});

test('a link is remembered a week past its end, and then unknown', async () => {
  const { made, send, clock } = await withAdmin();
  const { password_setup_link: link } = await made();
  const token = link.url.split('=')[1];
  const complete = async () =>
    (await send('POST', '/api/v1/password-setups', { body: { token, password: 'x' } })).json;
  expect(await complete()).toMatchObject({
    status: 422,
    errors: [{ pointer: '/password', code: 'too_short' }],
  });
  clock.advance(DAY);
  expect(await complete()).toMatchObject({ status: 410, code: 'link_expired' });
  clock.advance(7 * DAY);
  expect(await complete()).toMatchObject({ status: 404 });
});

test.each(['password-setup-links', 'convert-to-local'])(
  '%s gives a token no link to an account that may do more than it',
  async (way) => {
    const { admin, addUser, send, sql } = await withAdmin();
    const tokenOf = async (permissions: readonly string[]) => {
      const body = { name: 'ci', permissions };
      return String(
        (await send('POST', '/api/v1/me/personal-access-tokens', { as: admin, body })).json.value,
      );
    };
    const ask = (user: PublicId, value: string) =>
      send('POST', `${USERS}/${user}/${way}`, { headers: { authorization: `Bearer ${value}` } });
    const [viewer, other] = [await addUser('viewer', 'vic'), await addUser('admin', 'eve')];
    await sql`
    update users set oidc_issuer = 'https://idp', oidc_subject = id, oidc_signed_in_at = 1
    where id = any(${[viewer, other]}) and ${way === 'convert-to-local'}`;
    const narrow = await tokenOf(['users:write', ...inCatalogueOrder(ROLE_PERMISSIONS.viewer)]);
    expect(await ask(other, narrow)).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/path/user_id', code: 'permission_not_held' }] },
    });
    expect(await sql`select 1 from password_setup_links`).toHaveLength(0);
    expect((await ask(viewer, narrow)).status).toBeLessThan(202);
    expect((await ask(other, await tokenOf(PERMISSIONS))).status).toBeLessThan(202);
  },
);
