import { expect, it } from 'vitest';
import type { SessionContext } from '../state/session.svelte.ts';
import { createKeptForms } from './kept.ts';

const ADDRESS = '/routes/RT1';

/** A form of U1 that was changed when the session of its page turned into another. */
async function setUp(after: Record<string, unknown>) {
  const active = (id: string) => ({ phase: 'active', session: { user: { id } } }) as SessionContext;
  let current = active('U1');
  let address = { path: ADDRESS, search: '', hash: '' };
  let look = () => {};
  const kept = createKeptForms({
    session: {
      get current() {
        return current;
      },
      get active() {
        if (current.phase !== 'active') throw new Error('No active session');
        return current.session;
      },
    },
    router: {
      get address() {
        return address;
      },
    },
    whenever: (watched) => {
      look = watched;
      return () => (look = () => {});
    },
  });
  const become = (next: Record<string, unknown>) => {
    current = next as SessionContext;
    look();
  };
  const go = (path: string) => {
    address = { path, search: '', hash: '' };
    look();
  };
  kept.leave('U1', 'typed');
  become(after);
  await Promise.resolve();
  return { take: kept.take, go, become, signIn: (id: string) => become({ ...active(id) }) };
}

const ENDED = { phase: 'signed_out', reason: 'session_expired', byChoice: false };

it('gives it to the same person at the same address, once, through the steps of the sign-in', async () => {
  const { take, go, become, signIn } = await setUp(ENDED);
  go('/sign-in');
  become({ phase: 'limited', session: { user: { id: 'U1' } } });
  go('/sign-in/totp');
  signIn('U1');
  expect(take()).toBeNull();
  go(ADDRESS);
  expect([take(), take()]).toEqual(['typed', null]);
});

it.each([
  ['somebody else signs in, even when the first comes back', ['U2', 'U1']],
  ['the same person goes elsewhere', ['U1', '/routes', ADDRESS]],
])('drops it when %s', async (_, steps) => {
  const { take, go, signIn } = await setUp(ENDED);
  go('/sign-in');
  for (const step of steps) {
    if (step.startsWith('/')) go(step);
    else signIn(step);
  }
  go(ADDRESS);
  expect(take()).toBeNull();
});

it.each([
  ['a sign-out by choice', { phase: 'signed_out', reason: null, byChoice: true }],
  ['a form that was left', { phase: 'active', session: { user: { id: 'U1' } } }],
])('keeps nothing of %s', async (_, after) => {
  const { take, signIn } = await setUp(after);
  signIn('U1');
  expect(take()).toBeNull();
});
