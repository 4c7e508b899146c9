/**
 * What was typed into a form whose session ended, for the same person at the same address after the sign-in (ui §1.5).
 * It may hold Secrets, so it is kept in memory alone.
 */
import type { Router } from '../router/router.svelte.ts';
import type { SessionState } from '../state/session.svelte.ts';

interface Kept {
  /** Path and query of the page that the form is on. */
  readonly address: string;
  readonly userId: string;
  readonly written: unknown;
}

interface KeptDeps {
  readonly session: Pick<SessionState, 'active' | 'current'>;
  readonly router: Pick<Router, 'address'>;
  /** Runs `look` now and after each change of what it reads. @returns a function that ends it */
  readonly whenever: (look: () => void) => () => void;
}

export type KeptForms = ReturnType<typeof createKeptForms>;

const SIGN_IN = /^\/(sign-in|totp-enrolment)(\/|$)/;

export function createKeptForms({ session, router, whenever }: KeptDeps) {
  let kept: Kept | null = null;
  let stopWatching = () => {};

  const address = () => router.address.path + router.address.search;

  function forget(): void {
    kept = null;
    stopWatching();
  }

  /** Signed out by choice, another person, or another page: nobody comes back for it. */
  function isGivenUp({ address: where, userId }: Kept): boolean {
    const now = session.current;
    if (now.phase === 'signed_out') return now.byChoice;
    if (now.phase === 'unknown') return false;
    if (now.session.user.id !== userId) return true;
    return now.phase === 'active' && address() !== where && !SIGN_IN.test(router.address.path);
  }

  return {
    /**
     * A form that was changed goes away. Call it while its component is destroyed.
     * @param userId who filled it in
     */
    leave(userId: string, written: unknown): void {
      const leaving = { address: address(), userId, written };
      // While a component is destroyed, Svelte answers with the state from before.
      queueMicrotask(() => {
        if (session.current.phase === 'active' || isGivenUp(leaving)) return;
        forget();
        kept = leaving;
        stopWatching = whenever(() => {
          if (isGivenUp(leaving)) forget();
        });
      });
    },
    /** Hands over what was written into the form of this address, once. Null: nothing of this person. */
    take(): unknown {
      if (kept === null || kept.address !== address() || kept.userId !== session.active.user.id) return null;
      const { written } = kept;
      forget();
      return written;
    },
  };
}

const ofSession = new WeakMap<SessionState, KeptForms>();

/** The forms of the app that the session belongs to. They come with the first form, not with the first load. */
export function keptForms(deps: KeptDeps & { readonly session: SessionState }): KeptForms {
  const known = ofSession.get(deps.session);
  if (known !== undefined) return known;
  const made = createKeptForms(deps);
  ofSession.set(deps.session, made);
  return made;
}
