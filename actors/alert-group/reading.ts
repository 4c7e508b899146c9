/** What lists and pages of Alert Groups read. Implemented by storage; instants are µs. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Matcher } from '../directory.ts';
import type { AlertState, GroupStatus, ResolveReason, SeverityLevel } from '../model.ts';
import type { GroupRow } from './effects.ts';
import type { GroupRef } from './ports.ts';
import type { GroupAlert } from './rows.ts';
import type { NoteEntry, TimelineEntry } from './timeline.ts';
import type { TimelineKind } from './transitions.ts';

export interface GroupReader {
  list(query: GroupListQuery): Promise<GroupPage>;
  counts(filter: GroupFilter): Promise<Readonly<Record<GroupStatus, number>>>;
  /** Null when there is no such Alert Group. */
  read(id: PublicId): Promise<StoredGroup | null>;
  alerts(query: AlertsQuery): Promise<KeyedPage<StoredAlert>>;
  timeline(query: TimelineQuery): Promise<KeyedPage<TimelineEntry>>;
  notes(query: PageOf): Promise<KeyedPage<NoteEntry>>;
  note(groupId: PublicId, id: PublicId): Promise<NoteEntry | null>;
  /** Groups of the same original Route and key with a lower number, newest first. */
  related(query: PageOf): Promise<KeyedPage<StoredGroup>>;
}

/** The projection of one Alert Group, with what it says about others. */
export interface StoredGroup extends GroupRow {
  readonly number: number;
  readonly detailsRemoved: boolean;
  /** For how long details are kept now; null while this group has its own. */
  readonly detailsKeptDays: number | null;
  /** An open, not moved one with the same Route and key, while this one is resolved by a person and not moved. */
  readonly newer: GroupRef | null;
  /** `firingAgainAfter` while that Alert Group still exists. */
  readonly firesAgainAfter: number | null;
}

export interface StoredAlert extends GroupAlert {
  /** #N of the group that took the tail over. */
  readonly movedToNumber: number | null;
}

export type SortColumn = 'started_at' | 'last_changed_at';

export interface GroupListQuery {
  readonly filter: GroupFilter;
  readonly sort: SortColumn;
  readonly descending: boolean;
  /** Sort key of the last item of the page before. */
  readonly after: readonly [value: number, number: number] | null;
  readonly limit: number;
}

/** All given conditions hold together; an absent or empty one holds always. */
export interface GroupFilter {
  readonly statuses: readonly GroupStatus[];
  readonly routeIds: readonly PublicId[];
  readonly integrationIds: readonly PublicId[];
  readonly severities: readonly SeverityLevel[];
  readonly urgent: boolean | null;
  /** What makes a group Urgent with the settings of now. */
  readonly urgency: { readonly routeIds: readonly PublicId[]; readonly critical: boolean };
  readonly resolvedBy: 'user' | 'system' | null;
  readonly resolveReason: ResolveReason | null;
  readonly reopened: boolean | null;
  readonly owner: { readonly id: PublicId | null } | null;
  readonly snoozedNoEnd: boolean | null;
  readonly unclaimed: boolean | null;
  readonly deliveryProblem: boolean | null;
  readonly matchers: readonly Matcher[];
  /** Lifetime overlaps [from, to). */
  readonly from: Micros | null;
  readonly to: Micros | null;
  readonly number: number | null;
  /** Substring of title or summary, in any case. */
  readonly text: string | null;
}

export interface GroupPage extends KeyedPage<StoredGroup> {}

/** A page and the sort key of its last item when there is more. */
export interface KeyedPage<Item> {
  readonly items: readonly Item[];
  readonly next: readonly (string | number)[] | null;
}

export interface PageOf {
  readonly groupId: PublicId;
  readonly after: readonly (string | number | null)[] | null;
  readonly limit: number;
}

export interface AlertsQuery extends PageOf {
  readonly state: AlertState | null;
}

export interface TimelineQuery extends PageOf {
  /** Empty: every kind. */
  readonly kinds: readonly TimelineKind[];
  readonly descending: boolean;
}
