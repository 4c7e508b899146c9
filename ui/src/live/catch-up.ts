/**
 * Reads everything shown again after the live stream was interrupted, and says when that made it live (ui §1.4, §1.6).
 * What is shown counts as old from when a read was not answered until all of it was.
 */
import type { Timers } from '../api/client.ts';
import { type Liveness, msUntilOld } from './liveness.ts';

/** Many browsers do not read at once after an interruption. */
const SPREAD_MS = 2_000;
/** From the beginning of a round that was not answered to that of the next: doubles from the first to the second. */
const RETRY_MS = [2_000, 18_000] as const;
/** @param ms the wait before, 0 for the first */
export const longerWait = (ms: number) => Math.min(RETRY_MS[1], Math.max(RETRY_MS[0], ms * 2));

export interface CatchUpDeps {
  readonly liveness: Liveness;
  readonly timers: Timers;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Key of the session that things are read for; null while there is none. */
  readonly session: () => string | null;
  /** Reads everything shown. @returns whether all of it was answered */
  readonly readAll: () => Promise<boolean>;
  /** Called after everything was read for a session that is still the same. */
  readonly done: () => void;
}

export interface CatchUp {
  /** The tab begins to show something. The first stream after this is its first. */
  started(): void;
  /** Hints came past this tab, whose first stream may be older than it. */
  moved(): void;
  lost(): void;
  /** There is this stream; its last byte came at `byteAt`. */
  streamCame(stream: { readonly id: string; readonly openedAt: number }, byteAt: number): void;
  /** A byte came at `at`: reads again what a read before did not bring. */
  bytesCame(at: number): void;
  /** A read of something shown, begun at `since`, got no definite answer: all is read again, after a wait. */
  unanswered(since: number): void;
  /** The tab, the machine or the network is back: the next byte reads again without a wait. */
  hurry(): void;
}

export function createCatchUp(deps: CatchUpDeps): CatchUp {
  const { liveness, timers, now } = deps;
  const context = () => liveness.getSnapshot().context;
  let startedAt = 0;
  let streamId: string | null = null;
  let isReading = false;
  let isDue = false;
  let begunAt = 0;
  /** 0 after a round that was answered. */
  let retryMs = 0;

  function bytesCame(at: number): void {
    liveness.trigger.bytes({ at });
    const isBack = context().staleSince !== null && msUntilOld(context(), now()) > 0;
    // The clock may have been set back.
    const isTime = Math.abs(now() - begunAt) >= retryMs;
    if (isBack && isTime && !isReading) void readAgain(0);
  }

  async function readAgain(delayMs: number): Promise<void> {
    isDue = true;
    if (isReading) return;
    isReading = true;
    let own: string | null = null;
    let wasAnswered = true;
    // A read that became due for the next session while this one's was on its way is done here too.
    while (isDue) {
      await new Promise<void>((resolve) => timers.set(resolve, delayMs));
      isDue = false;
      own = deps.session();
      if (own === null) continue;
      begunAt = now();
      wasAnswered = (await deps.readAll().catch((error) => reportError(error))) === true;
    }
    isReading = false;
    if (own === null || own !== deps.session()) return;
    if (wasAnswered) {
      retryMs = 0;
      liveness.trigger.refreshed({ at: now() });
    } else {
      retryMs = longerWait(retryMs);
      liveness.trigger.unanswered({ since: begunAt });
    }
    deps.done();
  }

  return {
    started() {
      startedAt = now();
      streamId = null;
      retryMs = 0;
      liveness.trigger.started({ at: startedAt });
    },
    moved() {
      streamId ??= '';
    },
    lost: () => liveness.trigger.lost({ at: now() }),
    streamCame(stream, byteAt) {
      const isFirst = streamId === null;
      const missedSome = isFirst ? stream.openedAt > startedAt : stream.id !== streamId;
      streamId = stream.id;
      if (!missedSome) return bytesCame(byteAt);
      retryMs = 0;
      liveness.trigger.missed();
      liveness.trigger.bytes({ at: byteAt });
      void readAgain(isFirst ? 0 : deps.random() * SPREAD_MS);
    },
    bytesCame,
    unanswered(since) {
      if (deps.session() === null) return;
      liveness.trigger.unanswered({ since });
      if (isReading || retryMs > 0) return;
      begunAt = now();
      retryMs = longerWait(retryMs);
    },
    hurry() {
      retryMs = 0;
    },
  };
}
