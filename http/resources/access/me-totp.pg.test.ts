import { describe, expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { fromBase32, PASSWORD, startWithPeople } from './people.fixture.ts';

const database = useDatabase();

const CURRENT = '/api/v1/sessions/current';
const TOTP = '/api/v1/me/totp';

type Policy = 'nobody' | 'local_users' | 'everyone';

async function start() {
  const server = await startWithPeople(database.sql());
  const { send, sql, clock } = server;
  const requireTotp = (policy: Policy) =>
    sql`update organization set settings = jsonb_set(settings, '{totp_required}', to_jsonb(${policy}::text))`;
  const second = (as: { cookie: string; csrf: string; userId: never }, body: object) =>
    send('POST', `${CURRENT}/totp`, { as, body });
  const nextStep = () => clock.advance(30 * SECOND);
  return {
    ...server,
    requireTotp,
    second: second as (as: unknown, body: object) => ReturnType<typeof send>,
    nextStep,
  };
}

describe('enrolment', () => {
  test('shows the secret once, and counts from the first right code on', async () => {
    const { person, send, codeOf, enrol, sql, actions, clock } = await start();
    const ann = await person('responder', 'ann@example.org');
    const status = async () => (await send('GET', TOTP, { as: ann })).json;
    const confirm = (code: string) => send('POST', `${TOTP}/confirmation`, { as: ann, body: { code } });

    expect(await status()).toEqual({
      ...{ enrolled: false, enrolled_at: null, enrolment_pending: false, recovery_codes_remaining: 0 },
    });
    expect((await confirm('123456')).json.code).toBe('totp_enrolment_not_started');
    const begun = await send('POST', TOTP, { as: ann });
    expect(begun.json.otpauth_uri).toBe(
      `otpauth://totp/Tocsin:ann%40example.org?secret=${begun.json.secret}&issuer=Tocsin`,
    );
    expect(await status()).toMatchObject({ enrolled: false, enrolment_pending: true });
    expect((await confirm('000000')).json.code).toBe('invalid_credentials');

    const { seed, codes, answer } = await enrol(ann);
    expect([answer.status, codes.length]).toEqual([200, 10]);
    expect(await status()).toMatchObject({
      enrolled: true,
      enrolment_pending: false,
      recovery_codes_remaining: 10,
    });
    expect((await send('GET', '/api/v1/me', { as: ann })).json).toMatchObject({
      user: { totp_enabled: true },
    });
    expect((await send('POST', TOTP, { as: ann })).json.code).toBe('totp_already_enrolled');
    clock.advance(MINUTE);
    expect((await confirm(codeOf(seed))).json.code).toBe('totp_already_enrolled');

    const [row] =
      await sql`select totp_seed, totp_recovery_codes::text as codes from users where login = 'ann@example.org'`;
    expect(row?.totp_seed).toMatch(/^k-[0-9a-f]{16}:/);
    expect(row?.totp_seed).not.toContain(Buffer.from(seed).toString('base64'));
    expect(actions()).toEqual(['session.signed_in', 'user.proof_failed', 'totp.enrolled']);
  });

  test('begun anew voids the secret shown before', async () => {
    const { person, send, codeOf } = await start();
    const ann = await person('viewer', 'ann');
    const first = fromBase32(String((await send('POST', TOTP, { as: ann })).json.secret));
    const second = fromBase32(String((await send('POST', TOTP, { as: ann })).json.secret));
    const confirm = (code: string) => send('POST', `${TOTP}/confirmation`, { as: ann, body: { code } });
    expect((await confirm(codeOf(first))).status).toBe(401);
    expect((await confirm(codeOf(second))).status).toBe(200);
    expect((await confirm(codeOf(second))).status).toBe(409);
  });
});

describe('sign-in with a second factor', () => {
  test('waits for it, and the session can do nothing else meanwhile', async () => {
    const { person, enrol, signIn, attempt, second, codeOf, send, nextStep, entries } = await start();
    const { seed } = await enrol(await person('admin', 'ann'));
    nextStep();
    const answer = await attempt('ann');
    expect(answer.json).toMatchObject({ state: 'totp_required', permissions: [] });
    const ann = await signIn('ann');
    expect((await send('GET', '/api/v1/me', { as: ann })).json.code).toBe('totp_required');
    expect((await send('GET', TOTP, { as: ann })).json.code).toBe('totp_required');

    expect((await second(ann, { totp_code: '000000' })).json.code).toBe('invalid_credentials');
    const done = await second(ann, { totp_code: codeOf(seed) });
    expect([done.status, done.json.state]).toEqual([200, 'active']);
    expect((done.json.permissions as unknown[]).length).toBe(31);
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(200);
    expect((await second(ann, { totp_code: codeOf(seed, 1) })).json.code).toBe('totp_not_pending');
    expect(entries.map(({ action, details }) => [action, details.state])).toEqual([
      ['session.signed_in', 'active'],
      ['totp.enrolled', undefined],
      ['session.signed_in', 'totp_required'],
      ['session.signed_in', 'totp_required'],
      ['session.second_factor_failed', undefined],
      ['session.signed_in', 'active'],
    ]);
  });

  test.each([
    ['neither code', {}],
    ['both codes', { totp_code: '123456', recovery_code: 'aaaaa-bbbbb' }],
  ])('takes exactly one: %s is 400', async (_, body) => {
    const { person, enrol, signIn, second } = await start();
    await enrol(await person('viewer', 'ann'));
    expect((await second(await signIn('ann'), body)).status).toBe(400);
  });

  test('goes in one step with the code, which is told apart from nothing when it is wrong', async () => {
    const { person, enrol, attempt, codeOf, nextStep, clock } = await start();
    const { seed, codes } = await enrol(await person('viewer', 'ann'));
    nextStep();
    const right = await attempt('ann', { totp_code: codeOf(seed), recovery_code: 'wrong' });
    expect(right.json).toMatchObject({ state: 'active' });
    const wrong = await attempt('ann', { totp_code: codeOf(seed, 5) });
    clock.advance(MINUTE);
    const unknown = await attempt('nobody', { totp_code: '123456' });
    expect([wrong.status, wrong.text]).toEqual([401, unknown.text]);
    expect((await attempt('ann', { recovery_code: codes[0]?.toUpperCase() })).json).toMatchObject({
      state: 'active',
    });
    expect((await attempt('ann', { recovery_code: codes[0] })).status).toBe(401);
  });

  test('accepts each code once, also of two attempts at the same moment', async () => {
    const { person, enrol, signIn, second, codeOf, nextStep, sql } = await start();
    const { seed, codes } = await enrol(await person('viewer', 'ann'));
    nextStep();
    const one = await signIn('ann');
    const two = await signIn('ann');
    const code = codeOf(seed);
    expect((await second(one, { totp_code: code })).status).toBe(200);
    expect((await second(two, { totp_code: code })).status).toBe(401);
    expect((await second(two, { totp_code: codeOf(seed, -1) })).status).toBe(401);
    const three = await signIn('ann');
    const both = await Promise.all([two, three].map((each) => second(each, { recovery_code: codes[3] })));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    const [row] = await sql`select cardinality(totp_recovery_codes) as left from users where login = 'ann'`;
    expect(row?.left).toBe(9);
  });

  test('is slowed down like a password, and a right password alone forgives nothing', async () => {
    const { person, enrol, attempt, signIn, second, codeOf, clock, sql } = await start();
    const { seed } = await enrol(await person('viewer', 'ann'));
    const wrong = { password: 'not it' };
    expect((await attempt('ann', wrong)).status).toBe(401);
    expect((await attempt('ann', wrong)).status).toBe(401);
    const ann = await signIn('ann');
    expect((await second(ann, { totp_code: '000000' })).status).toBe(401);
    const early = await second(ann, { totp_code: codeOf(seed, 1) });
    expect([early.status, early.headers['retry-after']]).toEqual([429, '1']);
    expect((await attempt('ann')).status).toBe(429);
    clock.advance(SECOND);
    expect((await second(ann, { totp_code: codeOf(seed, 1) })).status).toBe(200);
    expect(await sql`select key from login_throttles`).toHaveLength(0);
  });
});

describe('the policy', () => {
  test('lets nobody in who has none, and the first right code makes the session active', async () => {
    const { addUser, signIn, enrol, send, second, codeOf, requireTotp, nextStep } = await start();
    await requireTotp('local_users');
    await addUser('viewer', 'ann');
    const other = await signIn('ann');
    const ann = await signIn('ann');
    const current = async (as: typeof ann) => (await send('GET', CURRENT, { as })).json.state;
    expect(await current(ann)).toBe('totp_enrolment_required');
    expect((await send('GET', '/api/v1/me', { as: ann })).json.code).toBe('totp_enrolment_required');
    expect((await second(ann, { totp_code: '123456' })).json.code).toBe('totp_not_pending');
    const { seed } = await enrol(ann);
    expect([await current(ann), await current(other)]).toEqual(['active', 'totp_required']);
    nextStep();
    expect((await second(other, { totp_code: codeOf(seed) })).json.state).toBe('active');
  });

  test('of local_users does not concern an account without a password; everyone does', async () => {
    const { person, send, sql, requireTotp } = await start();
    const ann = await person('viewer', 'ann');
    await sql`update users set password_hash = null where login = 'ann'`;
    await sql`update sessions set state = 'totp_enrolment_required'`;
    await requireTotp('everyone');
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(403);
    await requireTotp('local_users');
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(200);
    const [session] = await sql`select state from sessions`;
    expect(session?.state).toBe('active');
  });

  test('that becomes stricter touches nobody who is in', async () => {
    const { person, send, requireTotp, attempt } = await start();
    const ann = await person('viewer', 'ann');
    await requireTotp('everyone');
    expect((await send('GET', '/api/v1/me', { as: ann })).status).toBe(200);
    expect((await attempt('ann')).json.state).toBe('totp_enrolment_required');
  });
});

describe('recovery codes', () => {
  test('are made anew with a code, and the old ones end', async () => {
    const { person, enrol, send, attempt, codeOf, nextStep, actions } = await start();
    const ann = await person('viewer', 'ann');
    const anew = (code: string) => send('POST', `${TOTP}/recovery-codes`, { as: ann, body: { code } });
    expect((await anew('123456')).json.code).toBe('totp_not_enrolled');
    const { seed, codes } = await enrol(ann);
    expect((await anew(codeOf(seed))).json.code).toBe('invalid_credentials');
    nextStep();
    const fresh = (await anew(codeOf(seed))).json.codes as string[];
    expect(fresh).toHaveLength(10);
    expect((await attempt('ann', { recovery_code: codes[0] })).status).toBe(401);
    expect((await attempt('ann', { recovery_code: fresh[9] })).json.state).toBe('active');
    expect(actions()).toContain('totp.recovery_codes_regenerated');
  });
});

describe('removal', () => {
  const proofs = {
    password: () => ({ password: PASSWORD }),
    totp_code: (world: { code: string }) => ({ totp_code: world.code }),
    recovery_code: (world: { codes: readonly string[] }) => ({ recovery_code: world.codes[0] }),
    'a right one behind wrong ones': (world: { codes: readonly string[] }) => ({
      password: 'wrong',
      totp_code: '000000',
      recovery_code: world.codes[1],
    }),
  };

  test.each(Object.keys(proofs) as (keyof typeof proofs)[])('by %s', async (kind) => {
    const { person, enrol, send, attempt, codeOf, nextStep, sql, actions } = await start();
    const ann = await person('viewer', 'ann');
    const { seed, codes } = await enrol(ann);
    nextStep();
    const body = proofs[kind]({ code: codeOf(seed), codes });
    expect((await send('POST', `${TOTP}/removal`, { as: ann, body })).status).toBe(204);
    expect((await attempt('ann')).json.state).toBe('active');
    const [row] =
      await sql`select totp_seed, totp_last_step, totp_recovery_codes from users where login = 'ann'`;
    expect(row).toEqual({ totp_seed: null, totp_last_step: null, totp_recovery_codes: [] });
    expect(actions()).toContain('totp.removed');
  });

  test('needs a proof, something to remove, and is one failure when every proof is wrong', async () => {
    const { person, enrol, send, sql } = await start();
    const ann = await person('viewer', 'ann');
    const remove = (body: object) => send('POST', `${TOTP}/removal`, { as: ann, body });
    expect((await remove({})).status).toBe(400);
    expect((await remove({ password: PASSWORD })).json.code).toBe('totp_not_enrolled');
    await enrol(ann);
    const wrong = await remove({ password: 'wrong', totp_code: '000000', recovery_code: 'x' });
    expect(wrong.json.code).toBe('invalid_credentials');
    expect(await sql`select failures from login_throttles order by key`).toEqual([
      { failures: 1 },
      { failures: 1 },
      { failures: 1 },
    ]);
  });

  test('by an Admin ends the sessions, and nobody resets their own', async () => {
    const { person, enrol, send, attempt, actions, endings } = await start();
    const ann = await person('viewer', 'ann');
    const admin = await person('admin');
    const reset = (id: string) => send('POST', `/api/v1/users/${id}/reset-totp`, { as: admin });
    expect((await reset(ann.userId)).status).toBe(204);
    expect(await endings(ann.userId)).toEqual([null]);
    await enrol(ann);
    expect((await reset(ann.userId)).status).toBe(204);
    expect(await endings(ann.userId)).toEqual(['totp_reset']);
    expect((await attempt('ann')).json.state).toBe('active');
    const own = await reset(admin.userId);
    expect([own.status, own.json.code]).toEqual([403, undefined]);
    expect(actions().filter((action) => action === 'totp.reset')).toHaveLength(1);
  });
});

test('a seed that no held key opens is 500, not a way in', async () => {
  const { person, enrol, attempt, codeOf, nextStep, sql, logged } = await start();
  const { seed } = await enrol(await person('viewer', 'ann'));
  nextStep();
  await sql`update users set totp_seed = 'k-0000000000000000:AAAA' where login = 'ann'`;
  expect((await attempt('ann', { totp_code: codeOf(seed) })).status).toBe(500);
  expect((await attempt('ann', { password: 'wrong' })).status).toBe(401);
  expect(logged).toContain('api_request_failed');
});
