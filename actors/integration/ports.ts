/** What the configuration of Integrations needs from storage. Implemented in storage/integrations/integrations.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { Labels } from '../model.ts';
import type { Gap } from './machine.ts';

/** What people write, in the API's own keys. */
export interface IntegrationFields {
  readonly name: string;
  readonly description: string;
  readonly static_labels: Labels;
  readonly duplicate_window_seconds: number;
  readonly heartbeat: { readonly enabled: boolean; readonly timeout_seconds: number };
}

export interface StoredIntegration {
  readonly id: PublicId;
  readonly version: number;
  readonly builtin: boolean;
  readonly fields: IntegrationFields;
  readonly createdAt: Micros;
  /** Newest Heartbeat signal since the Heartbeat was switched on. */
  readonly lastSignalAt: Micros | null;
  /** The last signal of a Heartbeat that its actor found lost; out of date once a newer one is stored. */
  readonly lostSince: Micros | null;
  /** Groups whose lists the sender truncates. */
  readonly truncatedGroups: number;
  /** Null when none of late failed. */
  readonly failedSnapshots: FailedSnapshots | null;
  /** Route paths that repeat themselves less often than every hour, by route path. */
  readonly longRepeats: readonly { readonly routePath: string; readonly interval: Micros }[];
  readonly lastSnapshotAt: Micros | null;
  readonly snapshotCount: number;
  /** Open Alert Groups whose firing Alerts all belong to it. */
  readonly openAlertGroups: number;
}

/** Place in the list: the built-in one first, then by name; the id settles equal names. */
export type IntegrationPlace = readonly [builtin: number, name: string, id: string];

export interface IntegrationPage {
  readonly integrations: readonly StoredIntegration[];
  /** Place of the last one when there are more. */
  readonly next: IntegrationPlace | null;
}

export interface IntegrationToken {
  readonly id: PublicId;
  readonly name: string | null;
  readonly createdAt: Micros;
  readonly lastUsedAt: Micros | null;
}

/** What a caller makes of an Integration it was shown inside the transaction. */
export type IntegrationDecision<Refusal> =
  | { readonly save: IntegrationFields }
  | { readonly refuse: Refusal };

export interface IntegrationStore {
  page(after: IntegrationPlace | null, limit: number): Promise<IntegrationPage>;
  /** An Integration that is not deleted. */
  read(id: PublicId): Promise<StoredIntegration | null>;
  create(fields: IntegrationFields, author: Authorship): Promise<StoredIntegration | 'name_taken'>;
  /** Calls `decide` with the locked Integration; saving an equal configuration changes nothing. */
  update<Refusal>(
    id: PublicId,
    decide: (current: StoredIntegration) => IntegrationDecision<Refusal>,
    author: Authorship,
  ): Promise<IntegrationUpdate<Refusal>>;
  /** Also notifies every Alert Group that holds a firing Alert of it. `isCurrent` null accepts any version. */
  remove(
    id: PublicId,
    isCurrent: ((version: number) => boolean) | null,
    author: Authorship,
  ): Promise<IntegrationRemoval>;
  /** Unrevoked ones, oldest first; null when there is no such Integration. */
  tokens(id: PublicId): Promise<readonly IntegrationToken[] | null>;
  /** @param hash SHA-256 of the whole value */
  addToken(
    id: PublicId,
    token: { readonly name: string | null; readonly hash: Uint8Array },
    author: Authorship,
  ): Promise<TokenAddition>;
  /** False when the Integration has no such token that is not revoked. */
  revokeToken(id: PublicId, tokenId: PublicId, author: Authorship): Promise<boolean>;
}

export type IntegrationUpdate<Refusal> =
  | { readonly outcome: 'saved' | 'unchanged'; readonly integration: StoredIntegration }
  | { readonly outcome: 'refused'; readonly refusal: Refusal }
  | { readonly outcome: 'unknown' | 'name_taken' };

export type IntegrationRemoval = 'removed' | 'unknown' | 'builtin' | 'stale';

export type TokenAddition =
  | { readonly outcome: 'added'; readonly token: IntegrationToken; readonly integration: StoredIntegration }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'builtin' };

/** Tokens as ingestion checks them. */
export interface IntegrationTokens {
  /**
   * The live token with this SHA-256, of an Integration that is not deleted. Remembered; a change of tokens calls
   * {@link invalidate}.
   */
  find(hash: Uint8Array): Promise<FoundToken | null>;
  /** Clears the cache: later calls read the database. */
  invalidate(): void;
  /** Records a use in the background, at most once a minute. */
  used(tokenId: PublicId, now: Micros): void;
}

export interface FoundToken {
  readonly tokenId: PublicId;
  readonly integrationId: PublicId;
}

/** A route of the sender, by route path; null for an Integration that does not exist. */
export type AlertmanagerRoutes = (id: PublicId) => Promise<readonly AlertmanagerRoute[] | null>;

export interface AlertmanagerRoute {
  readonly routePath: string;
  /** Learned interval, µs; null while none is learned. */
  readonly interval: Micros | null;
  /** Its groups whose lists the sender truncates. */
  readonly truncatedGroups: number;
}

/**
 * What the actor of an Integration asks before a turn. Committed data only; implemented in
 * storage/integrations/watch.ts.
 */
export interface IntegrationWatch {
  heartbeat(id: PublicId): Promise<HeartbeatEvidence>;
  /**
   * Receipt of its oldest unprocessed Snapshot that may list an Alert, or an earlier instant, µs; null when none
   * waits. Every Snapshot received before has been processed by its feed.
   */
  waitingSince(id: PublicId): Promise<Micros | null>;
  /** Feeds with something that was listed before the cutoff of their route path for the last time. */
  silentFeeds(id: PublicId, query: SilenceQuery): Promise<FeedsSeen>;
  leftovers(id: PublicId): Promise<Leftovers>;
}

export interface SilenceQuery {
  /** By route path, µs. */
  readonly cutoffs: ReadonlyMap<string, Micros>;
  /** Of every other route path, µs. */
  readonly unlearnedCutoff: Micros;
  /**
   * `older_ends`: only presences whose end was reported with an older start, of feeds that are not truncated and
   * received nothing since the cutoff. `older_ends_and_truncated`: those of all feeds, and truncated feeds.
   */
  readonly among: 'all' | 'older_ends' | 'older_ends_and_truncated';
  /** How many feeds at most. */
  readonly limit: number;
}

export interface FeedsSeen {
  /** The longest silent first. */
  readonly silent: readonly SilentFeed[];
  /** Of the others the one that was listed longest ago, by route path. */
  readonly next: readonly { readonly routePath: string | null; readonly listedAt: Micros }[];
}

export interface SilentFeed {
  /** Key of the feed. */
  readonly feed: string;
  readonly groupKey: string;
  readonly routePath: string | null;
  /** Receipt of its last Snapshot, µs. */
  readonly heardAt: Micros;
  /** Its presences, of those asked for, that were listed before the cutoff for the last time. */
  readonly presences: number;
}

/** Bodies that were answered 202 but are not valid Snapshots, so their alerts were not processed (ingestion §4.2). */
export interface FailedSnapshots {
  /** Received within the 24 h before the last Snapshot; at most 1,000 are counted. */
  readonly count: number;
  /** The newest. */
  readonly snapshotId: PublicId;
  readonly receivedAt: Micros;
  /** Names the place in the body. */
  readonly error: string;
}

export interface HeartbeatEvidence {
  /** The newest stored signal; its message may still be in flight. */
  readonly storedSignalAt: Micros | null;
  /** The Leader's last sign of life; null before there was one. */
  readonly markedAt: Micros | null;
  /** The newest recorded outages of the service, oldest first. */
  readonly outages: readonly Gap[];
}

export interface Leftovers {
  /** Snapshots of it wait to be processed. */
  readonly isPending: boolean;
  /** Some of the Alert Groups with a firing Alert of it, those that a person resolved included. */
  readonly groups: readonly PublicId[];
}

/** Alert Groups notified in one turn. */
export const GROUPS_AT_ONCE = 500;
