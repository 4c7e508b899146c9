/**
 * The one live stream of a browser, shared by its tabs. The hub runs in a shared worker, or in one of the tabs, and
 * talks with all of them over a broadcast channel, so that a tab that crashes leaves nothing behind but a lease. The
 * stream belongs to a session and ends with it.
 */
import { type ConnectionDeps, createConnection } from './connection.ts';
import type { Hint } from './hints.ts';

/** What a tab says. `session` is the key of its session: tabs with another one belong to somebody else. */
export type TabMessage =
  /** It wants the stream, and may change whose it is. */
  | { readonly kind: 'attach'; readonly tab: string; readonly session: string }
  /** It is still there: said every 20 s, and answered. */
  | { readonly kind: 'here'; readonly tab: string; readonly session: string }
  | { readonly kind: 'leave'; readonly tab: string }
  /** Its session is over. */
  | { readonly kind: 'ended'; readonly tab: string; readonly session: string }
  /** The network or the machine has just come back. */
  | { readonly kind: 'hurry' };

/** What the hub says to all tabs. Times are milliseconds since the epoch. */
export type HubMessage =
  | {
      readonly kind: 'status';
      /** Null: the hub has just begun, and waits for tabs to say that they are here. */
      readonly session: string | null;
      /** The open stream; null while there is none. */
      readonly stream: { readonly id: string; readonly openedAt: number } | null;
      /** Null before the first byte. */
      readonly lastByteAt: number | null;
    }
  | { readonly kind: 'bytes'; readonly at: number }
  | { readonly kind: 'hint'; readonly hint: Hint }
  /** The service refused the stream: every tab asks for itself whether its session is over. */
  | { readonly kind: 'refused' };

/** How often a tab says that it is there. Browsers slow the timers of hidden tabs to one a minute. */
export const LEASE_RENEWAL_MS = 20_000;
const LEASE_MS = 180_000;
const PRUNE_MS = 30_000;
/** Bytes, and answers to tabs that are still there, are passed on at most this often. */
const PACE_MS = 1_000;

export interface HubDeps extends ConnectionDeps {
  readonly post: (message: HubMessage) => void;
}

export interface Hub {
  received(message: TabMessage): void;
  close(): void;
}

export function createHub(deps: HubDeps): Hub {
  const { timers, now, post } = deps;
  /** When each tab was last heard of. */
  const tabs = new Map<string, number>();
  let session: string | null = null;
  let stream: { readonly id: string; readonly openedAt: number } | null = null;
  let lastByteAt: number | null = null;
  let bytesPostedAt = 0;
  let statusDue: unknown = null;
  let prune: unknown = null;

  const connection = createConnection(deps, {
    opened() {
      const openedAt = now();
      stream = { id: `${openedAt}.${deps.random()}`, openedAt };
      lastByteAt = openedAt;
      announce();
    },
    bytes() {
      lastByteAt = now();
      if (Math.abs(lastByteAt - bytesPostedAt) < PACE_MS) return;
      bytesPostedAt = lastByteAt;
      post({ kind: 'bytes', at: lastByteAt });
    },
    hint: (hint) => post({ kind: 'hint', hint }),
    lost() {
      stream = null;
      announce();
    },
    refused: refuse,
  });

  function announce(): void {
    timers.clear(statusDue);
    statusDue = null;
    post({ kind: 'status', session, stream, lastByteAt });
  }

  function refuse(): void {
    disconnect();
    post({ kind: 'refused' });
  }

  function disconnect(): void {
    connection.close();
    timers.clear(statusDue);
    statusDue = null;
    session = null;
    stream = null;
  }

  function connect(of: string): void {
    if (session !== null && session !== of) disconnect();
    session = of;
    connection.open();
    announce();
  }

  function forget(tab: string): void {
    tabs.delete(tab);
    if (tabs.size === 0) disconnect();
  }

  function keep(tab: string): void {
    tabs.set(tab, now());
    prune ??= timers.set(pruneTabs, PRUNE_MS);
  }

  function pruneTabs(): void {
    prune = null;
    for (const [tab, seenAt] of tabs) if (now() - seenAt > LEASE_MS) forget(tab);
    if (tabs.size > 0) prune = timers.set(pruneTabs, PRUNE_MS);
  }

  announce();
  return {
    received(message) {
      switch (message.kind) {
        case 'attach':
          keep(message.tab);
          connect(message.session);
          return;
        case 'here':
          keep(message.tab);
          if (session === null) connect(message.session);
          else statusDue ??= timers.set(announce, PACE_MS);
          return;
        case 'leave':
          forget(message.tab);
          return;
        case 'ended':
          forget(message.tab);
          if (message.session === session) refuse();
          return;
        case 'hurry':
          connection.hurry();
          return;
        default:
          message satisfies never;
      }
    },
    close() {
      timers.clear(prune);
      disconnect();
    },
  };
}

/** Runs a hub on a channel, in whatever global scope this is. @returns stops it */
export function runHub(channelName: string): () => void {
  const channel = new BroadcastChannel(channelName);
  const hub = createHub({
    fetch: (input, init) => fetch(input, init),
    timers: {
      set: (run, ms) => setTimeout(run, ms),
      clear: (timer) => clearTimeout(timer as number),
    },
    now: Date.now,
    random: Math.random,
    post: (message) => channel.postMessage(message),
  });
  channel.onmessage = (event: MessageEvent<TabMessage>) => hub.received(event.data);
  return () => {
    hub.close();
    channel.close();
  };
}
