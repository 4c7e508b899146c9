import { beforeEach, describe, expect, test } from 'vitest';
import { TOKENS_PER_OWNER } from '../../../actors/access/api-tokens.ts';
import type { RefusedProof } from '../../../actors/access/refused-proofs.ts';
import type { RoleName } from '../../../actors/access/user.ts';
import { DAY, formatInstant, MINUTE, SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import {
  createApiTokens,
  createPersonalTokens,
  revokeTokensOfUser,
} from '../../../storage/access/api-tokens.ts';
import { createServiceAccountStore } from '../../../storage/access/service-accounts.ts';
import { firstStart, noSeeds, recordedAudit } from '../../../test/configuration.ts';
import { until } from '../../../test/harness/until.ts';
import { type SignedIn, startHttp } from '../../../test/http-server.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { storedSession, storedUser } from '../../../test/signed-in.ts';
import { personalTokenOperations } from './api-tokens.ts';
import { serviceAccountOperations } from './service-accounts.ts';

const database = useDatabase();

const MINE = '/api/v1/me/personal-access-tokens';
const ACCOUNTS = '/api/v1/service-accounts';

beforeEach(() => firstStart(database.sql()));

async function start() {
  const sql = database.sql();
  const { appendAudit, entries } = recordedAudit();
  const refused: RefusedProof[] = [];
  const server = await startHttp({
    access: createAccessStore({ sql, appendAudit, ...noSeeds }),
    tokens: createApiTokens({ sql, log: silentLog }),
    refusedProofs: { note: (one) => void refused.push(one) },
    operations: [
      personalTokenOperations(createPersonalTokens(sql, appendAudit)),
      serviceAccountOperations(createServiceAccountStore(sql, appendAudit)),
    ],
  });
  const person = async (role: RoleName) =>
    storedSession(sql, await storedUser(sql, role, server.clock.now()), server);
  const bearer = (value: unknown, method = 'GET', path = '/api/v1/me', body?: unknown) =>
    server.send(method, path, { body, headers: { authorization: `Bearer ${value}` } });
  const issue = async (as: SignedIn, permissions: readonly string[], more: object = {}) => {
    const answer = await server.send('POST', MINE, { as, body: { name: 'ci', permissions, ...more } });
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.json as { value: string; token: { id: string } };
  };
  const account = async (as: SignedIn, name: string, role: RoleName) => {
    const made = await server.send('POST', ACCOUNTS, { as, body: { name, role } });
    const path = `${ACCOUNTS}/${made.json.id}`;
    const { json } = await server.send('POST', `${path}/tokens`, { as, body: { name: 'deploy' } });
    return { path, etag: String(made.json.etag), value: String(json.value) };
  };
  return { ...server, sql, person, bearer, issue, account, entries, refused };
}

describe('a Personal access token', () => {
  test('is shown once, works at once as its owner, and is listed without its value', async () => {
    const { person, issue, bearer, send, sql, entries } = await start();
    const ann = await person('responder');
    const { value, token } = await issue(ann, ['alerts:read', 'alert-groups:read', 'alerts:read']);
    expect(value).toMatch(/^svc_pat_[a-z2-7]{52}$/);
    expect(token).toMatchObject({ permissions: ['alert-groups:read', 'alerts:read'], expires_at: null });

    const me = await bearer(value);
    expect(me.json).toMatchObject({
      user: { id: ann.userId },
      permissions: ['alert-groups:read', 'alerts:read'],
    });
    const list = await send('GET', MINE, { as: ann });
    expect(list.json.items).toMatchObject([{ id: token.id, name: 'ci' }]);
    const [stored] = await sql`select hash from api_tokens`;
    expect(list.text + JSON.stringify(entries)).not.toContain(value.slice(8));
    expect(list.text).not.toContain(stored?.hash.toString('hex'));
    expect(entries.map(({ action }) => action)).toEqual(['api_token.created']);
    expect(entries[0]?.details).toMatchObject({ owner: { kind: 'user', id: ann.userId } });
  });

  test.each([
    [
      'a Permission that the creator lacks',
      { permissions: ['alerts:read', 'users:write'] },
      422,
      ['/permissions/1', 'permission_not_held'],
    ],
    ['no Permission', { permissions: [] }, 400, ['/permissions', 'too_short']],
    ['an unknown Permission', { permissions: ['alerts:eat'] }, 400, ['/permissions/0', 'invalid_format']],
    ['a blank name', { name: ' ' }, 422, ['/name', 'required']],
    ['an empty name', { name: '' }, 400, ['/name', 'too_short']],
    ['201 characters of name', { name: 'n'.repeat(201) }, 422, ['/name', 'too_long']],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 422, ['/expires_at', 'out_of_range']],
    ['an end that is no time', { expires_at: 'soon' }, 400, ['/expires_at', 'invalid_format']],
  ])('with %s is refused', async (_name, change, status, [pointer, code]) => {
    const { person, send } = await start();
    const body = { name: 'ci', permissions: ['alerts:read'], ...change };
    const answer = await send('POST', MINE, { as: await person('responder'), body });
    expect(answer).toMatchObject({ status, json: { errors: [{ pointer, code }] } });
  });

  test('ends at its expiry, stays listed, and is refused when revoked, by others too', async () => {
    const { person, issue, bearer, send, clock } = await start();
    const ann = await person('viewer');
    const short = await issue(ann, ['alerts:read'], { expires_at: formatInstant(clock.now() + MINUTE) });
    const long = await issue(ann, ['alerts:read']);
    expect((await bearer(short.value)).status).toBe(200);
    clock.advance(MINUTE);
    expect(await bearer(short.value)).toMatchObject({ status: 401, json: { code: 'invalid_credentials' } });
    expect((await send('GET', MINE, { as: ann })).json.items).toHaveLength(2);

    const stranger = await person('admin');
    expect((await send('DELETE', `${MINE}/${long.token.id}`, { as: stranger })).status).toBe(404);
    expect((await bearer(long.value)).status).toBe(200);
    expect((await send('DELETE', `${MINE}/${long.token.id}`, { as: ann })).status).toBe(204);
    expect((await bearer(long.value)).status).toBe(401);
    expect((await send('DELETE', `${MINE}/${long.token.id}`, { as: ann })).status).toBe(404);
  });

  test('works no longer once its owner is disabled, deleted, or holds less', async () => {
    const { person, issue, bearer, sql, refused } = await start();
    const ann = await person('admin');
    const { value, token } = await issue(ann, ['users:read', 'alerts:read']);
    await sql`update users set role = 'viewer' where id = ${ann.userId}`;
    expect((await bearer(value)).json.permissions).toEqual(['alerts:read']);
    expect((await bearer(value, 'GET', '/api/v1/roles')).status).toBe(403);
    await sql`update users set status = 'disabled' where id = ${ann.userId}`;
    expect((await bearer(value)).status).toBe(401);
    await sql`update users set status = 'active', role = 'admin' where id = ${ann.userId}`;
    expect((await bearer(value)).json.permissions).toEqual(['alerts:read', 'users:read']);
    expect(await sql.begin((tx) => revokeTokensOfUser(tx, ann.userId, 1))).toBe(1);
    expect((await bearer(value)).status).toBe(401);
    const of = { kind: 'api_token', address: '127.0.0.1' };
    expect(refused).toEqual([
      { ...of, reason: 'owner_inactive', resourceId: token.id },
      { ...of, reason: 'unknown', resourceId: null },
    ]);
  });

  test(`is refused as number ${TOKENS_PER_OWNER + 1}`, async () => {
    const { person, issue, send, sql } = await start();
    const ann = await person('viewer');
    await sql`
      insert into api_tokens (id, user_id, name, permissions, hash, created_at)
      select 'PT' || n, ${ann.userId}, 'old', '{alerts:read}', n::text::bytea, 0
      from generate_series(1, ${TOKENS_PER_OWNER - 1}) n`;
    const last = await issue(ann, ['alerts:read']);
    const body = { name: 'one more', permissions: ['alerts:read'] };
    const refused = await send('POST', MINE, { as: ann, body });
    expect(refused).toMatchObject({ status: 422, json: { errors: [{ pointer: '', code: 'out_of_range' }] } });
    await send('DELETE', `${MINE}/${last.token.id}`, { as: ann });
    expect((await send('POST', MINE, { as: ann, body })).status).toBe(201);
  });

  test('notes when and from where it was used, once a minute', async () => {
    const { person, issue, bearer, send, clock } = await start();
    const ann = await person('viewer');
    const { value } = await issue(ann, ['alerts:read']);
    const used = async () => {
      const { json } = await send('GET', MINE, { as: ann });
      return (json.items as { last_used_at: string | null; last_used_address: string | null }[])[0];
    };
    expect(await used()).toMatchObject({ last_used_at: null, last_used_address: null });
    const first = formatInstant(clock.now());
    await bearer(value);
    await until('the use is written', async () => (await used())?.last_used_at === first);
    expect((await used())?.last_used_address).toBe('127.0.0.1');
    clock.advance(59 * SECOND);
    await bearer(value);
    clock.advance(SECOND);
    await bearer(value);
    await until(
      'the next use is written',
      async () => (await used())?.last_used_at === formatInstant(clock.now()),
    );
  });

  test('can mint and revoke nothing, change nothing of the profile, and read its owner', async () => {
    const { person, issue, bearer } = await start();
    const ann = await person('admin');
    const { value, token } = await issue(ann, ['service-accounts:write', 'service-accounts:read']);
    const body = { name: 'x', permissions: ['service-accounts:read'] };
    for (const [method, path] of [
      ['POST', MINE],
      ['DELETE', `${MINE}/${token.id}`],
      ['POST', `${ACCOUNTS}/SA000000000001/tokens`],
      ['DELETE', `${ACCOUNTS}/SA000000000001/tokens/ST000000000001`],
    ] as const) {
      const answer = await bearer(value, method, path, body);
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'session_required']);
    }
    expect((await bearer(value, 'GET', MINE)).status).toBe(200);
  });
});

describe('a Service account', () => {
  test('goes through its life with an entry for every step', async () => {
    const { person, bearer, send, account, entries } = await start();
    const as = await person('admin');
    const { path, etag, value } = await account(as, ' deploy-bot ', 'responder');
    expect((await send('GET', path, { as })).json).toMatchObject({
      ...{ name: 'deploy-bot', role: 'responder', status: 'active', token_count: 1, etag },
    });
    expect(value).toMatch(/^svc_sat_[a-z2-7]{52}$/);
    expect((await bearer(value, 'GET', '/api/v1/user-directory')).status).toBe(200);
    expect(await bearer(value)).toMatchObject({
      status: 403,
      json: { code: 'service_account_not_allowed' },
    });

    const change = { name: 'deploy-bot', role: 'viewer' };
    expect((await send('PUT', path, { as, body: change })).status).toBe(428);
    const put = (ifMatch: string, body: object) =>
      send('PUT', path, { as, body, headers: { 'if-match': ifMatch } });
    expect((await put('"7"', change)).status).toBe(412);
    expect((await put('"7"', { ...change, name: ' ' })).status).toBe(412);
    const saved = await put(etag, change);
    expect(saved).toMatchObject({ status: 200, json: { role: 'viewer' } });
    expect((await put(String(saved.headers.etag), change)).headers.etag).toBe(saved.headers.etag);

    expect((await send('POST', `${path}/disable`, { as })).json.status).toBe('disabled');
    expect((await send('POST', `${path}/disable`, { as })).status).toBe(200);
    expect((await bearer(value, 'GET', '/api/v1/user-directory')).status).toBe(401);
    const waiting = await send('POST', `${path}/tokens`, { as, body: { name: 'for later' } });
    expect((await send('POST', `${path}/enable`, { as })).json.status).toBe('active');
    expect((await bearer(waiting.json.value, 'GET', '/api/v1/user-directory')).status).toBe(200);

    expect((await send('DELETE', path, { as, headers: { 'if-match': '"99"' } })).status).toBe(412);
    expect((await send('DELETE', path, { as })).status).toBe(204);
    expect((await bearer(value, 'GET', '/api/v1/user-directory')).status).toBe(401);
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/tokens'],
      ['DELETE', ''],
      ['POST', '/enable'],
    ] as const) {
      expect((await send(method, path + suffix, { as })).status).toBe(404);
    }
    expect(entries.map(({ action, details }) => [action, details.tokens_revoked])).toEqual([
      ['service_account.created', undefined],
      ['api_token.created', undefined],
      ['service_account.updated', undefined],
      ['service_account.disabled', undefined],
      ['api_token.created', undefined],
      ['service_account.enabled', undefined],
      ['service_account.deleted', 2],
    ]);
  });

  test('has a name of its own in any case, until it is deleted', async () => {
    const { person, send, account } = await start();
    const as = await person('admin');
    const { path } = await account(as, 'Deploy', 'viewer');
    const again = () => send('POST', ACCOUNTS, { as, body: { name: 'dEPLOY', role: 'viewer' } });
    expect(await again()).toMatchObject({ status: 409, json: { code: 'name_taken' } });
    await send('DELETE', path, { as });
    expect((await again()).status).toBe(201);
  });

  test('is listed by age, page by page', async () => {
    const { person, send, account, clock } = await start();
    const as = await person('admin');
    for (const name of ['c', 'a', 'b']) {
      await account(as, name, 'viewer');
      clock.advance(SECOND);
    }
    const first = (await send('GET', `${ACCOUNTS}?limit=2`, { as })).json;
    const rest = (await send('GET', `${ACCOUNTS}?limit=2&cursor=${first.next_cursor}`, { as })).json;
    const names = (page: typeof first) => (page.items as { name: string }[]).map(({ name }) => name);
    expect([names(first), names(rest), rest.next_cursor]).toEqual([['c', 'a'], ['b'], null]);
  });

  test('gets only a Role that the token of its maker holds in full', async () => {
    const { person, issue, bearer, send, entries } = await start();
    const ann = await person('admin');
    const viewing = ['alert-groups:read', 'alerts:read', 'integrations:read', 'routes:read'];
    const rest = ['connections:read', 'destinations:read', 'link-rules:read', 'lookup-tables:read'];
    const { value, token } = await issue(ann, ['service-accounts:write', ...viewing, ...rest]);
    const make = (name: string, role: RoleName) => bearer(value, 'POST', ACCOUNTS, { name, role });
    expect(await make('much', 'responder')).toMatchObject({
      status: 422,
      json: { errors: [{ pointer: '/role', code: 'permission_not_held' }] },
    });
    const made = await make('little', 'viewer');
    expect(made.status).toBe(201);
    const path = `${ACCOUNTS}/${made.json.id}`;
    const raise = await send('PUT', path, {
      body: { name: 'little', role: 'admin' },
      headers: { authorization: `Bearer ${value}`, 'if-match': String(made.json.etag) },
    });
    expect(raise).toMatchObject({ status: 422, json: { errors: [{ pointer: '/role' }] } });
    expect(entries.at(-1)?.actor).toMatchObject({
      ...{ kind: 'user', id: ann.userId, tokenId: token.id, tokenName: 'ci', transport: 'api' },
    });
  });
});

test('200 requests at once with one token: the first hundred pass, the rest wait their turn', async () => {
  const { person, issue, bearer, clock } = await start();
  const { value } = await issue(await person('viewer'), ['alerts:read']);
  const answers = await Promise.all(Array.from({ length: 200 }, () => bearer(value)));
  const passed = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status === 429);
  expect([passed.length, refused.length]).toEqual([100, 100]);
  expect(refused[0]).toMatchObject({ headers: { 'retry-after': '1' }, json: { retry_after_seconds: 1 } });
  clock.advance(SECOND);
  const later = await Promise.all(Array.from({ length: 30 }, () => bearer(value)));
  expect(later.filter(({ status }) => status === 200)).toHaveLength(20);
});

test.each(['', 'svc_pat_short', `svc_int_${'a'.repeat(52)}`, `svc_pat_${'A'.repeat(52)}`, 'a b'])(
  'what has not the form of an API token (%j) is 401 without a look',
  async (value) => {
    const { bearer } = await start();
    const answer = await bearer(value);
    expect(answer).toMatchObject({ status: 401, json: { code: 'invalid_credentials' } });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  },
);

test('a token lives as long as it says', async () => {
  const { person, issue, bearer, clock } = await start();
  const { value } = await issue(await person('viewer'), ['alerts:read'], {
    expires_at: formatInstant(clock.now() + 30 * DAY),
  });
  clock.advance(30 * DAY - 1);
  expect((await bearer(value)).status).toBe(200);
  clock.advance(1);
  expect((await bearer(value)).status).toBe(401);
});
