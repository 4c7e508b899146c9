/**
 * The way of a tab to the hub of its browser, and the choice where the hub runs: in a shared worker; without those, or
 * when it cannot be loaded or never answers, in the tab that holds a Web Lock; without locks (they need https) in each tab.
 */
import { type HubMessage, runHub, type TabMessage } from './hub.ts';
import workerUrl from './shared-worker.ts?sharedworker&url';

/** Workers that are started anew without an answer, until the hub runs in a tab. */
const REVIVALS = 2;
/** Wait before the next request of a lock that was taken away or refused: doubles from the first to the second. */
const RETRY_MS = [1_000, 60_000] as const;
/** What tabs say on the same channel is for the hub alone. */
const FROM_HUB: ReadonlySet<string> = new Set<HubMessage['kind']>(['status', 'bytes', 'hint', 'refused']);

export interface HubLink {
  post(message: TabMessage): void;
  /** The hub does not answer: its worker was ended, or its tab sleeps with the lock in its hand. */
  revive(): void;
  /** False when each tab has a stream of its own, which a hidden one had better not keep. */
  readonly isShared: boolean;
  close(): void;
}

/** @param moved is called when the hub runs elsewhere from now on, and knows nothing of this tab */
export function createHubLink(
  view: Window & typeof globalThis,
  heard: (message: HubMessage) => void,
  moved: () => void,
): HubLink {
  const name = new view.URL(workerUrl, view.location.href).pathname;
  let channel = join(`tocsin.live ${name}`);
  let ownHub: OwnHub | null = null;
  let isClosed = false;
  let unanswered = 0;

  function join(channelName: string): BroadcastChannel {
    const joined = new view.BroadcastChannel(channelName);
    joined.onmessage = (event: MessageEvent<HubMessage | TabMessage>) => {
      if (!isFromHub(event.data)) return;
      unanswered = 0;
      heard(event.data);
    };
    return joined;
  }

  function useWorker(): void {
    new view.SharedWorker(workerUrl, { name }).onerror = () => {
      // Another build has replaced its file, or the browser does not let it run.
      if (isClosed || ownHub !== null) return;
      moveToTab();
    };
  }

  function moveToTab(): void {
    useTab();
    moved();
  }

  function useTab(): void {
    const { locks } = view.navigator;
    const channelName = locks
      ? `tocsin.live.tab ${name}`
      : `tocsin.live.own ${name} ${Date.now()} ${Math.random()}`;
    channel.close();
    channel = join(channelName);
    ownHub = locks
      ? hubUnderLock(locks, channelName)
      : { revive: () => undefined, stop: runHub(channelName) };
  }

  if ('SharedWorker' in view) useWorker();
  else useTab();

  return {
    post: (message) => channel.postMessage(message),
    revive() {
      if (ownHub !== null) ownHub.revive();
      else if (unanswered === REVIVALS) moveToTab();
      else {
        unanswered += 1;
        useWorker();
      }
    },
    get isShared() {
      return ownHub === null || Boolean(view.navigator.locks);
    },
    close() {
      isClosed = true;
      ownHub?.stop();
      channel.close();
    },
  };
}

function isFromHub(message: HubMessage | TabMessage): message is HubMessage {
  return FROM_HUB.has(message.kind);
}

interface OwnHub {
  revive(): void;
  stop(): void;
}

/** Of the tabs that request the lock, the one that gets it runs the hub until it closes or the lock is taken away. */
function hubUnderLock(locks: LockManager, channelName: string): OwnHub {
  /** Ends the latest request, whether it waits or has the lock. Earlier ones have ended. */
  let latest = new AbortController();
  let stopHub: (() => void) | null = null;
  let retryMs: number = RETRY_MS[0];

  async function lead(steal: boolean): Promise<void> {
    latest.abort();
    const own = new AbortController();
    const { signal } = own;
    latest = own;
    try {
      await locks.request(channelName, steal ? { steal } : { signal }, async () => {
        if (signal.aborted) return;
        stopHub = runHub(channelName);
        retryMs = RETRY_MS[0];
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
    } catch {
      // Another tab took the lock, this one is being left, or the browser refuses locks.
    }
    if (own !== latest) return;
    stopHub?.();
    stopHub = null;
    setTimeout(() => void (signal.aborted || lead(false)), retryMs);
    retryMs = Math.min(RETRY_MS[1], retryMs * 2);
  }
  void lead(false);

  return {
    revive: () => void (stopHub === null && lead(true)),
    stop: () => latest.abort(),
  };
}
