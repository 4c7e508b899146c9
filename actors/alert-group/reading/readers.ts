/** What lists and pages of Alert Groups read. Implemented by storage; instants are µs. */
import { DAY, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Matcher } from '../../directory.ts';
import type { AlertState, GroupStatus, ResolveReason, SeverityLevel } from '../../model.ts';
import type { GroupRow } from '../effects.ts';
import type { GroupRef } from '../ports.ts';
import type { GroupAlert } from '../rows.ts';
import type { TimelineKind } from '../transitions.ts';
import type { NoteEntry, TimelineEntry } from './timeline.ts';

export interface GroupReader {
  list(query: GroupListQuery): Promise<GroupPage>;
  counts(filter: GroupFilter): Promise<Readonly<Record<GroupStatus, number>>>;
  folds(query: FoldQuery): Promise<Folds>;
  /** Null when there is no such Alert Group. */
  read(id: PublicId): Promise<StoredGroup | null>;
  alerts(query: AlertsQuery): Promise<KeyedPage<StoredAlert>>;
  timeline(query: TimelineQuery): Promise<KeyedPage<TimelineEntry>>;
  notes(query: PageOf): Promise<KeyedPage<NoteEntry>>;
  note(groupId: PublicId, id: PublicId): Promise<NoteEntry | null>;
  /** Groups of the same original Route and key with a lower number, newest first. */
  related(query: PageOf): Promise<KeyedPage<StoredGroup>>;
}

/** The projection of one Alert Group, with its references to others. */
export interface StoredGroup extends GroupRow {
  readonly number: number;
  readonly detailsRemoved: boolean;
  /** Present retention of details, days; null while this group still has its details. */
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

export interface FoldQuery {
  readonly filter: GroupFilter;
  /** Label by whose values groups are counted; null for the names of their labels, each group in the fold of each. */
  readonly by: string | null;
  /** Labels whose values are counted in each fold. */
  readonly distinct: readonly string[];
}

/** Alert Groups that share a value of a label, or a name; the fold of null holds those that share none. */
export interface Fold {
  readonly value: string | null;
  readonly groupCount: number;
  readonly firingCount: number;
  /** The most severe of them. */
  readonly severityLevel: SeverityLevel;
  readonly lastStartedAt: Micros;
  readonly distinct: readonly { readonly label: string; readonly count: number }[];
}

export interface Folds {
  /** The largest first. */
  readonly items: readonly Fold[];
  readonly foldCount: number;
  readonly groupCount: number;
  /** Only the newest groups were looked at: there may be more. */
  readonly truncated: boolean;
}

/** What a page after this Alert Group starts behind. */
export function sortKey(group: StoredGroup, sort: SortColumn): readonly [value: number, number: number] {
  return [sort === 'started_at' ? group.startedAt : group.lastChangedAt, group.number];
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

/** What the Alerts view of an Integration reads. Implemented by storage; instants are µs (ingestion §10). */
export interface AlertsViewQuery {
  readonly integrationId: PublicId;
  readonly state: AlertState | null;
  /** All of them hold for the Alert's own labels. */
  readonly matchers: readonly Matcher[];
  /** Substring of a label's value, in any case. */
  readonly text: string | null;
  readonly sort: 'last_seen_at' | 'starts_at';
  readonly descending: boolean;
  /** Sort key of the last Alert that was examined for the previous page. */
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
   * Firing Alerts, and Alerts that resolved within the retention period, each once. A page may be short or empty and
   * still have a next one, because the number of Alerts examined for a page is bounded.
   */
  list(query: AlertsViewQuery, now: Micros): Promise<KeyedPage<ViewedAlert>>;
}

/** How many Alert Groups started in a period and how fast people were. Implemented by storage (alert-groups §10). */
export const STATISTICS_SUBJECTS = ['route', 'integration'] as const;
export type StatisticsSubject = (typeof STATISTICS_SUBJECTS)[number];

export interface StatisticsQuery {
  readonly groupBy: StatisticsSubject;
  /** Of the kind grouped by; empty: all. */
  readonly subjectIds: readonly PublicId[];
  /** Started within [from, to). */
  readonly from: Micros;
  readonly to: Micros;
  /** IANA time zone that defines the days. */
  readonly timeZone: string;
}

/** Percentiles of durations, exact by linear interpolation, µs; null when none was counted. */
export interface Durations {
  readonly count: number;
  readonly median: number | null;
  readonly p90: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export interface Figures {
  readonly groupCount: number;
  /** From the start to the first Acknowledge, of those ever acknowledged. */
  readonly timeToAcknowledge: Durations;
  /** From the start to the end, of those that are resolved now. */
  readonly timeToResolve: Durations;
}

export interface SubjectFigures extends Figures {
  readonly subjectId: PublicId;
  /** Dates of start that have any, `YYYY-MM-DD`, ascending. */
  readonly days: readonly (Figures & { readonly date: string })[];
}

export interface StatisticsFigures {
  /** Subjects that have Alert Groups in the period, in no particular order. */
  readonly subjects: readonly SubjectFigures[];
  /** Groups that started in each hour of the week of the zone, from Monday 0:00; each group once. Has 168 entries. */
  readonly weekHours: readonly number[];
  /** Begin of the part of the period that the lists of names and people are about: {@link LISTED_FOR} at most. */
  readonly listsFrom: Micros;
  /** At most {@link MOST_NOISY}, the one with the most groups first, then by name. */
  readonly noisiest: readonly NoisyName[];
  /** All other groups, those whose Alerts share no alertname among them; `nameCount` is how many names they have. */
  readonly noisiestRest: NoiseFigures & { readonly nameCount: number };
  /** At most {@link MOST_PEOPLE}, who acknowledged most first, then by name. */
  readonly people: readonly PersonFigures[];
  /** All others, Service accounts that resolved, and Acknowledges of which it is not kept who made them. */
  readonly peopleRest: DeedFigures & { readonly personCount: number };
}

/** The newest part of a period whose names and people are listed: each group's row is read for them. */
export const LISTED_FOR = 92 * DAY;

/** How many Users the statistics list. */
export const MOST_PEOPLE = 50;

/** What was done to groups; each counts once as acknowledged and once as resolved. */
export interface DeedFigures {
  /** Groups whose first Acknowledge it was. */
  readonly acknowledgedCount: number;
  /** Groups that are resolved now, by it. */
  readonly resolvedCount: number;
}

export interface PersonFigures extends DeedFigures {
  readonly userId: PublicId;
  /** From the start to the first Acknowledge, µs; null without any. */
  readonly medianToAcknowledge: number | null;
}

/** How many alert names the statistics list. */
export const MOST_NOISY = 10;

/** What groups of one alertname ask of people; each group counts once. */
export interface NoiseFigures {
  readonly groupCount: number;
  /** How often they reopened, all together. */
  readonly reopenCount: number;
  /** Those ever acknowledged. Only a User can do that. */
  readonly acknowledgedCount: number;
  /** Those resolved by the system now and never acknowledged. */
  readonly selfResolvedCount: number;
}

export interface NoisyName extends NoiseFigures {
  readonly alertName: string;
}

export interface StatisticsReader {
  read(query: StatisticsQuery): Promise<StatisticsFigures>;
}

/** Subjects of one column that a flow names; the others are summed. */
export const MOST_IN_FLOW = 12;

/** The longest period of a flow: each group's row and its deliveries are read for it. */
export const LONGEST_FLOW = 92 * DAY;

export const FLOW_COLUMNS = ['integration', 'route', 'destination'] as const;

/** `others`: all that are not named. `none`: went to no Destination. `forgotten`: deliveries are not kept any more. */
export const FLOW_KINDS = ['subject', 'others', 'none', 'forgotten'] as const;

export interface FlowNode {
  readonly column: (typeof FLOW_COLUMNS)[number];
  readonly kind: (typeof FLOW_KINDS)[number];
  readonly subject: { readonly id: PublicId; readonly name: string; readonly deleted: boolean } | null;
  /** How many subjects it stands for; 0 of `none` and `forgotten`. */
  readonly subjectCount: number;
  readonly groupCount: number;
}

/** From one node to one of the next column, by their places among the nodes. */
export interface FlowLink {
  readonly source: number;
  readonly target: number;
  readonly groupCount: number;
}

/** Which Alert Groups went where. One of several Integrations or Destinations counts for each. */
export interface Flow {
  /** Each group once. */
  readonly groupCount: number;
  /** By column; in each the one with the most groups first, then by name; then what is not named. */
  readonly nodes: readonly FlowNode[];
  readonly links: readonly FlowLink[];
}

export interface FlowReader {
  /** Of the groups that started in [from, to). @param now tells which deliveries may be gone */
  read(query: { readonly from: Micros; readonly to: Micros; readonly now: Micros }): Promise<Flow>;
}
