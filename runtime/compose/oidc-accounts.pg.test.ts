import { beforeEach, describe, expect, test } from 'vitest';
import type { Transaction } from '../../storage/postgres/records.ts';
import { whileLocked } from '../../test/harness/lock-race.ts';
import type { SignedIn } from '../../test/http-server.ts';
import { useDatabase } from '../../test/postgres.ts';
import { DAY, HOUR, MINUTE } from '../clock.ts';
import { startWithProvider } from './oidc.fixture.ts';

const database = useDatabase();
let lab: Awaited<ReturnType<typeof startWithProvider>>;

beforeEach(async () => {
  lab = await startWithProvider(database.sql());
});

const ANN = { preferred_username: 'ann', name: 'Ann Lee', groups: ['ops'] };
const NEXT_CHECK = 15 * MINUTE;

describe('linking an account', () => {
  const statusOf = async (as: SignedIn) => (await lab.send('GET', '/api/v1/me', { as })).json.user;

  test('takes the password, the other sessions and open setup links, and gives the Role of the groups', async () => {
    await lab.settings();
    const bob = await lab.person('viewer');
    const elsewhere = await lab.another(bob);
    await lab.sql`update users set password_hash = 'hash' where id = ${bob.userId}`;
    await lab.sql`
      insert into password_setup_links (hash, user_id, created_at, expires_at)
      values ('\\x00', ${bob.userId}, ${lab.clock.now()}, ${lab.clock.now() + DAY})`;
    lab.visit('sub-b', { ...ANN, groups: ['ops'] });
    expect(await lab.link(bob)).toMatchObject({ location: '/profile' });
    expect(await statusOf(bob)).toMatchObject({ sign_in_method: 'oidc', role: 'responder', source: 'local' });
    expect((await lab.send('GET', '/api/v1/me', { as: elsewhere })).status).toBe(401);
    const [row] = await lab.sql`
      select password_hash, (select ended_at from password_setup_links) as ended_at from users where id = ${bob.userId}`;
    expect(row).toMatchObject({ password_hash: null, ended_at: lab.clock.now() });
    expect(await lab.sessionOf(bob.cookie)).toMatchObject({ method: 'oidc' });
    expect((await lab.audited()).map(({ action }) => action)).toEqual([
      'user.oidc_linked',
      'user.role_changed',
    ]);
    expect(await lab.sessionOf((await lab.signIn()).cookie)).toMatchObject({ user: { id: bob.userId } });
  });

  test('without an offline token the session that linked lives for 12 hours', async () => {
    await lab.settings();
    lab.provider.offline = false;
    const bob = await lab.person('viewer');
    lab.visit('sub-b', ANN);
    const before = lab.clock.now();
    await lab.link(bob);
    const { expires_at } = await lab.sessionOf(bob.cookie);
    expect(Date.parse(expires_at) * 1_000).toBe(before + 12 * HOUR);
  });

  test.each([
    ['an identity that somebody has', 'identity_linked_elsewhere', ANN],
    ['groups that give no Role', 'no_access', { ...ANN, groups: [] }],
  ])('%s is refused', async (_, error, claims) => {
    await lab.settings();
    if (error === 'identity_linked_elsewhere') {
      lab.visit('sub-b', ANN);
      await lab.signIn();
    }
    const bob = await lab.person('viewer');
    lab.visit('sub-b', claims);
    expect(await lab.link(bob)).toMatchObject({ location: `/profile?error=${error}`, cookie: null });
    expect(await statusOf(bob)).toMatchObject({ sign_in_method: 'local', role: 'viewer' });
    const told = (await lab.audited()).at(-1);
    expect(told).toMatchObject({
      action: 'user.oidc_link_refused',
      actor_kind: 'user',
      details: { reason: error },
    });
  });

  test('another session than the one that began brings nothing about', async () => {
    await lab.settings();
    const bob = await lab.person('viewer');
    const carol = await lab.person('viewer');
    lab.visit('sub-b', ANN);
    expect(await lab.link(bob, carol.cookie)).toMatchObject({ location: '/profile?error=invalid_request' });
    expect(await lab.link(bob, '')).toMatchObject({ location: '/profile?error=invalid_request' });
    expect(await statusOf(bob)).toMatchObject({ sign_in_method: 'local' });
  });

  test('a session that ended while the provider was asked brings nothing about', async () => {
    await lab.settings();
    const bob = await lab.person('viewer');
    lab.visit('sub-b', ANN);
    const end = async (tx: Transaction) => {
      await tx`select 1 from users where id = ${bob.userId} for update`;
      await tx`update sessions set ended_at = 1, end_reason = 'totp_reset' where user_id = ${bob.userId}`;
    };
    const landed = await whileLocked(lab.sql, end, () => lab.link(bob));
    expect(landed).toMatchObject({ location: '/profile?error=invalid_request' });
    expect(await lab.sql`select oidc_subject from users where id = ${bob.userId}`).toEqual([
      { oidc_subject: null },
    ]);
  });

  test('begins only while single sign-on is on, for an account without an identity, with the provider there', async () => {
    const bob = await lab.person('viewer');
    const begin = async (as: SignedIn) => {
      const { status, json } = await lab.send('POST', '/api/v1/me/oidc-identity', { as });
      return [status, json.code ?? json.retry_after_seconds ?? null];
    };
    expect(await begin(bob)).toEqual([409, 'oidc_not_enabled']);
    await lab.settings();
    lab.provider.broken = ['/.well-known'];
    expect(await begin(bob)).toEqual([503, 5]);
    lab.provider.broken = [];
    lab.visit('sub-b', ANN);
    await lab.link(bob);
    expect(await begin(bob)).toEqual([409, 'oidc_already_linked']);
  });
});

describe('asking the provider about people who are away', () => {
  /** Signed in with an offline token, and due. */
  const due = async () => {
    await lab.settings();
    lab.visit('sub-1', ANN);
    const landed = await lab.signIn();
    const { user } = await lab.sessionOf(landed.cookie);
    lab.clock.advance(NEXT_CHECK);
    return { id: user.id, cookie: String(landed.cookie) };
  };
  const meOf = (cookie: string) => lab.send('GET', '/api/v1/me', { headers: { cookie } });
  const counted = async (outcome: string) =>
    (await lab.registry.metrics()).match(`svc_oidc_checks_total{outcome="${outcome}"} (\\d+)`)?.[1];
  const tokenTimes = async () =>
    lab.sql`select offline_token_at, oidc_check_at from users where oidc_subject = 'sub-1'`;

  test('it vouches for them: the session goes on, the next token is kept, the next time is in a quarter of an hour', async () => {
    const { cookie } = await due();
    await lab.oidc.rechecks.round();
    expect((await meOf(cookie)).status).toBe(200);
    expect(await counted('ok')).toBe('1');
    const now = lab.clock.now();
    expect(await tokenTimes()).toMatchObject([{ offline_token_at: now, oidc_check_at: now + NEXT_CHECK }]);
    await lab.oidc.rechecks.round();
    expect(await counted('ok')).toBe('1');
    lab.clock.advance(NEXT_CHECK);
    await lab.oidc.rechecks.round();
    expect(await counted('ok')).toBe('2');
  });

  test('nobody is asked about who has nothing open', async () => {
    const { cookie } = await due();
    await lab.send('DELETE', '/api/v1/sessions/current', {
      headers: { cookie, 'x-csrf-token': (await lab.sessionOf(cookie)).csrf_token },
    });
    const before = lab.provider.requests.length;
    await lab.oidc.rechecks.round();
    expect(lab.provider.requests.slice(before)).toEqual([]);
  });

  test('it refuses them: everything ends until the next sign-in through it', async () => {
    const { id, cookie } = await due();
    lab.provider.isKnown = false;
    await lab.oidc.rechecks.round();
    expect((await meOf(cookie)).json.code).toBe('oidc_session_ended');
    expect(await lab.endings(id)).toEqual(['idp_refused']);
    expect(await tokenTimes()).toMatchObject([{ offline_token_at: null, oidc_check_at: null }]);
    expect((await lab.audited()).at(-1)).toMatchObject({ action: 'user.oidc_refused', actor_kind: 'system' });
    lab.provider.isKnown = true;
    expect((await meOf(String((await lab.signIn()).cookie))).status).toBe(200);
  });

  test('a token that it does not know any more is a refusal', async () => {
    const { cookie } = await due();
    lab.provider.forgetEverything();
    await lab.oidc.rechecks.round();
    expect((await meOf(cookie)).json.code).toBe('oidc_session_ended');
    expect(await counted('refused')).toBe('1');
  });

  test('while it is away nothing changes, and the next time is in a quarter of an hour', async () => {
    const { cookie } = await due();
    const before = await tokenTimes();
    lab.provider.broken = ['/token'];
    await lab.oidc.rechecks.round();
    expect((await meOf(cookie)).status).toBe(200);
    expect(await counted('unavailable')).toBe('1');
    const [{ offline_token_at } = {}] = await tokenTimes();
    expect(offline_token_at).toBe(before[0]?.offline_token_at);
  });

  test('other groups give another Role; none that gives a Role is a refusal', async () => {
    const { id } = await due();
    lab.visit('sub-1', { ...ANN, groups: ['root'] });
    await lab.oidc.rechecks.round();
    const [row] = await lab.sql`select role from users where id = ${id}`;
    expect(row?.role).toBe('admin');
    expect(await lab.endings(id)).toEqual(['role_changed']);

    await lab.signIn();
    lab.clock.advance(NEXT_CHECK);
    lab.visit('sub-1', { ...ANN, groups: [] });
    await lab.oidc.rechecks.round();
    expect((await lab.endings(id)).sort()).toEqual(['idp_refused', 'role_changed']);
  });

  test('the token of one provider is shown to no other', async () => {
    await due();
    const other = await lab.anotherProvider();
    await lab.settings({ issuer_url: other.issuer });
    await lab.oidc.rechecks.round();
    expect(other.requests).not.toContain('/token');
    expect(await tokenTimes()).toMatchObject([{ offline_token_at: null }]);
  });

  test('while single sign-on is off nobody is asked', async () => {
    const { cookie } = await due();
    await lab.settings({ enabled: false });
    await lab.oidc.rechecks.round();
    expect(await counted('skipped')).toBe('1');
    expect((await meOf(cookie)).status).toBe(200);
  });

  test('without an offline token sessions end after 12 hours, and nobody is asked', async () => {
    await lab.settings();
    lab.provider.offline = false;
    lab.visit('sub-1', ANN);
    const { cookie } = await lab.signIn();
    expect(Date.parse((await lab.sessionOf(cookie)).expires_at) * 1_000).toBe(lab.clock.now() + 12 * HOUR);
    lab.clock.advance(NEXT_CHECK);
    await lab.oidc.rechecks.round();
    expect(await counted('ok')).toBe('0');
  });
});

describe('Personal access tokens of people of the provider', () => {
  const GRACE = 604_800 * 1_000_000;
  const withToken = async (offline: boolean) => {
    await lab.settings();
    lab.provider.offline = offline;
    lab.visit('sub-1', ANN);
    const { user } = await lab.sessionOf((await lab.signIn()).cookie);
    const value = await lab.storedToken(user.id);
    const ask = async () => {
      const answer = await lab.send('GET', '/api/v1/me', { headers: { authorization: `Bearer ${value}` } });
      return answer.status === 200 ? 'works' : answer.json.code;
    };
    return { ask, id: user.id };
  };

  test('without an offline token they outlive the last sign-in by the grace, and work again after the next', async () => {
    const { ask } = await withToken(false);
    lab.clock.advance(GRACE);
    expect(await ask()).toBe('works');
    lab.clock.advance(1);
    expect(await ask()).toBe('oidc_recheck_required');
    await lab.signIn();
    expect(await ask()).toBe('works');
  });

  test('with one they work for as long as the provider does not refuse, which is asked for a token alone, too', async () => {
    const { ask } = await withToken(true);
    lab.clock.advance(GRACE + DAY);
    expect(await ask()).toBe('works');
    lab.provider.forgetEverything();
    await lab.oidc.rechecks.round();
    expect(await ask()).toBe('oidc_recheck_required');
  });
});
