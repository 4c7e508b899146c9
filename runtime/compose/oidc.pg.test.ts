import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../../test/postgres.ts';
import { HOUR } from '../clock.ts';
import { startWithProvider } from './oidc.fixture.ts';

const database = useDatabase();
let lab: Awaited<ReturnType<typeof startWithProvider>>;

beforeEach(async () => {
  lab = await startWithProvider(database.sql());
});

const ANN = { preferred_username: 'ann', name: 'Ann Lee', email: 'ann@example.org', groups: ['ops'] };

describe('the way there and back', () => {
  test('a first sign-in makes the user, with the Role of the groups, and leads to where the person wanted', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const landed = await lab.signIn({ returnTo: '/alert-groups?status=firing' });
    expect(landed).toMatchObject({ status: 302, location: '/alert-groups?status=firing' });
    expect(await lab.sessionOf(landed.cookie)).toMatchObject({
      method: 'oidc',
      state: 'active',
      user: {
        ...{ login: 'ann', name: 'Ann Lee', email: 'ann@example.org', role: 'responder', source: 'oidc' },
        ...{ sign_in_method: 'oidc', oidc_offline_access: true, role_locked: true },
      },
    });
    expect((await lab.audited()).map(({ action }) => action)).toEqual(['user.created', 'session.signed_in']);
  });

  test('the provider is asked with PKCE, state and nonce of 32 bytes each, and the browser keeps the state', async () => {
    await lab.settings({ scopes: ['profile', 'openid', 'groups'] });
    const { status, url, setCookie } = await lab.begin();
    const { origin, searchParams } = new URL(url);
    const asked = Object.fromEntries(searchParams);
    expect([status, origin]).toEqual([302, lab.provider.issuer]);
    expect(asked).toMatchObject({
      response_type: 'code',
      client_id: 'tocsin',
      redirect_uri: 'https://tocsin.test/api/v1/sessions/oidc/callback',
      scope: 'openid profile groups offline_access',
      code_challenge_method: 'S256',
    });
    for (const random of [asked.state, asked.nonce, asked.code_challenge]) {
      expect(random).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
    const attributes = 'HttpOnly; Secure; SameSite=Lax; Path=/api/v1/; Max-Age=600';
    expect(setCookie).toBe(`svc_oidc_state=${asked.state}; ${attributes}`);
  });

  test.each([
    ['//evil.example', '/'],
    ['/\\evil.example', '/'],
    ['https://evil.example', '/'],
    ['/a\u0007b', '/'],
    ['/a\u0000b', '/'],
    [`/${'x'.repeat(2_000)}`, '/'],
    ['/alert-groups?q=ночь', '/alert-groups?q=%D0%BD%D0%BE%D1%87%D1%8C'],
  ])('return_to %j leads to %j', async (returnTo, location) => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    expect(await lab.signIn({ returnTo })).toMatchObject({ location });
  });

  test('while it is off there is no button, nobody is sent away, and who comes back is told so', async () => {
    await lab.settings();
    const { url, state } = await lab.begin();
    lab.visit('sub-1', ANN);
    const callback = await lab.atProvider(url);
    await lab.settings({ enabled: false });
    expect((await lab.send('GET', '/api/v1/sign-in-options')).json).toEqual({ oidc: { enabled: false } });
    expect((await lab.send('GET', '/api/v1/sessions/oidc/start')).json.code).toBe('oidc_not_enabled');
    expect(await lab.land(callback, [state])).toMatchObject({ location: '/sign-in?error=oidc_disabled' });
  });

  test('however many press the button at once, the provider is asked once', async () => {
    await lab.settings();
    const begun = await Promise.all(Array.from({ length: 20 }, () => lab.begin()));
    expect(new Set(begun.map(({ status }) => status))).toEqual(new Set([302]));
    // The provider of the tests asks itself each time that it is asked.
    expect(lab.provider.requests.filter((path) => path.startsWith('/.well-known'))).toHaveLength(2);
  });

  test('a button is named after the provider until it has a name', async () => {
    await lab.settings();
    const options = async () => (await lab.send('GET', '/api/v1/sign-in-options')).json.oidc;
    expect(await options()).toEqual({ enabled: true, display_name: new URL(lab.provider.issuer).host });
    await lab.settings({ display_name: ' Acme ' });
    expect(await options()).toEqual({ enabled: true, display_name: 'Acme' });
  });

  test('a later sign-in finds the same account, whose name and login stay', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const first = await lab.sessionOf((await lab.signIn()).cookie);
    lab.visit('sub-1', { ...ANN, name: 'Ann Miller', preferred_username: 'miller' });
    const landed = await lab.signIn();
    expect(await lab.sessionOf(landed.cookie)).toMatchObject({
      user: { id: first.user.id, login: 'ann', name: 'Ann Lee' },
    });
  });

  test('the session of a cookie that comes along ends', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const before = await lab.signIn();
    const after = await lab.signIn({ cookie: String(before.cookie) });
    expect(after.cookie).not.toBe(before.cookie);
    expect((await lab.send('GET', '/api/v1/me', { headers: { cookie: String(before.cookie) } })).status).toBe(
      401,
    );
  });

  test('groups that only the userinfo endpoint tells are heard', async () => {
    await lab.settings({ groups_claim: 'picture' });
    lab.visit('sub-1', { ...ANN, groups: undefined });
    expect(await lab.signIn()).toMatchObject({ location: '/sign-in?error=no_access' });
    expect(lab.provider.requests).toContain('/me');
    const { json } = await lab.send('GET', '/api/v1/oidc-settings', { as: lab.admin });
    expect(json.warnings).toEqual([{ kind: 'groups_claim_missing' }]);
  });
});

describe('sign-ins that were begun and not finished', () => {
  const pendingOf = (source: string) =>
    lab.sql`select 1 from oidc_requests where source = ${source}`.then((rows) => rows.length);

  test('from one address push out its own oldest ones and nobody else', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const mine = await lab.begin('/routes', '192.0.2.1');
    const [oldest] = [await lab.begin('/', '2001:db8::1')];
    for (let count = 0; count < 120; count++) {
      lab.clock.advance(1);
      await lab.begin('/', `2001:db8::${count}`);
    }
    lab.clock.advance(1);
    const newest = await lab.begin('/integrations', '2001:db8::ffff');
    expect(await pendingOf('source/2001:db8::/64')).toBe(100);

    const land = async ({ url, state }: typeof mine) =>
      (await lab.land(await lab.atProvider(url), [state])).location;
    expect(await land(mine)).toBe('/routes');
    expect(await land(newest)).toBe('/integrations');
    expect(await land(oldest)).toBe('/sign-in?error=invalid_request');
  });

  test('from a hundred thousand addresses keep nobody from signing in', async () => {
    await lab.settings();
    await lab.sql`
      insert into oidc_requests (state_hash, nonce, return_to, expires_at, source)
      select decode(lpad(to_hex(n), 64, '0'), 'hex'), 'n', '/', ${lab.clock.now() + HOUR}, 'source/' || n
      from generate_series(1, 100000) n`;
    lab.visit('sub-1', ANN);
    expect(await lab.signIn()).toMatchObject({ location: '/' });
  });
});

describe('refusals', () => {
  const failing = async (error: string, landing: Promise<{ location: string; cookie: string | null }>) => {
    expect(await landing).toMatchObject({ location: `/sign-in?error=${error}`, cookie: null });
    expect(lab.logged.filter(({ event }) => event === 'oidc_sign_in_failed')).toHaveLength(1);
    const text = await lab.registry.metrics();
    expect(text).toContain('svc_login_failures_total{method="oidc"} 1');
    expect(await lab.audited()).toContainEqual(
      expect.objectContaining({
        ...{ action: 'session.oidc_refused', actor_kind: 'system' },
        details: expect.objectContaining({ reason: error }),
      }),
    );
  };

  test('a nonce of another sign-in', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const alter = (url: URL) => url.searchParams.set('nonce', 'of-somebody-else');
    await failing('invalid_request', lab.signIn({ alter }));
  });

  test('a state that another browser carries, or none', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const { url } = await lab.begin();
    const other = await lab.begin();
    const callback = await lab.atProvider(url);
    await failing('invalid_request', lab.land(callback, [other.state]));
    expect(await lab.land(callback, [])).toMatchObject({ location: '/sign-in?error=invalid_request' });
  });

  test('of one address fill no Audit log', async () => {
    const callback = new URL('https://tocsin.test/api/v1/sessions/oidc/callback?state=made-up&code=x');
    for (let count = 0; count < 50; count++) await lab.land(callback, []);
    expect(await lab.audited()).toHaveLength(3);
  });

  test('a state that was used', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const { url, state } = await lab.begin();
    const callback = await lab.atProvider(url);
    expect(await lab.land(callback, [state])).toMatchObject({ location: '/' });
    await failing('invalid_request', lab.land(callback, [state]));
  });

  test('a state that is ten minutes old', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const { url, state } = await lab.begin();
    const callback = await lab.atProvider(url);
    lab.clock.advance(600_000_000);
    await failing('invalid_request', lab.land(callback, [state]));
  });

  test.each([
    ['parameters that come twice', 'state=a&state=b&code=c'],
    ['a state that nobody can send', 'state=%00&code=c'],
    ['a code that nobody can send', 'state=a&code=%00&error=%00&iss=%00'],
  ])('%s', async (_name, query) => {
    await lab.settings();
    const { state } = await lab.begin();
    const callback = new URL(`https://tocsin.test/api/v1/sessions/oidc/callback?${query}`);
    await failing('invalid_request', lab.land(callback, [state]));
  });

  test('an error of the provider', async () => {
    await lab.settings();
    const { state } = await lab.begin();
    const callback = new URL('https://tocsin.test/api/v1/sessions/oidc/callback');
    callback.searchParams.set('state', state.split('=')[1] ?? '');
    callback.searchParams.set('error', 'access_denied');
    await failing('idp_error', lab.land(callback, [state]));
  });

  test('a code that has expired', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    lab.provider.expireCodes();
    await failing('idp_error', lab.signIn());
  });

  test('a code that somebody else has used with another verifier', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const alter = (url: URL) => url.searchParams.set('code_challenge', 'a'.repeat(43));
    await failing('idp_error', lab.signIn({ alter }));
  });

  test('a wrong client secret, which is in no log', async () => {
    const secret = 'not-the-secret-of-this-client';
    await lab.settings({ client_secret: secret });
    lab.visit('sub-1', ANN);
    await failing('idp_error', lab.signIn());
    expect(JSON.stringify(lab.logged)).not.toContain(secret);
  });

  test('a discovery document of another issuer', async () => {
    await lab.settings();
    lab.provider.discovery = { issuer: 'https://elsewhere.example' };
    expect(await lab.begin()).toMatchObject({ status: 302, url: '/sign-in?error=idp_error' });
  });

  test('an ID token of another issuer', async () => {
    await lab.settings({ issuer_url: `${lab.provider.issuer}/` });
    lab.provider.discovery = {
      issuer: `${lab.provider.issuer}/`,
      authorization_response_iss_parameter_supported: false,
    };
    lab.visit('sub-1', ANN);
    await failing('idp_error', lab.signIn());
  });

  test('keys that signed nothing of this', async () => {
    await lab.settings();
    lab.provider.discovery = { jwks_uri: `${lab.provider.issuer}/none` };
    lab.visit('sub-1', ANN);
    await failing('idp_error', lab.signIn());
  });

  test('a provider that is away', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    lab.provider.broken = ['/token'];
    await failing('idp_error', lab.signIn());
  });

  test.each([
    ['no group that gives a Role', { ...ANN, groups: ['guests'] }],
    ['no groups claim', { preferred_username: 'ann' }],
    ['a claim of another kind', { ...ANN, groups: { ops: true } }],
    ['a group in other letters', { ...ANN, groups: ['OPS'] }],
  ])('%s', async (_, claims) => {
    await lab.settings();
    lab.visit('sub-1', claims);
    await failing('no_access', lab.signIn());
    const [entry] = await lab.audited();
    expect(entry).toMatchObject({
      action: 'session.oidc_refused',
      details: { reason: 'no_access', login: 'ann' },
    });
  });

  test('a login that somebody has, in whatever case: accounts are never joined by it', async () => {
    await lab.settings();
    await lab.sql`update users set login = 'ANN', login_folded = 'ann' where id = ${lab.admin.userId}`;
    lab.visit('sub-1', ANN);
    await failing('login_taken', lab.signIn());
  });

  test.each(['disabled', 'deleted'])('an account that is %s', async (status) => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const { user } = await lab.sessionOf((await lab.signIn()).cookie);
    await lab.sql`update users set status = ${status} where id = ${user.id}`;
    await failing('account_disabled', lab.signIn());
  });
});

describe('Roles', () => {
  test('the highest Role of several groups wins, whatever the order of the mappings', async () => {
    await lab.settings();
    lab.visit('sub-1', { ...ANN, groups: ['ops', 'root'] });
    expect(await lab.sessionOf((await lab.signIn()).cookie)).toMatchObject({ user: { role: 'admin' } });
  });

  test('whom no group gives a Role gets the one for them', async () => {
    await lab.settings({ unmatched_role: 'viewer' });
    lab.visit('sub-1', { ...ANN, groups: [] });
    expect(await lab.sessionOf((await lab.signIn()).cookie)).toMatchObject({ user: { role: 'viewer' } });
  });

  test('with sync on a sign-in changes the Role and ends the other sessions', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const first = await lab.sessionOf((await lab.signIn()).cookie);
    lab.visit('sub-1', { ...ANN, groups: ['root'] });
    expect(await lab.sessionOf((await lab.signIn()).cookie)).toMatchObject({ user: { role: 'admin' } });
    expect((await lab.endings(first.user.id)).sort()).toEqual([null, 'role_changed']);
    expect((await lab.audited()).map(({ action }) => action)).toContain('user.role_changed');
  });

  test('with sync off it changes nothing, but somebody without a Role stays out', async () => {
    await lab.settings({ sync_role: false });
    lab.visit('sub-1', ANN);
    await lab.signIn();
    lab.visit('sub-1', { ...ANN, groups: ['root'] });
    expect(await lab.sessionOf((await lab.signIn()).cookie)).toMatchObject({
      user: { role: 'responder', role_locked: false },
    });
    lab.visit('sub-1', { ...ANN, groups: [] });
    expect(await lab.signIn()).toMatchObject({ location: '/sign-in?error=no_access' });
  });

  test('the last active Admin stays one, which is told once and shown until it is over', async () => {
    await lab.settings();
    lab.visit('sub-1', { ...ANN, groups: ['root'] });
    const { user } = await lab.sessionOf((await lab.signIn()).cookie);
    await lab.sql`update users set role = 'viewer' where id = ${lab.admin.userId}`;
    lab.visit('sub-1', ANN);
    const kept = await lab.signIn();
    await lab.signIn();
    expect(await lab.sessionOf(kept.cookie)).toMatchObject({ user: { role: 'admin' } });
    const told = (await lab.audited()).filter(({ action }) => action === 'user.role_sync_kept_admin');
    expect(told.map(({ details }) => details)).toEqual([{ mapped_role: 'responder', at: 'sign_in' }]);

    await lab.sql`update users set role = 'admin' where id = ${lab.admin.userId}`;
    const warnings = async () =>
      (await lab.send('GET', '/api/v1/oidc-settings', { as: lab.admin })).json.warnings;
    expect(await warnings()).toMatchObject([
      { kind: 'last_admin_kept', user: { id: user.id }, role: 'responder' },
    ]);
    await lab.signIn();
    expect(await warnings()).toEqual([]);
  });

  test('saving whether the provider decides Roles locks and unlocks those of its people', async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const { cookie } = await lab.signIn();
    const isLocked = async () => (await lab.sessionOf(cookie)).user.role_locked;
    expect(await isLocked()).toBe(true);
    await lab.settings({ sync_role: false });
    expect(await isLocked()).toBe(false);
    await lab.settings({ sync_role: true });
    expect(await isLocked()).toBe(true);
  });
});

describe('second factors', () => {
  const enrolled = async (amr?: readonly string[]) => {
    lab.visit('sub-1', ANN, amr);
    const { user } = await lab.sessionOf((await lab.signIn()).cookie);
    const seed = lab.sealer.seal('user.totp_seed', user.id, 'a seed');
    await lab.sql`
      update users set totp_seed = ${seed}, totp_enrolled_at = ${lab.clock.now()} where id = ${user.id}`;
    return (await lab.sessionOf((await lab.signIn()).cookie)).state;
  };

  test.each([
    [false, ['pwd', 'otp'], 'totp_required'],
    [true, ['pwd', 'otp'], 'active'],
    [true, ['mfa'], 'active'],
    [true, ['pwd'], 'totp_required'],
    [true, undefined, 'totp_required'],
  ] as const)('skipping it %s, signed in there by %j: %s', async (skip, amr, state) => {
    await lab.settings({ skip_totp_with_idp_mfa: skip });
    expect(await enrolled(amr)).toBe(state);
  });

  test.each([
    ['everyone', 'totp_enrolment_required'],
    ['local_users', 'active'],
  ])('a policy for %s makes the session of somebody without one %s', async (policy, state) => {
    await lab.settings({ skip_totp_with_idp_mfa: true });
    await lab.sql`
      update organization set settings = settings || jsonb_build_object('totp_required', ${policy}::text)`;
    lab.visit('sub-1', ANN, ['mfa']);
    expect((await lab.sessionOf((await lab.signIn()).cookie)).state).toBe(state);
  });
});
