/** What an Alert Group may read before a turn, and the inputs that the turn receives. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Slot } from '../model.ts';

export interface RelatedGroups {
  /**
   * The newest other Alert Group of an original Route and key that is open and not moved; null when there is none.
   */
  newerOpen(query: {
    readonly routeId: PublicId;
    readonly keyHash: string;
    readonly except: PublicId;
  }): Promise<GroupRef | null>;
  /** The Alert Groups that some Slots name, by {@link slotKey}; a Slot that names none yet is absent. */
  slotTargets(slots: readonly Slot[]): Promise<ReadonlyMap<string, PublicId>>;
  /** The Alert Groups in which some Alerts fire, by `alertKey`; an Alert that fires nowhere is absent. */
  homesOf(alertKeys: readonly string[]): Promise<ReadonlyMap<string, PublicId>>;
  /** Receipt of the newest Snapshot of each feed, µs, by feed key; absent for a feed without Snapshots. */
  feedsHeardAt(feeds: readonly string[]): Promise<ReadonlyMap<string, Micros>>;
  /** A messenger event that was handled before; `say` is the answer that is still to be sent. Null for a new event. */
  eventHandled(event: {
    readonly connectionId: PublicId;
    readonly eventId: string;
  }): Promise<{ readonly say: string | null } | null>;
}

export interface GroupRef {
  readonly id: PublicId;
  readonly number: number;
}

/**
 * Alerts and Slots, by `alertKey` and {@link slotKey}, that two Alert Groups claimed concurrently: the database refused
 * the second claim. The next turn reads whose they are. Storage marks them when it refuses, so that an ordinary turn
 * reads nothing.
 */
export interface ContestedAlerts {
  mark(key: string): void;
  has(key: string): boolean;
}

const CONTESTED_LIMIT = 10_000;

/** Remembers the newest claims, at most {@link CONTESTED_LIMIT}. */
export function createContestedAlerts(): ContestedAlerts {
  const keys = new Set<string>();
  return {
    mark(alertKey) {
      keys.delete(alertKey);
      keys.add(alertKey);
      const [oldest] = keys;
      if (keys.size > CONTESTED_LIMIT && oldest !== undefined) keys.delete(oldest);
    },
    has: (alertKey) => keys.has(alertKey),
  };
}

/** Map key of a Slot. */
export function slotKey(slot: Pick<Slot, 'routeId' | 'keyHash'>): string {
  return `${slot.routeId}/${slot.keyHash}`;
}

export interface Outside {
  readonly slots: LookedUpSlots;
  /** Where contested Alerts fire, by `alertKey`. */
  readonly homes: ReadonlyMap<string, PublicId>;
  /** Last receipt of the feeds that list ending Alerts, µs, by feed key: repeats are not sent to the group. */
  readonly heardAt: ReadonlyMap<string, Micros>;
  /** For Unresolve. */
  readonly newer: GroupRef | null;
  /** The event that carries the Command, when it was handled before. */
  readonly handled: { readonly say: string | null } | null;
}

export const NOTHING_ASKED: Outside = {
  slots: { asked: new Set(), targets: new Map() },
  homes: new Map(),
  heardAt: new Map(),
  newer: null,
  handled: null,
};

export interface LookedUpSlots {
  readonly asked: ReadonlySet<string>;
  readonly targets: ReadonlyMap<string, PublicId>;
}
