/**
 * What a tab knows of changes elsewhere: hints from the live stream of its browser, and since when what it shows is
 * old. After every interruption everything shown is read again, spread over two seconds so that many browsers do not
 * read at once (ui §1.6).
 */
import type { Timers } from '../api/client.ts';
import { mirror } from '../state/resource.svelte.ts';
import { createCatchUp, longerWait } from './catch-up.ts';
import { createHintBoard, type HintBoard, type HintListener, type HintType } from './hints.ts';
import { type HubMessage, LEASE_RENEWAL_MS } from './hub.ts';
import { createHubLink, type HubLink } from './hub-link.ts';
import { createLiveness, createReach, msUntilOld } from './liveness.ts';

/** The hub answers within a second, unless the machine is very busy. */
const HUB_ANSWERS_MS = 5_000;
/** Until a session that was refused the stream, and lives all the same, asks for it again. */
const REFUSED_MS = 3_000;

export interface Live extends Pick<HintBoard, 'on'> {
  /** Since when what is shown is old, ms since the epoch; null while it is not. */
  readonly staleSince: number | null;
  /** Up to when what is shown is known to be true, ms since the epoch, while it is not old. */
  readonly trueUntil: number;
  /** Whether the service is known not to answer now. Nothing is asked for this. */
  readonly away: boolean;
  /** Whether the service is known not to answer. Waits at most 2 s for the answer. */
  isAway(): Promise<boolean>;
  /** What is shown came at `at`, before this document, and nothing is answered now. */
  shows(at: number): void;
  /** A read of something shown, begun at `since`, got no definite answer: it is old until all is read again. */
  unanswered(since: number): void;
  /** @param session key of the session that the stream is for; another one takes its place */
  start(session: string): void;
  /** The session is over, here and in every tab. */
  stop(): void;
}

export interface LiveDeps {
  readonly view: Window & typeof globalThis;
  readonly timers: Timers;
  /** Reads the session, which another tab may have changed or ended. @returns whether the service named one */
  readonly checkSession: () => Promise<boolean>;
  /** Reads what no hint tells of, and was kept from before this document. */
  readonly readKept: () => void;
  /** Watches the reads that begin from now on; the result resolves when they are over, with whether all were answered. */
  readonly watchReads: () => () => Promise<boolean>;
}

export function createLive({ view, timers, checkSession, readKept, watchReads }: LiveDeps): Live {
  const board = createHintBoard({ set: timers.set });
  const liveness = createLiveness();
  const shown = mirror(liveness);
  const reach = createReach(view.fetch.bind(view), timers, (answers) => liveness.trigger.asked({ answers }));
  const page = view.document;
  const tab = `${Date.now()}.${Math.random()}`;
  const now = () => liveness.getSnapshot().context;

  let link: HubLink | null = null;
  let session: string | null = null;
  /** When what is shown came, where it is older than this document. */
  let shownAt: number | null = null;
  let isChecking = false;
  /** Timer of the pause before the next check; null when one may begin. */
  let asking: unknown = null;
  /** The latest session that has the stream and is not that of this page. */
  let other: string | null = null;
  /** 0 after a check that named a session. */
  let askingMs = 0;
  let look: unknown = null;
  let renewal: unknown = null;
  let answer: unknown = null;
  let listening = new AbortController();
  const catchUp = createCatchUp({
    liveness,
    timers,
    now: Date.now,
    random: Math.random,
    session: () => session,
    readAll,
    done: readAllDone,
  });

  /** Sees whether what is shown has become old, and when to look next. */
  function lookAtClock(): void {
    timers.clear(look);
    if (session === null) return;
    liveness.trigger.looked({ at: Date.now() });
    if (now().staleSince !== null) {
      if (page.visibilityState === 'visible') reach.start();
      return;
    }
    look = timers.set(lookAtClock, Math.max(100, msUntilOld(now(), Date.now())));
  }

  function heard(message: HubMessage): void {
    timers.clear(answer);
    if (session === null) return;
    if (message.kind === 'status') statusCame(message);
    else if (message.kind === 'bytes') catchUp.bytesCame(message.at);
    else if (message.kind === 'hint') board.arrived(message.hint);
    else void askForSession(REFUSED_MS);
  }

  function statusCame(status: HubMessage & { readonly kind: 'status' }): void {
    if (status.session === null) {
      say('here');
    } else if (status.session !== session) {
      // Somebody signed in anew in another tab: the cookie of this browser is theirs now.
      if (status.session !== other) endAsking();
      other = status.session;
      void askForSession(0);
    } else if (status.stream === null) {
      catchUp.lost();
      lookAtClock();
    } else {
      catchUp.streamCame(status.stream, status.lastByteAt ?? status.stream.openedAt);
      lookAtClock();
    }
  }

  /** @returns whether each read that this began was answered */
  async function readAll(): Promise<boolean> {
    const readsOver = watchReads();
    if (shownAt !== null) readKept();
    board.invalidateAll();
    // Pages read in effects, after the hint.
    await new Promise<void>((resolve) => timers.set(resolve, 0));
    return readsOver();
  }

  function readAllDone(): void {
    if (now().staleSince === null) {
      shownAt = null;
      stopAsking();
    }
    lookAtClock();
  }

  function stopAsking(): void {
    reach.stop();
    liveness.trigger.asked({ answers: true });
  }

  /**
   * Asks whose session it is. When it is still this one, the stream is claimed for it after `ms`. While no answer names
   * one, it is asked for less and less often.
   */
  async function askForSession(ms: number): Promise<void> {
    if (isChecking || asking !== null) return;
    isChecking = true;
    const own = session;
    const isSure = await checkSession().catch((error) => reportError(error));
    isChecking = false;
    if (own !== session) return;
    askingMs = isSure ? 0 : longerWait(askingMs);
    asking = timers.set(
      () => {
        asking = null;
        say(isSure ? 'attach' : 'here');
      },
      Math.max(ms, askingMs),
    );
  }

  /** The session may be asked for at once. */
  function endAsking(): void {
    timers.clear(asking);
    asking = null;
    askingMs = 0;
  }

  function say(kind: 'attach' | 'here' | 'leave' | 'ended'): void {
    if (session === null) return;
    link?.post({ kind, tab, session });
    if (kind === 'leave' || kind === 'ended') return;
    timers.clear(answer);
    answer = timers.set(() => {
      link?.revive();
      say('here');
    }, HUB_ANSWERS_MS);
    timers.clear(renewal);
    renewal = timers.set(() => say('here'), LEASE_RENEWAL_MS);
  }

  /** The tab, the machine or the network is back: what happened meanwhile shows at once. */
  function wake(): void {
    endAsking();
    lookAtClock();
    catchUp.hurry();
    say('here');
    link?.post({ kind: 'hurry' });
  }

  function listen(): void {
    listening = new AbortController();
    const { signal } = listening;
    view.addEventListener(
      'offline',
      () => {
        liveness.trigger.offline();
        lookAtClock();
      },
      { signal },
    );
    view.addEventListener(
      'online',
      () => {
        liveness.trigger.online();
        // What was asked without a line says nothing any more.
        stopAsking();
        wake();
      },
      { signal },
    );
    page.addEventListener('visibilitychange', () => (page.hidden ? hide() : wake()), { signal });
    view.addEventListener('pagehide', () => say('leave'), { signal });
    view.addEventListener('pageshow', (event) => event.persisted && wake(), { signal });
  }

  function hide(): void {
    stopAsking();
    if (link?.isShared !== false) return;
    for (const timer of [renewal, answer]) timers.clear(timer);
    endAsking();
    say('leave');
  }

  return {
    on: board.on,
    get staleSince() {
      return shown.current.staleSince;
    },
    get trueUntil() {
      const { lastByteAt, missedSince } = now();
      return Math.min(missedSince ?? lastByteAt, lastByteAt, Date.now());
    },
    get away() {
      return shown.current.isOffline || shown.current.isSilent;
    },
    async isAway() {
      if (now().staleSince === null) return false;
      return now().isOffline || !(await reach.answers());
    },
    shows(at) {
      shownAt = Math.min(shownAt ?? at, at);
      if (session === null) return;
      liveness.trigger.kept({ at: shownAt });
      lookAtClock();
    },
    unanswered(since) {
      catchUp.unanswered(since);
      lookAtClock();
    },
    start(key) {
      if (session === key) return;
      if (session === null) {
        catchUp.started();
        if (shownAt !== null) liveness.trigger.kept({ at: shownAt });
        link ??= createHubLink(view, heard, () => {
          catchUp.moved();
          say('attach');
        });
        listen();
      }
      session = key;
      endAsking();
      say('attach');
      lookAtClock();
    },
    stop() {
      say('ended');
      listening.abort();
      for (const timer of [look, renewal, answer]) timers.clear(timer);
      endAsking();
      session = null;
      shownAt = null;
      stopAsking();
      liveness.trigger.started({ at: Date.now() });
    },
  };
}

/** Calls `listener` for hints while the calling component is shown. Call it during component initialisation. */
export function follow(live: Live, type: HintType, id: string | null, listener: HintListener): void {
  $effect(() => live.on(type, id, listener));
}
