/** What is known of the service itself, as the API and the metrics show it. Implemented in storage. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { IntegrationIssue } from '../integration/heartbeat.ts';
import type { GroupStatus } from '../model.ts';
import type { RouteTemplateKind } from '../route/policy.ts';
import type { Downtime, Pulse } from './downtime.ts';

export interface SystemStatusReader {
  pulse(): Promise<Pulse>;
  /** Everything of one moment. */
  status(now: Micros): Promise<SystemStatus>;
  /** The part whose changes people are told of, cheap enough to be asked for all the time. */
  signs(now: Micros): Promise<SystemSigns>;
}

export interface SystemSigns {
  readonly pulse: Pulse;
  /** Those whose record is fresh. */
  readonly replicas: readonly { readonly id: string; readonly isLeader: boolean }[];
  /** Destinations that are Broken or whose template fails, and since when. */
  readonly troubles: readonly {
    readonly id: PublicId;
    readonly brokenSince: Micros | null;
    readonly templateErrorSince: Micros | null;
  }[];
}

export interface SystemStatus {
  /** Those whose record is fresh, the Leader first, then by id. */
  readonly replicas: readonly ReplicaStatus[];
  readonly downtime: Downtime | null;
  /** Every shard, by its number. */
  readonly shards: readonly ShardStatus[];
  /** Snapshots that wait to be processed. */
  readonly snapshots: Queue;
  /** Messages between replicas that wait for their receiver. */
  readonly inbox: Queue;
  /** Destinations for which something waits, the longest queue first. */
  readonly deliveryQueues: readonly { readonly destination: EntityRef; readonly queued: number }[];
  /** The oldest first. */
  readonly brokenDestinations: readonly {
    readonly destination: EntityRef;
    readonly since: Micros;
    readonly reason: string;
  }[];
  /** Not Broken, but no call succeeded since then. The oldest first. */
  readonly failingDestinations: readonly {
    readonly destination: EntityRef;
    readonly since: Micros;
    /** Of the newest call; masked. */
    readonly error: string;
    readonly waiting: number;
  }[];
  /** The oldest first. */
  readonly integrationsAttention: readonly {
    readonly integration: EntityRef;
    readonly issue: IntegrationIssue;
    readonly since: Micros;
  }[];
  /** The oldest first. */
  readonly templateErrors: readonly {
    readonly subjectKind: 'route' | 'destination';
    readonly subject: EntityRef;
    readonly template: RouteTemplateKind | 'webhook_request';
    readonly since: Micros;
    readonly error: string;
  }[];
  /** The oldest first. */
  readonly activeStorms: readonly {
    readonly route: EntityRef;
    readonly since: Micros;
    readonly alertGroupCount: number;
  }[];
  readonly outgoingHeartbeat: OutgoingHeartbeatStatus;
}

/** The last attempt with the present URL; all null before the first. */
export interface OutgoingHeartbeatStatus {
  readonly isConfigured: boolean;
  readonly lastAttemptAt: Micros | null;
  readonly lastOk: boolean | null;
  readonly lastError: string | null;
}

export interface ReplicaStatus {
  readonly id: string;
  readonly isLeader: boolean;
  readonly keyIds: readonly string[];
  readonly version: string;
  readonly startedAt: Micros;
  readonly refreshedAt: Micros;
}

export interface ShardStatus {
  /** Index of its owner among the replicas; null when none of them owns it. */
  readonly owner: number | null;
  /** Whether it got a new owner within the last hour. */
  readonly isMoved: boolean;
}

export interface Queue {
  readonly waiting: number;
  /** Since when the oldest waits; null when none does. */
  readonly oldestAt: Micros | null;
}

interface EntityRef {
  readonly id: PublicId;
  readonly name: string;
}

/** What the Leader's gauges show. */
export interface GaugeReadings {
  /** Every live Integration but the built-in one. */
  readonly integrations: readonly { readonly id: string; readonly isLost: boolean }[];
  readonly snapshotsWaiting: number;
  /** Whether the last attempt of the outgoing heartbeat failed; null when it is off or was not tried yet. */
  readonly isOutgoingHeartbeatLost: boolean | null;
  /** Open Alert Groups; Routes and states without any are absent. */
  readonly groups: readonly {
    readonly route: string;
    readonly status: Exclude<GroupStatus, 'resolved'>;
    readonly count: number;
  }[];
  /** Every live Destination. */
  readonly destinations: readonly {
    readonly id: string;
    readonly queued: number;
    readonly isBroken: boolean;
  }[];
  /** Routes in a Storm. */
  readonly storms: readonly string[];
}

/** What is committed of one actor of any kind, for people who look at it. Implemented in storage. */
export interface ActorStateReader {
  /** Null when nothing was ever stored of it. */
  read(actor: Address): Promise<StoredActor | null>;
  /** How many actors of each kind are in each state, of one moment; states without any are absent. */
  counts(): Promise<
    readonly { readonly kind: string; readonly state: StoredActor['state']; readonly count: number }[]
  >;
  /** Actors in a state or in one within it, by key. A page may be short, or empty, and not be the last. */
  list(query: ActorQuery): Promise<{ readonly items: readonly ListedActor[]; readonly next: string | null }>;
}

export interface ActorQuery {
  readonly kind: string;
  /** Path of names joined by dots. */
  readonly state: string;
  /** Key of the last actor that was looked at; '' for the first page. */
  readonly after: string;
  readonly limit: number;
}

export interface ListedActor extends Pick<StoredActor, 'state' | 'version' | 'wakeAt'> {
  readonly key: string;
  /** When it was stored last. */
  readonly changedAt: Micros;
}

/** A message in the inbox, without what it says. */
export interface WaitingMessage {
  readonly type: string;
  /** When it was stored. */
  readonly since: Micros;
}

export interface StoredActor {
  /** Id of the replica that took the actor's shard last; null while none has it. */
  readonly replica: string | null;
  /** As XState writes it: a name, or names within names; never the context. Null before its machine has begun. */
  readonly state: unknown;
  /** Of the shape of what is stored. */
  readonly schema: number;
  /** Messages to it in the inbox, among the oldest 1,000 of its shard. */
  readonly waiting: number;
  /** The oldest 20 of them, the oldest first. */
  readonly inbox: readonly WaitingMessage[];
  /** Counts commits of the actor. */
  readonly version: number;
  readonly wakeAt: Micros | null;
}
