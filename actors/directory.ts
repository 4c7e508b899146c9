/** The configuration that turns are decided with: one immutable picture, replaced as a whole when something is saved. */
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { SeverityLevel, UserRef } from './model.ts';

export interface Directory {
  readonly organization: OrganizationSettings;
  /** Live Routes in evaluation order, the Default route last. */
  readonly routes: readonly RouteConfig[];
  /** Live and deleted Routes by id; a deleted one keeps its last name. */
  readonly routesById: ReadonlyMap<string, RouteConfig>;
  readonly integrationsById: ReadonlyMap<string, IntegrationConfig>;
  /** Live Destinations only. */
  readonly destinationsById: ReadonlyMap<string, DestinationConfig>;
  /** Live Connections only. */
  readonly connectionsById: ReadonlyMap<string, ConnectionConfig>;
  readonly usersById: ReadonlyMap<string, UserConfig>;
}

/** Hands out the present {@link Directory}. A save reloads it before it is answered. */
export interface DirectorySource {
  current(): Directory;
  /** Reads everything again; resolves when {@link current} shows what is stored now. */
  reload(): Promise<void>;
}

export interface OrganizationSettings {
  readonly id: PublicId;
  readonly name: string;
  readonly timeZone: string;
  /** `HH:MM`. */
  readonly workdayStart: string;
  readonly weekStart: Weekday;
  readonly severityLabel: string;
  readonly severityMapping: readonly { readonly value: string; readonly level: SeverityLevel }[];
  readonly severityEmoji: Readonly<Record<SeverityLevel, string>>;
  readonly criticalIsUrgent: boolean;
  readonly instanceLabels: readonly string[];
}

export type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';

export type MatcherOp = '=' | '!=' | '=~' | '!~';

export interface Matcher {
  readonly label: string;
  readonly op: MatcherOp;
  readonly value: string;
}

export interface RouteConfig {
  readonly id: PublicId;
  readonly name: string;
  readonly isDefault: boolean;
  readonly deleted: boolean;
  readonly matchers: readonly Matcher[];
  readonly urgent: boolean;
  readonly groupKey: readonly string[];
  readonly destinationIds: readonly PublicId[];
  readonly policy: RoutePolicy;
}

/** Policy of a Route, in the API's own shape and units (seconds), so that it is stored and answered as it is. */
export interface RoutePolicy {
  readonly reopen_window_seconds: number;
  readonly grace_period_seconds: number;
  readonly urgent_rise_removes_ack: boolean;
  readonly snooze_durations_seconds: readonly number[];
  readonly thread_batching_window_seconds: number;
  readonly storm_threshold: number;
  readonly language: 'en' | 'ru';
  readonly templates: {
    readonly root_message: string | null;
    readonly line: string | null;
    readonly ack_timeout_notice: string | null;
  };
  readonly ack_timeout: { readonly enabled: boolean; readonly first_interval_seconds: number };
  readonly reminders: {
    readonly enabled: boolean;
    readonly first_interval_seconds: number;
    readonly cap_seconds: number;
  };
  readonly auto_unacknowledge: boolean;
}

export interface IntegrationConfig {
  readonly id: PublicId;
  readonly name: string;
  readonly builtin: boolean;
  readonly deleted: boolean;
  /** When it was deleted, µs. */
  readonly deletedAt: Micros | null;
  /** Deleted, and nothing of it is left to be done: even Snapshots from before are refused. */
  readonly ended: boolean;
  readonly staticLabels: Readonly<Record<string, string>>;
  readonly duplicateWindowSeconds: number;
  readonly heartbeat: { readonly enabled: boolean; readonly timeoutSeconds: number };
}

export interface DestinationConfig {
  readonly id: PublicId;
  readonly name: string;
  readonly type: 'webhook' | 'chat_server' | 'channel_bot' | 'bridge';
  readonly mode: 'events' | 'template' | null;
  /** Null for a webhook. */
  readonly connectionId: PublicId | null;
  /** Raised with every other Connection or channel: what was posted before lies elsewhere. */
  readonly target: number;
  readonly limiter: { readonly limit: number; readonly per_seconds: number };
  readonly mentions: MentionSettings;
}

export interface ConnectionConfig {
  readonly id: PublicId;
  readonly name: string;
  readonly type: 'chat_server' | 'channel_bot' | 'bridge';
}

export type MentionSetting =
  | 'new_alert_group'
  | 'new_alerts'
  | 'reopen'
  | 'ack_timeout'
  | 'snooze_ended'
  | 'rise_to_urgent';

export interface MentionTargets {
  readonly everyone: 'none' | 'all' | 'channel' | 'here';
  readonly user_ids: readonly PublicId[];
  readonly groups: readonly string[];
}

export type MentionSettings = Readonly<Record<MentionSetting, MentionTargets>>;

export interface UserConfig extends UserRef {
  readonly status: 'active' | 'disabled' | 'deleted';
  readonly timeZone: string | null;
}
