/** What the API answers, as far as the UI reads it (api §2, §3, §9–§15; alert-groups §5). Instants are RFC 3339 text. */
import type { ProxyConfig, ProxyInput } from './connections.ts';

export type Instant = string;
export type Labels = Readonly<Record<string, string>>;

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

export interface Items<Item> {
  readonly items: readonly Item[];
}

export interface EntityRef {
  readonly id: string;
  readonly name: string;
}

export interface AlertGroupRef {
  readonly id: string;
  readonly number: number;
}

export interface UserRef extends EntityRef {
  readonly login: string;
  readonly deactivated: boolean;
}

/** Of somebody whom one may not read, nothing is said of links. */
export interface LinkedPerson extends UserRef {
  readonly linked?: boolean;
}

export interface ActorRef extends EntityRef {
  readonly kind: 'user' | 'service_account';
  readonly login?: string;
  readonly deactivated: boolean;
}

export interface SecretStatus {
  readonly set: boolean;
  readonly updated_at: Instant | null;
}

export interface Limiter {
  readonly limit: number;
  readonly per_seconds: number;
}

export type MatcherOp = '=' | '!=' | '=~' | '!~';

export interface Matcher {
  readonly label: string;
  readonly op: MatcherOp;
  readonly value: string;
}

export interface User extends EntityRef {
  readonly login: string;
  readonly email: string | null;
  readonly role: string;
  readonly role_locked: boolean;
  readonly source: 'local' | 'oidc' | 'bootstrap';
  readonly oidc_offline_access: boolean;
  readonly sign_in_method: 'local' | 'oidc';
  readonly status: 'active' | 'disabled' | 'deleted';
  readonly totp_enabled: boolean;
  readonly time_zone: string | null;
  readonly language: string | null;
  readonly last_sign_in_at: Instant | null;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface Session {
  readonly user: User;
  readonly state: 'active' | 'totp_required' | 'totp_enrolment_required';
  readonly csrf_token: string;
  readonly permissions: readonly string[];
}

export interface SignInOptions {
  readonly oidc: { readonly enabled: boolean; readonly display_name?: string };
}

export interface Organization {
  readonly name: string;
  readonly time_zone: string;
  readonly totp_required: 'nobody' | 'local_users' | 'everyone';
  readonly oidc_token_grace_seconds: number;
  readonly severity_styles: readonly {
    readonly level: string;
    readonly emoji: string;
    readonly color: string;
  }[];
}

// ---- Integrations (api §10)

export interface IntegrationWarning {
  readonly kind: string;
  readonly truncated_group_count?: number;
  readonly route_path?: string;
  readonly repeat_interval_seconds?: number;
  readonly since?: Instant | null;
}

export interface IntegrationInput {
  readonly name: string;
  readonly description: string;
  readonly connection_mode: 'webhook_only';
  readonly static_labels: Labels;
  readonly duplicate_window_seconds: number;
  readonly heartbeat: { readonly enabled: boolean; readonly timeout_seconds: number };
}

export interface Integration extends Omit<IntegrationInput, 'heartbeat'> {
  readonly id: string;
  readonly heartbeat: {
    readonly enabled: boolean;
    readonly timeout_seconds: number;
    readonly state: 'not_configured' | 'waiting' | 'live' | 'lost';
    readonly url: string;
    readonly last_signal_at: Instant | null;
    readonly lost_since: Instant | null;
  };
  readonly builtin: boolean;
  readonly ingest_url?: string;
  readonly last_snapshot_at: Instant | null;
  readonly snapshot_count: number;
  readonly warnings: readonly IntegrationWarning[];
  readonly open_alert_group_count: number;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface IntegrationToken {
  readonly id: string;
  readonly name: string | null;
  readonly created_at: Instant;
  readonly last_used_at: Instant | null;
}

export interface CreatedIntegrationToken {
  readonly token: IntegrationToken;
  readonly value: string;
  readonly alertmanager_snippet: string;
  readonly heartbeat_snippet: string | null;
}

// ---- Routes (api §11, routes §2, §3)

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

export interface RouteInput {
  readonly name: string;
  readonly description: string;
  readonly matchers: readonly Matcher[];
  readonly urgent: boolean;
  readonly group_key: readonly string[];
  readonly destination_ids: readonly string[];
  readonly policy: RoutePolicy;
}

export interface Route extends RouteInput {
  readonly id: string;
  readonly position: number;
  readonly is_default: boolean;
  readonly destinations: readonly DestinationRef[];
  readonly template_error: {
    readonly since: Instant;
    readonly error: string;
    readonly template?: string;
  } | null;
  readonly storm_active: boolean;
  readonly storm: { readonly since: Instant; readonly alert_group_count: number } | null;
  readonly open_alert_group_count: number;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface RouteProfile {
  readonly id: string;
  readonly name: string;
  readonly urgent: boolean;
  readonly group_key: readonly string[];
  readonly policy: RoutePolicy;
}

// ---- Alert Groups (api §12)

export type GroupStatus = 'firing' | 'acknowledged' | 'snoozed' | 'resolved';
export type SeverityLevel = 'critical' | 'warning' | 'info';
export type CommandName =
  | 'acknowledge'
  | 'unacknowledge'
  | 'resolve'
  | 'unresolve'
  | 'snooze'
  | 'unsnooze'
  | 'still_on_it'
  | 'add_note';

export interface Resolution {
  readonly by: 'user' | 'system';
  readonly actor: ActorRef | null;
  readonly reason: string | null;
  readonly reason_text: string | null;
}

export interface GroupNotice {
  readonly kind: string;
  readonly count?: number;
  readonly label?: string;
  readonly retention_days?: number;
  readonly resolved_number?: number;
  readonly related_alert_group?: AlertGroupRef;
}

export interface GroupLink {
  readonly kind: 'link_rule' | 'runbook' | 'dashboard' | 'source';
  readonly name: string;
  readonly url: string;
  readonly link_rule_id: string | null;
}

export interface AlertGroup {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  readonly owner: UserRef | null;
  readonly snooze_until: Instant | null;
  readonly snoozed_by: ActorRef | null;
  readonly severity_level: SeverityLevel;
  readonly urgent: boolean;
  readonly route: EntityRef;
  readonly integrations: readonly EntityRef[];
  readonly started_at: Instant;
  readonly resolved_at: Instant | null;
  readonly last_changed_at: Instant;
  readonly reopen_count: number;
  readonly firing_alert_count: number;
  readonly resolved_alert_count: number;
  readonly resolution: Resolution | null;
  readonly unclaimed: boolean;
  readonly next_notice: { readonly kind: 'ack_timeout' | 'reminder'; readonly at: Instant } | null;
  readonly delivery_problem: boolean;
  readonly details_removed: boolean;
  readonly group_labels: Labels;
  readonly common_labels: Labels;
  readonly common_annotations: Labels;
  readonly label_values: Labels;
  readonly notices: readonly GroupNotice[];
  readonly links: readonly GroupLink[];
  readonly allowed_commands: readonly CommandName[];
}

export interface GroupCounts {
  readonly firing: number;
  readonly acknowledged: number;
  readonly snoozed: number;
  readonly resolved: number;
  readonly all: number;
}

export interface AlertItem {
  readonly fingerprint: string;
  readonly integration: EntityRef;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'firing' | 'resolved';
  readonly resolve_reason: string | null;
  readonly resolve_reason_text: string | null;
  readonly starts_at: Instant;
  readonly resolved_at: Instant | null;
  readonly last_seen_at: Instant;
  readonly alertmanager_groups: readonly string[];
  readonly source_url: string | null;
}

export interface TimelineActor {
  readonly kind: 'user' | 'service_account' | 'system';
  readonly id?: string;
  readonly name?: string;
  readonly login?: string;
  readonly token_name?: string | null;
  readonly transport?: string;
  readonly reason?: string;
}

/** One entry of the history; the fields besides the common ones are those of its kind (alert-groups §5.1). */
export interface TimelineEntry {
  readonly id: string;
  readonly at: Instant;
  readonly kind: 'status' | 'alerts' | 'notes' | 'timers' | 'delivery' | 'system';
  readonly actor: TimelineActor;
  readonly event?: string;
  readonly loudness?: 'loud' | 'quiet' | null;
  readonly mentions?: readonly string[] | null;
  readonly from_status?: GroupStatus | null;
  readonly to_status?: GroupStatus | null;
  readonly reason?: string | null;
  readonly reason_text?: string | null;
  readonly owner?: UserRef | null;
  readonly previous_owner?: UserRef | null;
  readonly snooze_until?: Instant | null;
  readonly fingerprints?: readonly string[] | null;
  readonly label_conflicts?: readonly string[] | null;
  readonly from_severity_level?: SeverityLevel | null;
  readonly to_severity_level?: SeverityLevel | null;
  readonly replaced_label?: string | null;
  readonly note?: Note | null;
  readonly notice_number?: number | null;
  readonly missed_count?: number | null;
  readonly delivery_event?: string;
  readonly destination?: EntityRef | null;
  readonly error?: string | null;
  readonly system_event?: string;
  readonly period_from?: Instant | null;
  readonly period_to?: Instant | null;
  readonly detail?: string | null;
}

export interface Note {
  readonly id: string;
  readonly body: string;
  readonly author: ActorRef;
  readonly transport: string;
  readonly created_at: Instant;
}

export interface RelatedGroup extends AlertGroupRef {
  readonly status: GroupStatus;
  readonly started_at: Instant;
  readonly duration_seconds: number | null;
  readonly resolution: Resolution | null;
}

export interface DeliveryItem {
  readonly destination: DestinationRef;
  readonly state: string;
  readonly thread_not_attached: boolean;
  readonly possible_duplicate: boolean;
  readonly message_url: string | null;
  readonly error: string | null;
  readonly updated_at: Instant;
}

export interface SnoozePresets {
  readonly time_zone: string;
  readonly workday_start: string;
  readonly week_start: string;
  readonly items: readonly { readonly preset: 'tomorrow' | 'week_start'; readonly until: Instant }[];
}

export type SnoozeRequest = { readonly until: Instant } | { readonly no_end: true };

export interface CommandAnswer {
  readonly outcome: 'done' | 'unchanged';
  readonly alert_group: AlertGroup;
}

export interface BulkResult {
  readonly alert_group_id: string;
  readonly number: number | null;
  readonly outcome: 'done' | 'unchanged' | 'refused' | 'skipped' | 'failed';
  readonly code: string | null;
  readonly message: string | null;
}

// ---- Destinations (api §15, webhooks §1)

export interface DestinationHealth {
  readonly state: 'healthy' | 'broken';
  readonly since: Instant | null;
  readonly reason: string | null;
}

export type DestinationType = 'webhook' | 'chat_server' | 'channel_bot' | 'bridge';

export interface DestinationRef extends EntityRef {
  readonly type: DestinationType;
  readonly health: DestinationHealth;
}

export interface HeaderTemplate {
  readonly name: string;
  readonly value: string;
}

export type MentionSetting =
  | 'new_alert_group'
  | 'new_alerts'
  | 'reopen'
  | 'ack_timeout'
  | 'snooze_ended'
  | 'rise_to_urgent';

export interface MentionTargets {
  readonly everyone: 'none' | 'channel' | 'all' | 'here';
  readonly user_ids: readonly string[];
  readonly groups: readonly string[];
}

export type Mentions = Readonly<Record<MentionSetting, MentionTargets>>;

export interface WebhookInput {
  readonly type: 'webhook';
  readonly name: string;
  readonly mentions: Mentions;
  readonly mode: 'events' | 'template';
  /** A block that is left out stays as it is stored. */
  readonly events?: { readonly url: string; readonly headers: readonly HeaderTemplate[] };
  readonly template?: TemplateInput;
  readonly limiter: Limiter;
  readonly proxy: ProxyInput;
}

/** A value that is taken from an answer. */
export interface ExtractionRule {
  readonly name: string;
  readonly path: string;
}

export interface RequestTemplate {
  readonly request: string;
  readonly extract?: readonly ExtractionRule[];
}

export interface TemplateInput {
  readonly create: RequestTemplate;
  readonly update: RequestTemplate;
  readonly open_thread: RequestTemplate | null;
  readonly reply_in_thread: RequestTemplate | null;
}

export interface SigningSecretStatus extends SecretStatus {
  readonly previous_active_since: Instant | null;
}

export interface DestinationWarning {
  readonly kind: string;
  readonly field?: string | null;
  readonly line?: number | null;
  readonly since?: Instant | null;
}

export interface Destination extends DestinationRef {
  readonly mode?: 'events' | 'template';
  readonly events?: { readonly url: string; readonly headers: readonly HeaderTemplate[] } | null;
  readonly template?: TemplateInput | null;
  readonly mentions: Mentions;
  readonly limiter: Limiter;
  /** Of a messenger. */
  readonly connection_id?: string;
  readonly channel_id?: string;
  readonly channel_name?: string | null;
  readonly proxy?: ProxyConfig;
  readonly signing_secret_status?: SigningSecretStatus;
  readonly routes: readonly EntityRef[];
  readonly warnings: readonly DestinationWarning[];
  readonly template_error: {
    readonly request?: string;
    readonly since: Instant;
    readonly error: string;
  } | null;
  readonly created_at: Instant;
  readonly etag: string;
}

export interface CreatedDestination {
  readonly destination: Destination;
  readonly signing_secret: string | null;
}

export interface NamedSecret extends SecretStatus {
  readonly name: string;
}
