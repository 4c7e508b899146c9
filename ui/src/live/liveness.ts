/**
 * Whether what a tab shows is still true (ui §1.4). It counts as old after 25 s without a byte of the live stream, 10 s
 * after the stream was lost, at once when the browser is offline, and when reading it again, after an interruption or
 * a hint, was not answered; and then until all of it was read again.
 */
import { createStore } from '@xstate/store';
import type { Timers } from '../api/client.ts';
import { SILENCE_MS } from './connection.ts';

/** A restart of the service is shorter. */
const LOST_MS = 10_000;

interface Context {
  /** Up to when what is shown is known to be true. Milliseconds since the epoch, as everything here. */
  readonly lastByteAt: number;
  /** Since when there is no stream, as far as that is known. */
  readonly lostAt: number | null;
  /** The last byte before something was missed that was not read yet; null while nothing was missed. */
  readonly missedSince: number | null;
  readonly isOffline: boolean;
  /** The service did not answer when it was last asked, since what is shown is old. */
  readonly isSilent: boolean;
  /** Since when what is shown is old; null while it is not. */
  readonly staleSince: number | null;
}

export type Liveness = ReturnType<typeof createLiveness>;

export function createLiveness() {
  return createStore({
    context: {
      lastByteAt: 0,
      lostAt: null,
      missedSince: null,
      isOffline: false,
      isSilent: false,
      staleSince: null,
    } as Context,
    on: {
      started: (_, event: { at: number }): Context => ({
        ...{ lastByteAt: event.at, lostAt: null, missedSince: null },
        ...{ isOffline: false, isSilent: false, staleSince: null },
      }),
      /** Nothing is answered, and what is shown came at `at`, before this tab. */
      kept: (context, event: { at: number }): Context => ({
        ...context,
        lastByteAt: Math.min(context.lastByteAt, event.at),
        isSilent: true,
        staleSince: Math.min(context.staleSince ?? event.at, event.at),
      }),
      /** A byte came at `at`. What is shown stays old until it was read again. */
      bytes: (context, event: { at: number }): Context => ({
        ...context,
        lastByteAt: Math.max(context.lastByteAt, event.at),
        lostAt: null,
        isOffline: false,
      }),
      lost: (context, event: { at: number }): Context => ({
        ...context,
        lostAt: context.lostAt ?? event.at,
        missedSince: context.missedSince ?? context.lastByteAt,
      }),
      /** Another stream is there: whatever happened between the two was missed. Comes before its first byte. */
      missed: (context): Context => ({ ...context, missedSince: context.missedSince ?? context.lastByteAt }),
      offline: (context): Context => ({
        ...context,
        isOffline: true,
        staleSince: context.staleSince ?? context.lastByteAt,
      }),
      online: (context): Context => ({ ...context, isOffline: false }),
      asked: (context, event: { answers: boolean }): Context => ({ ...context, isSilent: !event.answers }),
      /** Time passed. */
      looked: (context, event: { at: number }): Context => {
        // The clock may have been set back: what was seen then was seen now at the latest.
        const lastByteAt = Math.min(context.lastByteAt, event.at);
        const isDue = msUntilOld(context, event.at) <= 0;
        return { ...context, lastByteAt, staleSince: context.staleSince ?? (isDue ? lastByteAt : null) };
      },
      /** Everything shown was read again; it counts only if nothing was missed meanwhile. */
      refreshed: (context, event: { at: number }): Context =>
        msUntilOld(context, event.at) > 0
          ? {
              ...context,
              staleSince: null,
              missedSince: context.lostAt === null ? null : context.missedSince,
            }
          : context,
      /** Not everything shown could be read again. @param event.since when the read began */
      unanswered: (context, event: { since: number }): Context => ({
        ...context,
        staleSince: context.staleSince ?? context.missedSince ?? Math.min(context.lastByteAt, event.since),
      }),
    },
  });
}

/** Milliseconds until what is shown counts as old, if nothing happens; 0 or less when it does. */
export function msUntilOld({ lastByteAt, lostAt, isOffline }: Context, at: number): number {
  if (isOffline) return 0;
  const silence = SILENCE_MS - Math.max(0, at - lastByteAt);
  return lostAt === null ? silence : Math.min(silence, LOST_MS - Math.max(0, at - lostAt));
}

/** Served from memory, without a session and without the database. */
const URL = '/favicon.svg';
const WITHIN_MS = 2_000;
const EVERY_MS = 4_000;

export interface Reach {
  /** Asks now and every few seconds from now on. */
  start(): void;
  stop(): void;
  /** What the last question showed; the first is waited for, at most 2 s. Call it after `start`. */
  answers(): Promise<boolean>;
}

/** @param found gets what each question showed */
export function createReach(
  request: typeof fetch,
  timers: Timers,
  found: (answers: boolean) => void = () => undefined,
): Reach {
  let latest: Promise<boolean> | null = null;
  let asking: { timer: unknown } | null = null;

  async function ask(): Promise<boolean> {
    const giveUp = new AbortController();
    const bound = timers.set(() => giveUp.abort(), WITHIN_MS);
    try {
      return (await request(URL, { method: 'HEAD', cache: 'no-store', signal: giveUp.signal })).ok;
    } catch {
      // Whatever fetch throws: no answer.
      return false;
    } finally {
      timers.clear(bound);
    }
  }

  /** The verdict before stands until the next is there, so that nobody waits for it. */
  async function again(own: { timer: unknown }): Promise<void> {
    const verdict = ask();
    latest ??= verdict;
    const answers = await verdict;
    if (asking !== own) return;
    found(answers);
    latest = verdict;
    own.timer = timers.set(() => void again(own), EVERY_MS);
  }

  return {
    start() {
      if (asking !== null) return;
      asking = { timer: null };
      void again(asking);
    },
    stop() {
      timers.clear(asking?.timer);
      asking = null;
      latest = null;
    },
    answers: () => latest ?? ask(),
  };
}
