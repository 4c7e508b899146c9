/** What the engine and the model are compared by. Instants are µs after the begin of the story. */
import type { Micros } from '../../runtime/clock.ts';

export interface Picture {
  /** By name of the Alert. */
  readonly alerts: Readonly<Record<string, AlertPicture>>;
  /** By name: `A#2` is the second Alert Group of the alertname A. */
  readonly groups: Readonly<Record<string, GroupPicture>>;
}

export interface AlertPicture {
  readonly state: 'firing' | 'resolved';
  readonly startsAt: Micros;
  readonly text: string;
  /** Start of the last firing that ended. */
  readonly endedStart: Micros | null;
  readonly resolvedAt: Micros | null;
  readonly resolvedBy: 'own_entry' | 'group_wide' | 'gone' | 'stale' | null;
  /** Where it fires, or fired last. */
  readonly group: string;
  /** By sender group, while it fires: `listed`, or since when it is missed, µs. */
  readonly presences: Readonly<Record<string, 'listed' | Micros>>;
}

export interface GroupPicture {
  readonly open: boolean;
  /** Lifecycle events of the last Snapshot with the Alerts they name, in order: `alert_resolved gone A1m B1m`. */
  readonly events: readonly string[];
}
