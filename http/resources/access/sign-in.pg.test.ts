import { beforeEach, expect, test } from 'vitest';
import { createPasswords } from '../../../actors/access/passwords.ts';
import type { RoleName } from '../../../actors/access/user.ts';
import { SECOND, systemClock } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring } from '../../../runtime/secrets/keyring.ts';
import { csrfToken, verifyCsrfToken } from '../../../runtime/secrets/signed-tokens.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import { ensureAccess } from '../../../storage/access/ensure-access.ts';
import { connect, isUnavailable } from '../../../storage/postgres/connection.ts';
import { noSeeds, recordedAudit } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { signedIn, startHttp } from '../../../test/http-server.ts';
import { useDatabase } from '../../../test/postgres.ts';

const database = useDatabase();

const ADA = { login: 'ada@example.org', password: 'correct horse battery' };
const NOW = 1_791_020_467_000_000;

beforeEach(async () => {
  await empty(database.sql(), 'organization', 'users', 'sessions', 'login_throttles');
});

/** The server on the real store, hashes and keys, with the bootstrap Admin in place. */
async function start() {
  const { appendAudit, actions } = recordedAudit();
  const passwords = createPasswords(systemClock);
  const bootstrap = { bootstrap: ADA, hash: passwords.hash, appendAudit, now: NOW, log: silentLog };
  await database.sql().begin((tx) => ensureAccess(tx, bootstrap));
  const keyring = createKeyring(
    [{ id: 'k-0000000000000001', bytes: Buffer.alloc(32, 7) }],
    'k-0000000000000001',
  );
  const server = await startHttp({
    access: createAccessStore({ sql: database.sql(), appendAudit, keyring, log: silentLog }),
    passwords,
    csrf: {
      issue: (session) => csrfToken(keyring, session),
      verify: (session, token) => verifyCsrfToken(keyring, session, token),
    },
    isUnavailable,
    trustedProxies: ['127.0.0.1/32'],
  });
  const attempt = (body: object, from = '192.0.2.1') =>
    server.send('POST', '/api/v1/sessions', { body, headers: { 'x-forwarded-for': from } });
  return { ...server, attempt, actions };
}

test('from the bootstrap Admin through sign-in to sign-out', async () => {
  const { send, attempt, actions } = await start();
  const answer = await attempt({ ...ADA, login: 'ADA@example.org' });
  expect(answer).toMatchObject({ status: 201, json: { user: { name: 'ada', source: 'bootstrap' } } });
  const [stored] = await database.sql()`select hash, address from sessions`;
  expect(answer.text + String(answer.headers['set-cookie'])).not.toContain(
    stored?.hash.toString('base64url'),
  );

  const ada = signedIn(answer, (answer.json.user as { id: PublicId }).id);
  expect((await send('GET', '/api/v1/user-directory', { as: ada })).json).toMatchObject({
    items: [{ login: ADA.login, deactivated: false }],
  });
  expect((await send('DELETE', '/api/v1/sessions/current', { as: ada })).status).toBe(204);
  expect((await send('GET', '/api/v1/me', { as: ada })).status).toBe(401);
  expect(actions()).toEqual(['user.created', 'session.signed_in', 'session.signed_out']);
});

test('six wrong passwords: from the fourth on they wait; the right one passes after the wait', async () => {
  const { attempt, clock } = await start();
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++) {
    statuses.push((await attempt({ ...ADA, password: 'wrong' })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429, 429]);
  clock.advance(SECOND);
  expect((await attempt(ADA)).status).toBe(201);
});

test('of 200 wrong sign-ins that arrive together from one address, at two replicas, three are evaluated', async () => {
  const replicas = [await start(), await start()];
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      // The addresses of one /64 count as one.
      replicas[index % 2]!.attempt({ login: `user-${index}`, password: 'wrong' }, `2001:db8::${index + 1}`),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(3);
  expect(new Set(statuses)).toEqual(new Set([401, 429]));
  const elsewhere = await replicas[0]!.attempt(ADA, '2001:db8:0:1::1');
  expect(elsewhere.status).toBe(201);
});

test('who is attacked from one address without a pause still signs in from another', async () => {
  const { attempt, clock } = await start();
  for (let second = 0; second < 300; second++) {
    await attempt({ ...ADA, password: 'wrong' }, '198.51.100.7');
    if (second % 60 === 0) expect([second, (await attempt(ADA, '192.0.2.1')).status]).toEqual([second, 201]);
    clock.advance(SECOND);
  }
});

test.each<RoleName>(['responder', 'viewer'])(
  'a Role changed to %s counts from the next request on',
  async (role) => {
    const { send, attempt } = await start();
    const answer = await attempt(ADA);
    const ada = signedIn(answer, (answer.json.user as { id: PublicId }).id);
    await database.sql()`update users set role = ${role}`;
    expect((await send('GET', '/api/v1/roles', { as: ada })).status).toBe(403);
  },
);

test('an unreachable database is 503 with Retry-After', async () => {
  const nowhere = connect(
    { ...database.settings(), host: '127.0.0.1', port: 1 },
    { max: 1, applicationName: 'test' },
  );
  const access = createAccessStore({ sql: nowhere, appendAudit: async () => undefined, ...noSeeds });
  const { send, logged } = await startHttp({ access, isUnavailable });
  const answer = await send('POST', '/api/v1/sessions', { body: ADA });
  expect([answer.status, answer.headers['retry-after'], logged]).toEqual([503, '5', []]);
  await nowhere.end();
});
