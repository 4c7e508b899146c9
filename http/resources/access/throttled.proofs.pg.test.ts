/** Whoever fails to prove who they are stands in the Audit log, whatever they were asked for (access §11). */
import { expect, test } from 'vitest';
import { DAY, MINUTE } from '../../../runtime/clock.ts';
import type { SignedIn } from '../../../test/http-server.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { PASSWORD, startWithPeople } from './people.fixture.ts';

const database = useDatabase();

type Lab = Awaited<ReturnType<typeof startWithPeople>>;

/** Ann, with a second factor and a session. */
async function start() {
  const lab = await startWithPeople(database.sql());
  const ann = await lab.person('admin', 'ann');
  const { codes } = await lab.enrol(ann);
  return { ...lab, ann, codes };
}

const WRONG = '000000';

const PROOFS: readonly (readonly [string, (lab: Lab, ann: SignedIn) => Promise<{ status: number }>])[] = [
  [
    'changePassword',
    ({ send }, as) =>
      send('PUT', '/api/v1/me/password', {
        ...{ as, body: { current_password: 'wrong', new_password: 'staple correct battery' } },
      }),
  ],
  ['removeTotp', ({ send }, as) => send('POST', '/api/v1/me/totp/removal', { as, body: { password: 'no' } })],
  [
    'removeTotp',
    ({ send }, as) => send('POST', '/api/v1/me/totp/removal', { as, body: { totp_code: WRONG } }),
  ],
  [
    'removeTotp',
    ({ send }, as) => send('POST', '/api/v1/me/totp/removal', { as, body: { recovery_code: 'aaaaa-aaaaa' } }),
  ],
  [
    'regenerateTotpRecoveryCodes',
    ({ send }, as) => send('POST', '/api/v1/me/totp/recovery-codes', { as, body: { code: WRONG } }),
  ],
  [
    'confirmTotpEnrolment',
    async (lab) => {
      const bob = await lab.person('viewer', 'bob');
      await lab.send('POST', '/api/v1/me/totp', { as: bob });
      return lab.send('POST', '/api/v1/me/totp/confirmation', { as: bob, body: { code: WRONG } });
    },
  ],
];

test.each(PROOFS)('a wrong proof for %s is recorded with who gave it', async (operation, give) => {
  const lab = await start();
  expect((await give(lab, lab.ann)).status).toBe(401);
  const login = operation === 'confirmTotpEnrolment' ? 'bob' : 'ann';
  expect(lab.entries.at(-1)).toMatchObject({
    action: 'user.proof_failed',
    actor: { kind: 'user', login },
    resourceName: login,
    address: '127.0.0.1',
    details: { operation },
  });
});

test.each([
  ['session.sign_in_failed', { totp_code: WRONG }],
  ['session.sign_in_failed', { recovery_code: 'aaaaa-aaaaa' }],
])('a wrong second factor at sign-in is recorded as %s', async (action, code) => {
  const { attempt, entries } = await start();
  expect((await attempt('ann', code)).status).toBe(401);
  expect(entries.at(-1)).toMatchObject({ action, details: { login: 'ann', reason: 'wrong_code' } });
});

test.each([{ totp_code: WRONG }, { recovery_code: 'aaaaa-aaaaa' }])(
  'a wrong second factor of a session that waits for it is recorded: %o',
  async (body) => {
    const { signIn, send, entries } = await start();
    const as = await signIn('ann');
    expect((await send('POST', '/api/v1/sessions/current/totp', { as, body })).status).toBe(401);
    expect(entries.at(-1)).toMatchObject({
      action: 'session.second_factor_failed',
      actor: { login: 'ann' },
    });
  },
);

test('proofs that are given too fast are neither looked at nor recorded', async () => {
  const { ann, send, entries } = await start();
  const before = entries.length;
  const body = { current_password: 'wrong', new_password: 'staple correct battery' };
  const statuses = await Promise.all(
    Array.from(
      { length: 50 },
      async () => (await send('PUT', '/api/v1/me/password', { as: ann, body })).status,
    ),
  );
  const recorded = entries.length - before;
  expect(recorded).toBe(statuses.filter((status) => status === 401).length);
  expect(recorded).toBeLessThanOrEqual(3);
});

test('links that are used, expired or made up are recorded, but no flood of them', async () => {
  const { ann, addUser, send, clock, entries } = await start();
  const bob = await addUser('viewer', 'bob');
  const made = await send('POST', `/api/v1/users/${bob}/password-setup-links`, { as: ann });
  const token = String(made.json.url).split('=')[1] ?? '';
  const complete = async (value: string) =>
    (await send('POST', '/api/v1/password-setups', { body: { token: value, password: PASSWORD } })).status;
  expect(await complete(token)).toBe(204);
  expect(await complete(token)).toBe(410);
  expect(entries.at(-1)).toMatchObject({
    action: 'user.password_setup_failed',
    ...{ actor: { kind: 'system' }, resourceId: bob, resourceName: 'bob', address: '127.0.0.1' },
    details: { reason: 'link_used' },
  });

  const before = entries.length;
  for (let count = 0; count < 50; count++) expect(await complete('x'.repeat(43))).toBe(404);
  expect(entries.length - before).toBe(2);
  expect(entries.at(-1)).toMatchObject({ resourceId: null, details: { reason: 'unknown' } });
  clock.advance(MINUTE);
  await complete('no token at all');
  expect(entries.length - before).toBe(3);

  const later = await send('POST', `/api/v1/users/${bob}/password-setup-links`, { as: ann });
  clock.advance(DAY);
  expect(await complete(String(later.json.url).split('=')[1] ?? '')).toBe(410);
  expect(entries.at(-1)).toMatchObject({ resourceId: bob, details: { reason: 'link_expired' } });
});
