/** The server with everything about people on a real database; passwords are their own hashes, and time is the test's. */
import { randomBytes } from 'node:crypto';
import { generateSync, ScureBase32Plugin } from 'otplib';
import { expect } from 'vitest';
import type { RoleName } from '../../../actors/access/user.ts';
import { SECOND } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createAccessStore } from '../../../storage/access/access.ts';
import { createApiTokens, createPersonalTokens } from '../../../storage/access/api-tokens.ts';
import { createPeople, createUserStore } from '../../../storage/access/users.ts';
import type { Sql } from '../../../storage/postgres/records.ts';
import { firstStart, recordedAudit, recordedHints } from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type Received, type SignedIn, signedIn, startHttp } from '../../../test/http-server.ts';
import { storedUser } from '../../../test/signed-in.ts';
import { personalTokenOperations } from './api-tokens.ts';
import { userAccessOperations } from './user-access.ts';
import { userAccountOperations } from './user-accounts.ts';

export const PASSWORD = 'correct horse battery';

export async function startWithPeople(sql: Sql) {
  const key = masterKey(randomBytes(32));
  await firstStart(sql, key);
  await empty(sql, 'login_throttles', 'inbox');
  const { appendAudit, entries, actions } = recordedAudit();
  const stored = { sql, appendAudit, keyring: createKeyring([key], key.id), log: silentLog };
  const hints = recordedHints();
  const users = createUserStore(sql, appendAudit);
  const forUsers = {
    store: users,
    directory: {
      current: () => expect.fail('nothing here reads the Directory'),
      reload: async () => undefined,
    },
    hints,
    poke: () => undefined,
    publicUrl: 'https://tocsin.test',
    random: randomBytes,
  };
  const server = await startHttp({
    access: createAccessStore(stored),
    people: createPeople(stored),
    tokens: createApiTokens({ sql, log: silentLog }),
    operations: [
      userAccountOperations(forUsers),
      userAccessOperations(forUsers),
      personalTokenOperations(createPersonalTokens(sql, appendAudit)),
    ],
  });
  const { send, clock } = server;

  /** A stored user of the Role with the password, whose login is `login`. */
  const addUser = async (role: RoleName, login: string = role): Promise<PublicId> => {
    const id = await storedUser(sql, role, clock.now());
    await sql`
      update users set login = ${login}, login_folded = ${login}, name = ${login}, password_hash = ${PASSWORD}
      where id = ${id}`;
    return id;
  };
  const attempt = (login: string, more: object = {}): Promise<Received> =>
    send('POST', '/api/v1/sessions', { body: { login, password: PASSWORD, ...more } });
  const signIn = async (login: string, more: object = {}): Promise<SignedIn> => {
    const answer = await attempt(login, more);
    return signedIn(answer, (answer.json.user as { id: PublicId }).id);
  };
  const person = async (role: RoleName, login: string = role): Promise<SignedIn> => {
    await addUser(role, login);
    return signIn(login);
  };
  /** Sets a second factor up. @returns its seed and recovery codes; the code of this step is used up */
  const enrol = async (as: SignedIn) => {
    const begun = await send('POST', '/api/v1/me/totp', { as });
    const seed = fromBase32(String(begun.json.secret ?? ''));
    const confirmed = await send('POST', '/api/v1/me/totp/confirmation', {
      as,
      body: { code: codeOf(seed) },
    });
    return { seed, codes: confirmed.json.codes as string[], answer: confirmed };
  };
  const codeOf = (seed: Uint8Array, steps = 0) =>
    generateSync({ secret: seed, epoch: Math.floor(clock.now() / SECOND) + steps * 30 });
  const endings = async (userId: PublicId) => {
    const rows = await sql<{ end_reason: string | null }[]>`
      select end_reason from sessions where user_id = ${userId} order by created_at, id`;
    return rows.map((row) => row.end_reason);
  };

  return {
    ...server,
    sql,
    users,
    hints,
    entries,
    actions,
    addUser,
    attempt,
    signIn,
    person,
    enrol,
    codeOf,
    endings,
  };
}

export function fromBase32(text: string): Uint8Array {
  return new ScureBase32Plugin().decode(text);
}
