import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { HashQueueFullError } from '../../../actors/access/passwords.ts';
import { DAY, formatInstant, HOUR, MINUTE, SECOND } from '../../../runtime/clock.ts';
import { plainPasswords } from '../../../test/fakes/access-store.ts';
import { type Received, signedIn, startHttp, type TestHttp } from '../../../test/http-server.ts';

const SESSIONS = '/api/v1/sessions';
const CURRENT = '/api/v1/sessions/current';
const ME = '/api/v1/me';
const RIGHT = { login: 'ada', password: 'password of ada' };
const WRONG = { login: 'ada', password: 'something else' };
const CLEARED = ['svc_session=; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=0'];

async function start(changes: Parameters<typeof startHttp>[0] = {}): Promise<TestHttp> {
  const server = await startHttp(changes);
  server.access.addUser('ada', 'responder');
  return server;
}

describe('signing in', () => {
  test.each([
    ['http://oncall.example:8080', true],
    ['https://oncall.example', false],
    ['http://localhost:8080', false],
    ['http://127.0.0.1:8080', false],
    ['http://[::1]:8080', false],
  ])('from a page of %s: that the browser drops its cookie is logged: %s', async (origin, isLogged) => {
    const { send, logged } = await start();
    expect((await send('POST', SESSIONS, { body: RIGHT, headers: { origin } })).status).toBe(201);
    expect(logged.includes('sign_in_not_https')).toBe(isLogged);
  });

  test('answers the session, sets the cookie and writes an entry', async () => {
    const { send, clock, access } = await start();
    const answer = await send('POST', SESSIONS, {
      body: { ...RIGHT, login: 'ADA' },
      headers: { 'user-agent': 'test' },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^svc_session=[\w-]{43}; HttpOnly; Secure; SameSite=Lax; Path=\/$/,
    );
    expect(answer.headers.location).toBeUndefined();
    expect(answer.json).toMatchObject({
      user: { login: 'ada', role: 'responder', sign_in_method: 'local', etag: '"1"', totp_enabled: false },
      state: 'active',
      method: 'local',
      expires_at: formatInstant(clock.now() + 7 * DAY),
      idle_expires_at: formatInstant(clock.now() + 12 * HOUR),
    });
    expect(answer.json.permissions).toHaveLength(12);
    const [, value = ''] = /=([\w-]{43});/.exec(answer.headers['set-cookie']?.[0] ?? '') ?? [];
    expect(answer.text).not.toContain(value);
    expect(access.audit).toMatchObject([
      {
        action: 'session.signed_in',
        actor: { kind: 'user', login: 'ada', transport: 'ui' },
        address: '127.0.0.1',
      },
    ]);
  });

  test('gives each session a value of its own from the source of chance, as it comes', async () => {
    const drawn: Buffer[] = [];
    const random = (size: number) => {
      drawn.push(randomBytes(size));
      return drawn.at(-1) ?? Buffer.alloc(0);
    };
    const { send } = await start({ random });
    for (const count of [1, 2]) {
      drawn.length = 0;
      const cookie = (await send('POST', SESSIONS, { body: RIGHT })).headers['set-cookie']?.[0] ?? '';
      const [, value = ''] = /^svc_session=([^;]*);/.exec(cookie) ?? [];
      const bytes = Buffer.from(value, 'base64url');
      expect([count, bytes.length, drawn.some((one) => one.equals(bytes))]).toEqual([count, 32, true]);
    }
  });

  test('says the same whatever was wrong, and records what', async () => {
    const registry = new Registry();
    const { send, access } = await start({ registry });
    access.changeUser(access.addUser('bob', 'viewer').id, { status: 'disabled' });
    const attempts = [
      WRONG,
      { login: 'nobody', password: 'x' },
      { login: 'bob', password: 'password of bob' },
    ];
    const answers: Received[] = [];
    for (const body of attempts) answers.push(await send('POST', SESSIONS, { body }));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, json: { code: 'invalid_credentials' } });
    expect(answers[0]?.headers['set-cookie']).toBeUndefined();
    expect(access.audit.map(({ action, details }) => [action, details])).toEqual([
      ['session.sign_in_failed', { login: 'ada', address: '127.0.0.1', reason: 'wrong_password' }],
      ['session.sign_in_failed', { login: 'nobody', address: '127.0.0.1', reason: 'unknown_login' }],
      ['session.sign_in_failed', { login: 'bob', address: '127.0.0.1', reason: 'inactive' }],
    ]);
    expect(await registry.metrics()).toContain('svc_login_failures_total{method="local"} 3');
  });

  test('never adopts a value, and ends the session of the cookie sent along', async () => {
    const { send, signIn, access } = await start();
    const first = await signIn('viewer');
    const answer = await send('POST', SESSIONS, { body: RIGHT, headers: { cookie: first.cookie } });
    expect(answer.headers['set-cookie']?.[0]).not.toContain(first.cookie);
    expect(access.sessionsOf(first.userId)).toMatchObject([{ endReason: 'sign_out' }]);
    const planted = `svc_session=${'A'.repeat(43)}`;
    await send('POST', SESSIONS, { body: RIGHT, headers: { cookie: planted } });
    expect((await send('GET', ME, { headers: { cookie: planted } })).status).toBe(401);
  });

  test('is refused for a moment while too many hashes wait, without counting', async () => {
    let full = true;
    const { send } = await start({
      passwords: {
        ...plainPasswords,
        check(stored, password) {
          if (full) throw new HashQueueFullError('full');
          return plainPasswords.check(stored, password);
        },
      },
    });
    const busy = await send('POST', SESSIONS, { body: RIGHT });
    expect([busy.status, busy.headers['retry-after'], busy.json.retry_after_seconds]).toEqual([503, '1', 1]);
    full = false;
    expect((await send('POST', SESSIONS, { body: RIGHT })).status).toBe(201);
  });
});

describe('failed attempts', () => {
  test('slow the account and the source down; the right password passes after the wait', async () => {
    const { send, clock, access } = await start();
    const statuses: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt++) {
      statuses.push((await send('POST', SESSIONS, { body: WRONG })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
    expect(access.audit).toHaveLength(3);

    const throttled = await send('POST', SESSIONS, { body: RIGHT });
    expect([throttled.status, throttled.headers['retry-after']]).toEqual([429, '1']);
    expect(throttled.json).toMatchObject({
      type: 'https://tocsin.invalid/problems/rate-limited',
      retry_after_seconds: 1,
    });
    clock.advance(SECOND);
    expect((await send('POST', SESSIONS, { body: RIGHT })).status).toBe(201);
    expect((await send('POST', SESSIONS, { body: WRONG })).status).toBe(401);
  });

  test('a second attempt on an account is not looked at while one is', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let checks = 0;
    const { send } = await start({
      passwords: {
        ...plainPasswords,
        async check(stored, password) {
          checks++;
          await held;
          return plainPasswords.check(stored, password);
        },
      },
    });
    const both = [send('POST', SESSIONS, { body: RIGHT }), send('POST', SESSIONS, { body: RIGHT })];
    expect((await Promise.race(both)).status).toBe(429);
    release();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 429]);
    expect(checks).toBe(1);
  });
});

describe('a session', () => {
  test('is read in full and belongs to its CSRF token', async () => {
    const { send, signIn } = await start();
    const viewer = await signIn('viewer');
    const answer = await send('GET', CURRENT, { as: viewer });
    expect(answer.json).toMatchObject({
      state: 'active',
      csrf_token: viewer.csrf,
      user: { login: 'viewer' },
    });
    const other = await signIn('admin');
    const crossed = await send('DELETE', CURRENT, { as: { ...viewer, csrf: other.csrf } });
    expect(crossed.json.code).toBe('csrf_invalid');
  });

  test('ends with sign-out: 204, the cookie cleared, then 401 without a code', async () => {
    const { send, signIn, access } = await start();
    const viewer = await signIn('viewer');
    const out = await send('DELETE', CURRENT, { as: viewer });
    expect([out.status, out.headers['set-cookie']]).toEqual([204, CLEARED]);
    expect(access.audit.at(-1)).toMatchObject({ action: 'session.signed_out', actor: { login: 'viewer' } });
    const after = await send('DELETE', CURRENT, { as: viewer });
    // Another tab may have signed in anew while this was under way: its cookie stays.
    expect([after.status, after.json.code, after.headers['set-cookie']]).toEqual([401, undefined, undefined]);
  });

  test('lives 12 hours from its last use, written at most once a minute', async () => {
    const { send, signIn, clock, access } = await start();
    const viewer = await signIn('viewer');
    const usedAt = () => access.sessionsOf(viewer.userId)[0]?.lastUsedAt;
    const begun = clock.now();
    clock.advance(MINUTE - SECOND);
    await send('GET', ME, { as: viewer });
    expect(usedAt()).toBe(begun);
    clock.advance(SECOND);
    await send('GET', ME, { as: viewer });
    expect(usedAt()).toBe(begun + MINUTE);

    clock.advance(12 * HOUR - SECOND);
    expect((await send('GET', ME, { as: viewer })).status).toBe(200);
    clock.advance(12 * HOUR);
    const expired = await send('GET', ME, { as: viewer });
    expect([expired.status, expired.json.code, expired.headers['set-cookie']]).toEqual([
      401,
      'session_expired',
      undefined,
    ]);
  });

  test('lives 7 days however much it is used', async () => {
    const { send, signIn, clock } = await start();
    const viewer = await signIn('viewer');
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      clock.advance(8 * HOUR);
      expect((await send('GET', ME, { as: viewer })).status).toBe(200);
    }
    clock.advance(8 * HOUR);
    expect((await send('GET', ME, { as: viewer })).json.code).toBe('session_expired');
  });

  test.each([
    ['idp_refused', 'oidc_session_ended'],
    ['expired', 'session_expired'],
    ['role_changed', undefined],
  ] as const)('that ended as %s is answered with the code %s', async (endReason, code) => {
    const { send, signIn, access, clock } = await start();
    const viewer = await signIn('viewer');
    for (const { id } of access.sessionsOf(viewer.userId)) {
      access.changeSession(id, { endedAt: clock.now(), endReason });
    }
    const answer = await send('GET', ME, { as: viewer });
    expect([answer.status, answer.json.code]).toEqual([401, code]);
  });

  test('of a disabled user is worth nothing; a changed Role counts at once', async () => {
    const { send, signIn, access } = await start();
    const viewer = await signIn('viewer');
    access.changeUser(viewer.userId, { role: 'admin' });
    expect((await send('GET', '/api/v1/roles', { as: viewer })).status).toBe(200);
    access.changeUser(viewer.userId, { status: 'disabled' });
    expect((await send('GET', ME, { as: viewer })).status).toBe(401);
  });

  test.each(['', 'garbage', 'A'.repeat(43), `${'A'.repeat(43)}=`])(
    'with the cookie value %j is 401',
    async (value) => {
      const { send } = await start();
      const answer = await send('GET', ME, { headers: { cookie: `other=1; svc_session=${value}` } });
      expect([answer.status, answer.json.code, answer.headers['set-cookie']]).toEqual([
        401,
        undefined,
        undefined,
      ]);
    },
  );

  test('an Authorization header of another scheme is ignored', async () => {
    const { send, signIn } = await start();
    const viewer = await signIn('viewer');
    const answer = await send('GET', ME, { as: viewer, headers: { authorization: 'Basic YTpi' } });
    expect(answer.status).toBe(200);
  });
});

test('the other reads of this build answer in their shapes', async () => {
  const { send, signIn } = await start();
  const admin = await signIn('admin');
  const read = async (path: string) => (await send('GET', `/api/v1${path}`, { as: admin })).json;
  expect(await read('/sign-in-options')).toEqual({ oidc: { enabled: false } });
  expect(await read('/me')).toMatchObject({ user: { id: admin.userId }, permissions: expect.any(Array) });
  expect(await read('/roles')).toMatchObject({
    items: [{ name: 'admin' }, { name: 'responder' }, { name: 'viewer' }],
  });
  expect(await read('/user-directory?limit=1')).toMatchObject({
    items: [{ login: 'ada', deactivated: false }],
    next_cursor: null,
  });
});

test.each<[string, string, object]>([
  ['admin', '?connection_id=cnoooooooooooo', { linked: false }],
  ['admin', '', {}],
  ['viewer', '?connection_id=CN000000000000', {}],
])(
  'who is linked with a Connection is told to whom may read users, and asks: %s%s',
  async (role, query, told) => {
    const { send, signIn } = await start();
    const as = await signIn(role as 'admin' | 'viewer');
    const { json } = await send('GET', `/api/v1/user-directory${query}`, { as });
    const { id, name, login } = (json.items as { id: string; name: string; login: string }[])[0] ?? {};
    expect((json.items as object[])[0]).toEqual({ id, name, login, deactivated: false, ...told });
  },
);

test.each([
  ['limit=0', 'out_of_range', '/query/limit'],
  ['limit=501', 'out_of_range', '/query/limit'],
  ['limit=1.5', 'invalid_format', '/query/limit'],
  ['cursor=nonsense', 'invalid_cursor', '/query/cursor'],
])('a list refuses %s with %s', async (query, code, pointer) => {
  const { send, signIn } = await start();
  const answer = await send('GET', `/api/v1/user-directory?${query}`, { as: await signIn('viewer') });
  expect(answer).toMatchObject({ status: 400, json: { errors: [{ pointer, code }] } });
});

test('two sign-ins of one user live side by side', async () => {
  const { send, access } = await start();
  const user = access.addUser('eve', 'viewer');
  const body = { login: 'eve', password: 'password of eve' };
  const one = signedIn(await send('POST', SESSIONS, { body }), user.id);
  const two = signedIn(await send('POST', SESSIONS, { body }), user.id);
  expect(one.cookie).not.toBe(two.cookie);
  for (const session of [one, two]) expect((await send('GET', ME, { as: session })).status).toBe(200);
});

test.each([
  ['an unknown login', { login: 'nobody', password: 'x' }, 1],
  ['a wrong password', WRONG, 1],
  ['a right password', RIGHT, 11],
])('a recovery code is compared behind a right password only: %s', async (_, credentials, hashes) => {
  let checked = 0;
  const check: typeof plainPasswords.check = (...given) => {
    checked++;
    return plainPasswords.check(...given);
  };
  const server = await startHttp({ passwords: { ...plainPasswords, check } });
  const { id } = server.access.addUser('ada', 'responder');
  server.access.enrol(id, {
    seed: Buffer.alloc(20),
    enrolledAt: 0,
    lastStep: null,
    recoveryCodes: ['right'],
  });
  const body = { ...credentials, recovery_code: 'wrong' };
  expect((await server.send('POST', SESSIONS, { body })).status).toBe(401);
  expect(checked).toBe(hashes);
});
