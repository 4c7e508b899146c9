/** Who is signed in, and how a session begins and ends (api §3, ui §1.4). */
import { createStore } from '@xstate/store';
import type { SessionPort } from '../api/client.ts';
import type { Session } from '../api/shapes.ts';
import { mirror } from './resource.svelte.ts';

export type SessionContext =
  /** Nothing was asked yet. */
  | { readonly phase: 'unknown' }
  /** `byChoice`: the person signed out and is not led back to where they were. */
  | { readonly phase: 'signed_out'; readonly reason: string | null; readonly byChoice: boolean }
  | { readonly phase: 'limited'; readonly session: Session }
  | { readonly phase: 'active'; readonly session: Session };

export type SessionState = ReturnType<typeof createSessionState>;

export function createSessionState() {
  const store = createStore({
    context: { phase: 'unknown' } as SessionContext,
    on: {
      read: (_, event: { session: Session }): SessionContext => ({
        phase: event.session.state === 'active' ? 'active' : 'limited',
        session: event.session,
      }),
      ended: (_, event: { reason: string | null; byChoice: boolean }): SessionContext => ({
        phase: 'signed_out',
        reason: event.reason,
        byChoice: event.byChoice,
      }),
    },
  });
  const view = mirror(store);
  const now = () => store.getSnapshot().context;

  const port: SessionPort = {
    csrfToken: () => {
      const context = now();
      return 'session' in context ? context.session.csrf_token : null;
    },
    refreshed: (session) => {
      const context = now();
      const isSame = 'session' in context && context.session.user.id === session.user.id;
      store.trigger.read({ session });
      return isSame;
    },
    ended: (code) => {
      const context = now();
      // A wrong password or code is 401 too and ends nothing, wherever it was asked for.
      if (code === 'invalid_credentials') return;
      if (context.phase === 'signed_out') return;
      store.trigger.ended({
        reason: code ?? (context.phase === 'active' ? 'session_expired' : null),
        byChoice: false,
      });
    },
    limited: (state) => {
      const context = now();
      if ('session' in context) store.trigger.read({ session: { ...context.session, state } });
    },
  };

  return {
    port,
    get current() {
      return view.current;
    },
    /** The active session. @throws when nobody is signed in: pages that need one are not shown then */
    get active(): Session {
      const context = view.current;
      if (context.phase !== 'active') throw new Error('No active session');
      return context.session;
    },
    may: (permission: string): boolean => {
      const context = view.current;
      const held: readonly string[] = context.phase === 'active' ? context.session.permissions : [];
      return held.includes(permission);
    },
    read: (session: Session) => store.trigger.read({ session }),
    signedOut: () => store.trigger.ended({ reason: null, byChoice: true }),
  };
}
