/** Whether others notice when many people sign in at once: password hashes are costly on purpose. */
import { setTimeout as pause } from 'node:timers/promises';
import { createPasswords } from '../actors/access/passwords.ts';
import { systemClock } from '../runtime/clock.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { Loaded } from './installation.ts';
import { type Bench, millis, percentiles, perSecond } from './report.ts';

const AT_ONCE = 50;
const GOAL_MS = 50;
/** Between two requests of somebody else. */
const EVERY_MS = 10;
const PASSWORD = 'correct horse battery';

export const signIn: Bench = {
  name: 'sign-in',
  title: `Requests of others while ${AT_ONCE} people sign in at once, again and again`,
  async run({ seconds, warmupSeconds, progress }) {
    const loaded = await Loaded.start();
    try {
      const logins = await addPeople(loaded);
      progress('nobody signs in');
      await ask(loaded, warmupSeconds);
      const calm = await ask(loaded, seconds);
      progress(`${AT_ONCE} people sign in at once`);
      const signing = keepSigningIn(loaded, logins, seconds);
      const [busy, { done, refused, took }] = await Promise.all([ask(loaded, seconds), signing]);
      const waits = percentiles(took);
      return {
        rows: [
          { what: 'another request, nobody signs in, p99', value: millis(percentiles(calm).p99) },
          {
            what: 'another request, meanwhile, p50',
            value: millis(percentiles(busy).p50),
          },
          {
            what: 'another request, meanwhile, p99',
            value: millis(percentiles(busy).p99),
            goal: `< ${GOAL_MS} ms`,
            met: percentiles(busy).p99 < GOAL_MS,
          },
          { what: 'sign-ins', value: perSecond(done / seconds) },
          { what: 'a sign-in, p50 / p99', value: `${millis(waits.p50)} / ${millis(waits.p99)}` },
          { what: 'sign-ins told to try again', value: String(refused) },
        ],
        raw: { calm, busy, done, refused, took },
      };
    } finally {
      await loaded.remove();
    }
  },
};

async function addPeople({ sql }: Loaded): Promise<readonly string[]> {
  const hash = await createPasswords(systemClock).hash(PASSWORD);
  const logins = Array.from({ length: AT_ONCE }, (_, index) => `person-${index}`);
  for (const login of logins) {
    await sql`
      insert into users
        (id, version, login, login_folded, name, role, source, status, password_hash, created_at)
      values (
        ${newPublicId('SR')}, 1, ${login}, ${login}, ${login}, 'viewer', 'local', 'active', ${hash}, ${systemClock.now()}
      )`;
  }
  return logins;
}

/** Somebody who is signed in asks for the list, at a steady pace. @returns ms that each answer took */
async function ask({ api }: Loaded, seconds: number): Promise<readonly number[]> {
  const took: number[] = [];
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const begun = performance.now();
    await api.get('/alert-groups');
    took.push(performance.now() - begun);
    await pause(EVERY_MS);
  }
  return took;
}

/** Everybody at once; whoever is in, or is told to wait, begins anew. */
async function keepSigningIn({ ready }: Loaded, logins: readonly string[], seconds: number) {
  const end = performance.now() + seconds * 1_000;
  const took: number[] = [];
  let refused = 0;
  const one = async (login: string) => {
    while (performance.now() < end) {
      const begun = performance.now();
      const answer = await fetch(`${ready.app_url}/api/v1/sessions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ login, password: PASSWORD }),
      });
      await answer.arrayBuffer();
      if (answer.status === 201) took.push(performance.now() - begun);
      else refused++;
    }
  };
  await Promise.all(logins.map(one));
  return { done: took.length, refused, took };
}
