import { describe, expect, test } from 'vitest';
import { DAY, SECOND } from '../../../runtime/clock.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { PASSWORD, startWithPeople } from './people.fixture.ts';

const database = useDatabase();
const start = () => startWithPeople(database.sql());

const NEXT = 'staple correct battery';

describe('one’s own password', () => {
  test('changes with the present one; other sessions and a live link end, this session stays', async () => {
    const { person, signIn, send, attempt, actions, endings, sql, users, clock } = await start();
    const ann = await person('viewer', 'ann');
    await signIn('ann');
    const by = { kind: 'system', id: null, name: 'test' } as const;
    const link = { hash: Buffer.alloc(32), expiresAt: clock.now() + SECOND };
    await users.addSetupLink(ann.userId, link, { by, at: clock.now(), address: null });
    const body = { current_password: PASSWORD, new_password: NEXT };
    expect((await send('PUT', '/api/v1/me/password', { as: ann, body })).status).toBe(204);
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(200);
    expect((await endings(ann.userId)).sort()).toEqual([null, 'password_changed'].sort());
    expect(await sql`select 1 from password_setup_links where ended_at is null`).toHaveLength(0);
    expect((await attempt('ann')).status).toBe(401);
    expect((await attempt('ann', { password: NEXT })).status).toBe(201);
    expect(actions()).toContain('user.password_changed');
  });

  test.each([
    ['a new one that is too short', { new_password: 'eleven char' }, 422],
    ['a new one that is too long', { new_password: 'x'.repeat(1_025) }, 422],
    ['a wrong present one', { current_password: 'wrong' }, 401],
    ['nothing', { current_password: undefined }, 400],
  ])('does not change with %s', async (_, change, status) => {
    const { person, send, attempt } = await start();
    const ann = await person('viewer', 'ann');
    const body = { current_password: PASSWORD, new_password: NEXT, ...change };
    expect((await send('PUT', '/api/v1/me/password', { as: ann, body })).status).toBe(status);
    expect((await attempt('ann')).status).toBe(201);
  });

  test('counts emoji as one character each', async () => {
    const { person, send } = await start();
    const ann = await person('viewer', 'ann');
    const change = (password: string) =>
      send('PUT', '/api/v1/me/password', {
        as: ann,
        body: { current_password: PASSWORD, new_password: password },
      });
    expect((await change('🦊'.repeat(11))).status).toBe(422);
    expect((await change('🦊'.repeat(12))).status).toBe(204);
  });

  test.each([
    'two  spaces  between  words ',
    'пароль с пробелами',
    'שלום عليكم 漢字かな',
    `~!@#$%^&*()_+-={}[]|\\:";'<>?,./\``,
    'e\u0301'.repeat(12),
    '🦊'.repeat(12),
    'x'.repeat(1_024),
  ])('is kept whole, with whatever is in it: %s', async (password) => {
    const { person, send, attempt } = await start();
    const ann = await person('viewer', 'ann');
    const body = { current_password: PASSWORD, new_password: password };
    expect((await send('PUT', '/api/v1/me/password', { as: ann, body })).status).toBe(204);
    const almost = [...password].slice(0, -1).join('');
    expect((await attempt('ann', { password: almost })).status).toBe(401);
    expect((await attempt('ann', { password: password.replace('  ', ' ') })).status).toBe(
      password.includes('  ') ? 401 : 201,
    );
    expect((await attempt('ann', { password })).status).toBe(201);
  });

  test('may be an earlier one again, and never has to be changed', async () => {
    const { person, send, attempt, signIn, clock } = await start();
    let ann = await person('viewer', 'ann');
    for (const [current_password, new_password] of [
      [PASSWORD, NEXT],
      [NEXT, PASSWORD],
    ]) {
      const body = { current_password, new_password };
      expect((await send('PUT', '/api/v1/me/password', { as: ann, body })).status).toBe(204);
    }
    clock.advance(3650 * DAY);
    expect((await attempt('ann')).json).toMatchObject({ state: 'active' });
    ann = await signIn('ann');
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(200);
  });

  test('is guessed at no faster than at sign-in', async () => {
    const { person, send, attempt, clock } = await start();
    const ann = await person('viewer', 'ann');
    const guess = () =>
      send('PUT', '/api/v1/me/password', { as: ann, body: { current_password: 'x', new_password: NEXT } });
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([401, 401, 401]);
    expect([(await guess()).status, (await attempt('ann')).status]).toEqual([429, 429]);
    clock.advance(SECOND);
    expect((await attempt('ann')).status).toBe(201);
  });

  test('is not there for who signs in through the provider', async () => {
    const { person, send, sql, clock } = await start();
    const ann = await person('viewer', 'ann');
    await sql`
      update users set oidc_issuer = 'https://idp', oidc_subject = 'ann', oidc_signed_in_at = ${clock.now()}`;
    const body = { current_password: PASSWORD, new_password: NEXT };
    expect((await send('PUT', '/api/v1/me/password', { as: ann, body })).json.code).toBe('local_user_only');
  });
});

describe('a link that sets a password', () => {
  async function withLink() {
    const server = await start();
    const admin = await server.person('admin');
    const id = await server.addUser('viewer', 'bob');
    const make = async () => {
      const { json } = await server.send('POST', `/api/v1/users/${id}/password-setup-links`, { as: admin });
      return String(json.url).split('=')[1] ?? '';
    };
    const complete = (token: string, password = NEXT) =>
      server.send('POST', '/api/v1/password-setups', { body: { token, password } });
    return { ...server, admin, id, make, complete };
  }

  test('leaves the present password alone until it is used, once', async () => {
    const { id, make, complete, attempt, signIn, endings, entries } = await withLink();
    const token = await make();
    await signIn('bob');
    expect((await complete(token)).status).toBe(204);
    expect(await endings(id)).toEqual(['password_changed']);
    expect((await attempt('bob', { password: NEXT })).status).toBe(201);
    expect((await complete(token)).json).toMatchObject({ status: 410, code: 'link_used' });
    expect(entries.find(({ action }) => action === 'user.password_set')).toMatchObject({
      actor: { kind: 'system' },
      resourceId: id,
      address: '127.0.0.1',
    });
  });

  test('is one a user: a new one takes its place', async () => {
    const { make, complete } = await withLink();
    const [first, second] = [await make(), await make()];
    expect((await complete(first)).json.code).toBe('link_used');
    expect((await complete(second)).status).toBe(204);
  });

  test('sets one password of two that come at once', async () => {
    const { make, complete } = await withLink();
    const token = await make();
    const both = await Promise.all([complete(token), complete(token, `${NEXT}!`)]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 410]);
  });

  test.each([
    ['deleted', `status = 'deleted'`],
    ['turned over to the provider', `oidc_issuer = 'i', oidc_subject = 's', oidc_signed_in_at = 1`],
  ])('is used up when the account was %s', async (_, change) => {
    const { make, complete, sql } = await withLink();
    const token = await make();
    await sql`update users set ${sql.unsafe(change)} where login = 'bob'`;
    expect((await complete(token)).json.code).toBe('link_used');
  });

  test('works for a disabled account, which still does not get in', async () => {
    const { id, make, complete, attempt, send, admin } = await withLink();
    const token = await make();
    await send('POST', `/api/v1/users/${id}/disable`, { as: admin });
    expect((await complete(token)).status).toBe(204);
    expect((await attempt('bob', { password: NEXT })).status).toBe(401);
  });

  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(1_000)])('is 404 when nobody made it: %s', async (token) => {
    const { complete } = await withLink();
    expect((await complete(token)).status).toBe(404);
  });
});

describe('one’s own sessions', () => {
  test('are listed with the present one marked, the last used first', async () => {
    const { person, signIn, send, clock } = await start();
    const first = await person('viewer', 'ann');
    clock.advance(SECOND);
    await signIn('ann');
    await person('admin');
    const { json } = await send('GET', '/api/v1/me/sessions', { as: first });
    expect(json.items).toMatchObject([
      { method: 'local', address: '127.0.0.1', user_agent: null, current: false },
      { current: true },
    ]);
    expect(JSON.stringify(json)).not.toContain(first.cookie.split('=')[1]);
  });

  test('end all at once, and the cookie with them', async () => {
    const { person, signIn, send, actions, endings } = await start();
    const ann = await person('viewer', 'ann');
    await signIn('ann');
    const answer = await send('DELETE', '/api/v1/me/sessions', { as: ann });
    expect([answer.status, answer.headers['set-cookie']?.[0]]).toMatchObject([
      204,
      expect.stringContaining('svc_session=;'),
    ]);
    expect(await endings(ann.userId)).toEqual(['sign_out_everywhere', 'sign_out_everywhere']);
    expect(actions()).toContain('session.ended_all');
  });
});

describe('one’s own profile', () => {
  test('keeps what is left out and clears what is null', async () => {
    const { person, send, entries } = await start();
    const ann = await person('viewer', 'ann');
    const put = async (body: object) => send('PUT', '/api/v1/me', { as: ann, body });
    const first = await put({ name: ' Ann ', time_zone: 'Europe/Berlin', language: 'ru' });
    expect(first.json).toMatchObject({
      user: { name: 'Ann', time_zone: 'Europe/Berlin', language: 'ru', etag: '"2"' },
    });
    expect((await put({ name: 'Ann' })).json).toMatchObject({
      user: { time_zone: 'Europe/Berlin', etag: '"2"' },
    });
    expect((await put({ name: 'Ann', language: null })).json).toMatchObject({ user: { language: null } });
    expect(entries.at(-1)).toMatchObject({
      action: 'user.profile_updated',
      diff: [{ pointer: '/language', before: 'ru', after: null }],
    });
  });

  test.each([
    [{ name: ' ' }, 422],
    [{ name: '' }, 400],
    [{ name: 'A', time_zone: 'Mars/Olympus' }, 422],
    [{ name: 'A', time_zone: 'Local' }, 422],
    [{ name: 'A', time_zone: '+02:00' }, 422],
    [{ name: 'A', language: 'de' }, 400],
  ])('is refused as %o', async (body, status) => {
    const { person, send } = await start();
    const answer = await send('PUT', '/api/v1/me', { as: await person('viewer'), body });
    expect(answer.status).toBe(status);
  });
});
