/** What the Alerts view of an Integration reads. Implemented by storage; instants are µs (ingestion §10). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Matcher } from '../directory.ts';
import type { AlertState } from '../model.ts';
import type { GroupRef } from './ports.ts';
import type { KeyedPage } from './reading.ts';
import type { GroupAlert } from './rows.ts';

export interface AlertsViewQuery {
  readonly integrationId: PublicId;
  readonly state: AlertState | null;
  /** All of them hold for the Alert's own labels. */
  readonly matchers: readonly Matcher[];
  /** Substring of a label's value, in any case. */
  readonly text: string | null;
  readonly sort: 'last_seen_at' | 'starts_at';
  readonly descending: boolean;
  /** Sort key of the last Alert that was looked at for the page before. */
  readonly after: readonly [value: Micros, fingerprint: string] | null;
  readonly limit: number;
}

/** An Alert in the group where it fires, or fired last. */
export interface ViewedAlert {
  readonly alert: GroupAlert;
  readonly group: GroupRef;
}

export interface AlertsView {
  /**
   * Alerts that fire, and those that resolved within what retention keeps; each once. A page may be short, even empty,
   * and still have a next one: so many are looked at for it and no more.
   */
  list(query: AlertsViewQuery, now: Micros): Promise<KeyedPage<ViewedAlert>>;
}
