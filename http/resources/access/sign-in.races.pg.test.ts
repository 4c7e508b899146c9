/** Sign-ins that meet a change of their account, or a database that keeps them waiting (access §4). */
import { expect, test } from 'vitest';
import { EVALUATION_LIMIT } from '../../../actors/access/throttle.ts';
import type { Transaction } from '../../../storage/postgres/records.ts';
import { whileLocked } from '../../../test/harness/lock-race.ts';
import { until } from '../../../test/harness/until.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { PASSWORD, startWithPeople } from './people.fixture.ts';

const database = useDatabase();

const setAnew = (tx: Transaction) => tx`update users set password_hash = 'another'`;

test('a password that is set anew while a sign-in with the old one is looked at shuts that out', async () => {
  const { sql, addUser, attempt, entries } = await startWithPeople(database.sql());
  await addUser('admin', 'ann');
  expect((await whileLocked(sql, setAnew, () => attempt('ann'))).status).toBe(401);
  expect(await sql`select 1 from sessions where ended_at is null`).toHaveLength(0);
  expect(entries.at(-1)).toMatchObject({ details: { reason: 'wrong_password' } });
  expect((await attempt('ann', { password: 'another' })).status).toBe(201);
});

test('a password that is set anew while its owner changes the old one stays', async () => {
  const { sql, person, send } = await startWithPeople(database.sql());
  const ann = await person('admin', 'ann');
  const body = { current_password: PASSWORD, new_password: 'staple correct battery' };
  const change = () => send('PUT', '/api/v1/me/password', { as: ann, body });
  expect((await whileLocked(sql, setAnew, change)).status).toBe(401);
  expect(await sql`select password_hash from users`).toEqual([{ password_hash: 'another' }]);
});

test('a sign-in that the database keeps waiting is answered before its time on the account is over', async () => {
  const { sql, addUser, attempt, clock } = await startWithPeople(database.sql());
  await addUser('admin', 'ann');
  const lock = (tx: Transaction) => tx`select 1 from users for update`;
  const answer = await whileLocked(
    sql,
    lock,
    () => attempt('ann'),
    (waiting) => {
      clock.advance(EVALUATION_LIMIT);
      return waiting;
    },
  );
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5']);
  await until('the account to be free', async () => (await attempt('ann')).status === 201);
});
