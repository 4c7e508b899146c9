/** How long a refusal takes tells nothing about the account (access §4 rule 4): measured with real hashes on a real store. */
import { beforeEach, expect, test } from 'vitest';
import { createPasswords } from '../../../actors/access/passwords.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import { firstStart, noSeeds, recordedAudit } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { startHttp } from '../../../test/http-server.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { storedUser } from '../../../test/signed-in.ts';

const database = useDatabase();
const ROUNDS = 15;
/** A hash that is left out makes a refusal many times faster; a busy machine makes some slower, not all. */
const FACTOR = 2;

beforeEach(() => firstStart(database.sql()));

test('an unknown login, a wrong password, a disabled and a deleted account, and one without a password take as long', async () => {
  const sql = database.sql();
  const { appendAudit } = recordedAudit();
  const passwords = createPasswords(systemClock);
  const { send } = await startHttp({
    access: createAccessStore({ sql, appendAudit, ...noSeeds }),
    passwords,
  });
  const hash = await passwords.hash('correct horse battery');
  const logins = ['ann', 'disabled', 'deleted', 'without-password', 'nobody'];
  for (const login of logins.slice(0, -1)) {
    const id = await storedUser(sql, 'viewer', systemClock.now());
    const status = login === 'disabled' || login === 'deleted' ? login : 'active';
    await sql`
      update users set
        login = ${login}, login_folded = ${login}, status = ${status},
        password_hash = ${login === 'without-password' ? null : hash}
      where id = ${id}`;
  }

  const took = new Map<string, number[]>(logins.map((login) => [login, []]));
  for (let round = 0; round < ROUNDS; round++) {
    // One after the other within a round, so that whatever else the machine does hits all alike.
    for (const login of logins) {
      await empty(sql, 'login_throttles');
      const begun = performance.now();
      const { status } = await send('POST', '/api/v1/sessions', { body: { login, password: 'wrong' } });
      took.get(login)?.push(performance.now() - begun);
      expect(status).toBe(401);
    }
  }
  const quickest = logins.map((login) => Math.min(...(took.get(login) ?? [])));
  expect(Math.max(...quickest) / Math.min(...quickest)).toBeLessThan(FACTOR);
});
