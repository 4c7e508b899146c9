/** Signals between members of one installation, in memory: what is sent arrives in the next microtask, or gets lost. */
import type { Signals } from '../../runtime/broadcast.ts';

export interface SignalsHub {
  /** One more process. It is up. */
  member(): HubMember;
  /** Loses every message for which `isLost` holds, until told otherwise. */
  lose(isLost: (channel: string, message: string) => boolean): void;
  /** Everything sent so far, lost or not. */
  readonly sent: readonly { readonly channel: string; readonly message: string }[];
}

export interface HubMember extends Signals {
  /** Its connection is gone, or back. */
  setUp(isUp: boolean): void;
  /** Another channel is subscribed to: not every channel is in place for a moment, though this one always is. */
  blink(): void;
  /** It is cut off without noticing: it believes to be up, and nothing arrives in either direction. */
  setCutOff(isCutOff: boolean): void;
}

export function createSignalsHub(): SignalsHub {
  const receivers = new Set<(channel: string, message: string) => void>();
  const sent: { channel: string; message: string }[] = [];
  let isLost = (_channel: string, _message: string): boolean => false;

  const carry = (channel: string, message: string) => {
    if (isLost(channel, message)) return;
    for (const receive of receivers) queueMicrotask(() => receive(channel, message));
  };

  return {
    sent,
    lose(which) {
      isLost = which;
    },
    member() {
      const listeners = new Map<string, Set<(message: string) => void>>();
      const watchers = new Set<(isUp: boolean) => void>();
      const placed = new Set<(isPlaced: boolean) => void>();
      let isUp = true;
      let isCutOff = false;
      receivers.add((channel, message) => {
        if (!isUp || isCutOff) return;
        for (const listener of [...(listeners.get(channel) ?? [])]) listener(message);
      });
      return {
        get isUp() {
          return isUp;
        },
        onState(listener) {
          watchers.add(listener);
          return () => void watchers.delete(listener);
        },
        publish(channel, message) {
          if (!isUp) return;
          sent.push({ channel, message });
          if (!isCutOff) carry(channel, message);
        },
        subscribe(channel, listener, onPlaced = () => undefined) {
          const there = listeners.get(channel) ?? new Set();
          listeners.set(channel, there.add(listener));
          placed.add(onPlaced);
          if (isUp) onPlaced(true);
          return () => {
            there.delete(listener);
            placed.delete(onPlaced);
          };
        },
        setUp(next) {
          if (next === isUp) return;
          isUp = next;
          for (const watcher of [...watchers, ...placed]) watcher(next);
        },
        blink() {
          for (const next of [false, true]) {
            isUp = next;
            for (const watcher of [...watchers]) watcher(next);
          }
        },
        setCutOff(next) {
          isCutOff = next;
        },
      };
    },
  };
}
