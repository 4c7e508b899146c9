/** `tocsin user` on a real database. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { createPasswords } from '../../../actors/access/passwords.ts';
import { throttleKeys } from '../../../http/resources/access/throttled.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import { appendAudit } from '../../../storage/access/audit.ts';
import { ensurePartitions } from '../../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../../../storage/postgres/retention.ts';
import { firstStart, noSeeds } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { storedSession, storedUser } from '../../../test/signed-in.ts';
import { systemClock } from '../../clock.ts';
import type { PublicId } from '../../public-id.ts';
import { masterKey } from '../../secrets/keyring.ts';
import { type Command, runCommandLine } from '../command.ts';
import { userList, userResetPassword, userResetTotp, userSetupLink, userUnlock } from './commands.ts';
import { createReadSecret } from './read-secret.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const PASSWORD = 'correct horse battery';

let ann: PublicId;

beforeEach(async () => {
  const sql = database.sql();
  const now = systemClock.now();
  await firstStart(sql, key);
  await ensurePartitions(sql, now, PARTITIONED_TABLES);
  await empty(sql, 'login_throttles');
  ann = await storedUser(sql, 'admin', now);
  await sql`update users set login = 'Ann', login_folded = 'ann', name = 'Ann B.' where id = ${ann}`;
  // Nobody asks the server: only that there is a session counts.
  const nobody = { send: async () => ({ json: {} }) as never, clock: systemClock as never };
  await storedSession(sql, ann, nobody);
});

async function run(words: readonly string[], input = '') {
  const { host, port, database: name, user, password } = database.settings();
  const out: string[] = [];
  const err: string[] = [];
  const readSecret = createReadSecret(
    Readable.from(input === '' ? [] : [Buffer.from(input)]),
    () => undefined,
  );
  const commands: readonly Command[] = [
    userList,
    userResetPassword(readSecret),
    userResetTotp,
    userSetupLink,
    userUnlock,
  ];
  const code = await runCommandLine(['user', ...words], commands, {
    env: {
      SVC_DATABASE_HOST: host,
      SVC_DATABASE_PORT: String(port),
      SVC_DATABASE_NAME: name,
      SVC_DATABASE_USER: user,
      SVC_DATABASE_PASSWORD: password ?? '',
      SVC_SECRET_KEYS: key.bytes.toString('base64'),
      SVC_PUBLIC_URL: 'https://oncall.example',
    },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { code, out, err: err.filter((line) => !line.startsWith('{')) };
}

const endings = async () =>
  (await database.sql()`select end_reason from sessions where user_id = ${ann}`).map((row) => row.end_reason);
const recorded = () =>
  database.sql()`select actor_kind, actor_name, action, resource_id from audit_log where resource_id = ${ann}`;

describe('reset-password', () => {
  const words = ['reset-password', 'ANN', '--actor', 'root on call'];

  test('sets what comes on standard input, and ends sessions', async () => {
    const { code, out } = await run(words, `${PASSWORD}\r\nnot this line`);
    expect([code, out]).toEqual([0, ['The password is set; sessions have ended.']]);
    const [row] = await database.sql()<{ password_hash: string }[]>`
      select password_hash from users where id = ${ann}`;
    expect(await createPasswords(systemClock).check(row?.password_hash ?? null, PASSWORD)).toBe('right');
    expect(await endings()).toEqual(['password_changed']);
    expect(await recorded()).toEqual([
      { actor_kind: 'cli', actor_name: 'root on call', action: 'user.password_reset', resource_id: ann },
    ]);
  });

  test('takes an account from the provider, whose identity goes', async () => {
    await database.sql()`
      update users set oidc_issuer = 'i', oidc_subject = 's', oidc_signed_in_at = 1 where id = ${ann}`;
    expect((await run(words, PASSWORD)).code).toBe(0);
    const [row] = await database.sql()`select oidc_subject from users where id = ${ann}`;
    expect(row?.oidc_subject).toBeNull();
  });

  test.each([
    ['is too short', 'short'],
    ['is too long', 'x'.repeat(1_025)],
    ['is longer than what is read', 'x'.repeat(5_000)],
    ['does not come', ''],
  ])('changes nothing when the password %s', async (_, input) => {
    const { code, err } = await run(words, input);
    expect([code, err.length, await endings()]).toEqual([1, 1, [null]]);
  });

  test.each([
    [['reset-password', 'ann'], 2],
    [['reset-password', '--actor', 'root'], 2],
    [['reset-password', 'ann', 'bob', '--actor', 'root'], 2],
    [['reset-password', 'nobody', '--actor', 'root'], 1],
  ])('%j exits with %i', async (wrong, code) => {
    expect((await run(wrong, PASSWORD)).code).toBe(code);
    expect(await endings()).toEqual([null]);
  });
});

test('reset-totp takes the second factor, and records nothing where there was none', async () => {
  const words = ['reset-totp', 'ann', '--actor', 'root'];
  expect(await run(words)).toEqual({ code: 0, out: ['There was no second factor.'], err: [] });
  expect([await recorded(), await endings()]).toEqual([[], [null]]);
  await database.sql()`
    update users set totp_seed = 'k-0000000000000000:AAAA', totp_enrolled_at = 1 where id = ${ann}`;
  expect((await run(words)).code).toBe(0);
  expect(await endings()).toEqual(['totp_reset']);
  expect(await recorded()).toMatchObject([{ action: 'totp.reset', actor_name: 'root' }]);
});

test('setup-link prints a link that works, below the public URL', async () => {
  const { code, out } = await run(['setup-link', 'ann', '--actor', 'root', '--json']);
  expect([code, JSON.parse(out[0] ?? '').url]).toEqual([
    0,
    expect.stringMatching(/^https:\/\/oncall\.example\/password-setup#token=[\w-]{43}$/),
  ]);
  expect(await database.sql()`select user_id from password_setup_links`).toEqual([{ user_id: ann }]);
});

test('unlock forgets the failures of the account, not those of the address', async () => {
  const sql = database.sql();
  const words = ['unlock', 'ann', '--actor', 'root'];
  expect((await run(words)).out).toEqual(['No attempt on this account has failed.']);
  const { throttle } = createAccessStore({ sql, appendAudit, ...noSeeds });
  const keys = throttleKeys('ann', '192.0.2.1');
  expect(await throttle.admit(keys, systemClock.now())).toEqual({ admitted: true });
  expect((await run(words)).out).toEqual(['Failed attempts are forgotten.']);
  expect(await sql`select key from login_throttles`).toEqual([{ key: keys.source }]);
  expect(await recorded()).toMatchObject([{ action: 'user.unlocked' }]);
});

test('list shows everybody, for people and for programs', async () => {
  expect((await run(['list'])).out).toEqual(['Ann  admin, active, no way in, Ann B.']);
  const { users } = JSON.parse((await run(['list', '--json'])).out[0] ?? '');
  expect(users).toMatchObject([{ id: ann, login: 'Ann', totp_enabled: false }]);
});
