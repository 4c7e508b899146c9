/** What the configuration of Routes needs from storage. Implemented in storage/configuration/routes.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { DestinationConfig, Directory, Matcher, RoutePolicy } from '../directory.ts';
import type { RouteTemplateKind } from './policy.ts';

/** What people write, in the API's own keys. */
export interface RouteFields {
  readonly name: string;
  readonly description: string;
  readonly matchers: readonly Matcher[];
  readonly urgent: boolean;
  readonly group_key: readonly string[];
  /** Live Destinations only: a deleted one is gone from here too. */
  readonly destination_ids: readonly PublicId[];
  readonly policy: RoutePolicy;
}

export interface StoredRoute {
  readonly id: PublicId;
  readonly version: number;
  /** Zero-based index in evaluation order. */
  readonly position: number;
  readonly isDefault: boolean;
  readonly fields: RouteFields;
  /** Of `destination_ids`, in their order. */
  readonly destinations: readonly RouteDestination[];
  readonly createdAt: Micros;
  /** Open Alert Groups whose present Route this is. */
  readonly openAlertGroups: number;
  /** Null unless a Storm lasts. */
  readonly storm: { readonly since: Micros; readonly alertGroupCount: number } | null;
  /** Of the template that failed first and still does. */
  readonly templateError: {
    readonly template: RouteTemplateKind;
    readonly since: Micros;
    readonly error: string;
  } | null;
}

export interface RouteDestination {
  readonly id: PublicId;
  readonly name: string;
  readonly type: DestinationConfig['type'];
  /** Null while healthy. */
  readonly brokenSince: Micros | null;
  readonly brokenReason: string | null;
}

export interface RouteList {
  /** Version of the order, not of the Routes' contents. */
  readonly version: number;
  /** Live Routes in evaluation order, the Default route last. */
  readonly routes: readonly StoredRoute[];
}

/** What a caller makes of a Route it was shown inside the transaction. */
export type Decision<Refusal> = { readonly save: RouteFields } | { readonly refuse: Refusal };

export interface RouteStore {
  list(): Promise<RouteList>;
  /** A live Route. */
  read(id: PublicId): Promise<StoredRoute | null>;
  /** Adds a Route directly before the Default route. */
  create(fields: RouteFields, author: Authorship): Promise<StoredRoute | 'name_taken'>;
  /** Calls `decide` with the locked Route; saving an equal configuration changes nothing. */
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredRoute) => Decision<Refusal>,
    author: Authorship,
  ): Promise<RouteUpdate<Refusal>>;
  /** `isCurrent` judges the version; null when any will do. */
  remove(
    id: PublicId,
    isCurrent: ((version: number) => boolean) | null,
    author: Authorship,
  ): Promise<RouteRemoval>;
  reorder(
    ids: readonly PublicId[],
    isCurrent: (version: number) => boolean,
    author: Authorship,
  ): Promise<RouteReordering>;
}

export type RouteUpdate<Refusal> =
  | { readonly outcome: 'saved' | 'unchanged'; readonly route: StoredRoute }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown' | 'name_taken' };

export type RouteRemoval =
  | { readonly outcome: 'removed' | 'unknown' | 'default_route' | 'stale' }
  | { readonly outcome: 'has_open_alert_groups'; readonly count: number };

export type RouteReordering =
  | { readonly outcome: 'reordered' | 'unchanged'; readonly list: RouteList }
  | { readonly outcome: 'default_route' | 'stale' | 'set_mismatch' };

/** What moving the open Alert Groups of a Route needs from storage. Implemented in storage/configuration/routes.ts. */
export interface RouteMoves {
  /** #N of the newest Alert Group; 0 before the first. */
  newestNumber(): Promise<number>;
  /** Some open Alert Groups whose present Route this is, up to #N. Committed data only. */
  openGroups(routeId: PublicId, upTo: number, limit: number): Promise<readonly PublicId[]>;
  /** Writes the Audit entry. */
  recordMove(
    route: { readonly id: PublicId; readonly name: string },
    count: number,
    author: Authorship,
  ): Promise<void>;
}

/** Suggested Routes and who hid them. Implemented in storage/configuration/routes.ts. */
export interface SuggestionStore {
  dismissedBy(userId: PublicId): Promise<ReadonlySet<string>>;
  /** Permanent and idempotent. */
  dismiss(userId: PublicId, suggestionId: string, at: Micros): Promise<void>;
  /** Calls `decide` with the order of Routes locked, so that a suggestion is accepted once. */
  accept<Refusal>(
    decide: (directory: Directory) => AcceptDecision<Refusal>,
    suggestionId: string,
    author: Authorship,
  ): Promise<Acceptance<Refusal>>;
}

export type AcceptDecision<Refusal> =
  | {
      readonly create: RouteFields;
      /** Directly below this Route; null: on top. */
      readonly below: PublicId | null;
    }
  | { readonly refuse: Refusal };

export type Acceptance<Refusal> =
  | { readonly outcome: 'created'; readonly route: StoredRoute }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'name_taken' };

/** Bodies of Stored Snapshots for a preview of a Group key. Implemented in storage/snapshots/preview-bodies.ts. */
export interface PreviewBodies {
  /** How long Stored Snapshots are kept, days. */
  retentionDays(): Promise<number>;
  /**
   * Bodies received in (after, until], µs, by these Integrations, newest first; a body that an Integration sent again
   * is given once, those that failed processing never.
   */
  newestFirst(period: {
    readonly integrationIds: readonly PublicId[];
    readonly after: Micros;
    readonly until: Micros;
  }): AsyncIterable<{ readonly integrationId: PublicId; readonly body: Buffer }>;
}

/** Alert Groups that Storms hold, as the actor of a Route reads them. Implemented in storage/delivery/storms.ts. */
export interface HeldGroup {
  readonly id: PublicId;
  /** #N */
  readonly number: number;
}

export interface HeldGroups {
  /** In order of #N, those above `after`. Committed data only. */
  page(query: {
    readonly routeId: PublicId;
    /** Start of the Storm, µs. */
    readonly since: Micros;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly HeldGroup[]>;
}
