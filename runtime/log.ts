/**
 * Structured logs: one JSON object a line on stdout. Only the events below exist; each names its fields, so that a
 * search for an event finds every place that writes it.
 */
import pino from 'pino';
import { maskShapes, mayHoldShapes } from './secrets/masking.ts';

const E = 'error';
const W = 'warn';
const I = 'info';

/** Event name → level and the fields it may carry. */
export const LOG_EVENTS = {
  process_started: [I, 'version', 'commit'],
  listeners_started: [I, 'app', 'ingest', 'internal'],
  internal_listener_shared: [W, 'address'],
  public_url_not_https: [W],
  sign_in_not_https: [W, 'origin'],
  startup_failed: [E, 'error'],
  listener_failed: [E, 'listener', 'error'],
  shutdown_requested: [W, 'grace_seconds'],
  shutdown_grace_exceeded: [W],
  shutdown_step_failed: [W, 'error'],
  embedded_database_lost: [E, 'reason'],
  process_stopped: [I],
  process_crashed: [E, 'error', 'stack'],
  http_engine_node: [W, 'error'],
  unknown_variable: [W, 'name'],
  database_settings_conflict: [W, 'used', 'ignored'],
  database_connection_security: [W, 'connection', 'sslmode', 'encrypted'],
  database_unavailable: [E, 'error'],
  database_restored: [I],
  library_message: [W, 'message'],
  migrations_applied: [I, 'from', 'to'],
  migrations_current: [I, 'version'],
  schema_too_new: [E, 'database_version', 'known_version'],
  schema_too_old: [E, 'database_version', 'known_version'],
  partitions_maintained: [I, 'created', 'dropped'],
  partition_maintenance_failed: [W, 'error'],
  keyring_loaded: [I, 'key_ids', 'active_key_id'],
  secret_keys_file_mode: [W],
  secret_unreadable: [E, 'field', 'owner', 'key_id'],
  key_canary_failed: [E],
  active_key_not_held: [E],
  key_activated: [W, 'from', 'to', 'actor'],
  key_switched: [I, 'active'],
  leadership_acquired: [I],
  leadership_lost: [W, 'error'],
  replica_id_taken: [E, 'id'],
  replica_stepped_back: [W],
  leader_task_failed: [W, 'task', 'error'],
  replica_record_failed: [W, 'error'],
  replicas_pruned: [I, 'replicas'],
  downtime_recorded: [W, 'started_at', 'ended_at', 'duration_seconds'],
  clock_skew: [W, 'skew_seconds', 'warning_seconds'],
  shards_taken: [I, 'count', 'reason'],
  lease_fenced: [W, 'kind', 'actor'],
  announcements_failed: [W, 'what', 'error'],
  waiting_for_single_replica: [I],
  redis_unavailable: [E, 'error'],
  redis_restored: [I],
  message_not_sent: [W, 'kind', 'actor', 'message', 'error'],
  message_set_aside: [E, 'kind', 'actor', 'message', 'error'],
  commit_failed: [W, 'error', 'turns'],
  actor_load_failed: [W, 'kind', 'actor', 'error'],
  store_read_failed: [W, 'what', 'error'],
  recent_groups_read: [I, 'groups', 'held'],
  short_lived_pruned: [I, 'table', 'rows'],
  alert_groups_purged: [I, 'details', 'summaries'],
  retention_finished: [I, 'reason', 'removed', 'partitions_dropped', 'complete', 'duration_ms', 'next_at'],
  organization_created: [I],
  bootstrap_admin_ignored: [W],
  bootstrap_admin_missing: [W],
  bootstrap_integration_token_ignored: [W, 'message'],
  oidc_sign_in_failed: [W, 'reason', 'error'],
  oidc_check_failed: [W, 'user', 'reason'],
  oidc_secret_expiring: [W, 'expires_on'],
  audit_entry: [I, 'entry'],
  audit_entry_delayed: [W, 'action', 'error'],
  api_request_failed: [E, 'operation', 'error'],
  snapshot_accepted: [I, 'integration', 'stored_snapshot', 'size_bytes', 'route_pattern'],
  ingest_rejected: [I, 'integration', 'outcome', 'route_pattern', 'client_address'],
  ingest_failed: [E, 'error'],
  token_use_not_noted: [W, 'token', 'error'],
  snapshot_processed: [
    I,
    'integration',
    'stored_snapshot',
    'group_key',
    'alerts',
    'fired',
    'resolved',
    'gone',
    'continued',
    'dropped',
    'truncated',
    'duration_ms',
  ],
  snapshot_failed: [W, 'integration', 'stored_snapshot', 'error'],
  snapshot_processing_interrupted: [W, 'stored_snapshot', 'error'],
  internal_alert_raised: [I, 'alertname', 'fingerprint', 'entity'],
  internal_alert_resolved: [I, 'alertname', 'fingerprint', 'entity'],
  alerts_stale: [I, 'integration', 'groups', 'alerts'],
  heartbeat_live: [I, 'integration', 'last_signal_at'],
  heartbeat_lost: [W, 'integration', 'last_signal_at'],
  route_matcher_invalid: [W, 'route', 'index'],
  link_rule_failed: [W, 'link_rule', 'group', 'error'],
  storm_started: [W, 'route', 'count'],
  storm_ended: [I, 'route', 'count'],
  alert_group_status_changed: [I, 'group', 'route', 'from', 'to', 'reason', 'transport'],
  command_executed: [I, 'command', 'group', 'actor', 'transport', 'outcome'],
  command_refused: [I, 'command', 'group', 'actor', 'transport', 'code'],
  command_failed: [E, 'command', 'group', 'actor', 'transport', 'error'],
  timer_fired: [I, 'kind', 'group', 'missed'],
  delivery_attempt: [
    I,
    'destination',
    'group',
    'kind',
    'outcome',
    'attempt',
    'duration_ms',
    'retry_after_ms',
  ],
  delivery_possible_duplicate: [W, 'destination', 'group'],
  delivery_work_failed: [W, 'destination', 'group', 'error'],
  lost_post_not_edited: [W, 'connection', 'destination', 'group', 'error'],
  delivery_defect: [E, 'destination', 'group', 'error'],
  fallback_template_used: [W, 'destination', 'group', 'route', 'template', 'error'],
  destination_broken: [W, 'destination', 'reason'],
  destination_recovered: [I, 'destination', 'reason'],
  webhook_event_not_delivered: [W, 'destination', 'group', 'webhook_event', 'status'],
  poll_failed: [W, 'connection', 'error'],
  poll_conflict: [I, 'connection', 'backoff_ms'],
  update_dropped: [I, 'connection', 'reason', 'gap_seconds'],
  webhook_not_removed: [W, 'connection', 'error'],
  webhook_not_set: [W, 'connection', 'error'],
  update_deferred: [W, 'connection', 'event_id', 'error'],
  update_failed: [E, 'connection', 'event_id'],
  event_not_answered: [W, 'connection', 'event_id', 'outcome', 'error'],
  press_handled: [I, 'connection', 'group', 'command', 'outcome'],
  press_failed: [W, 'connection', 'event_id', 'error'],
  link_not_confirmed: [W, 'connection', 'error'],
  account_link_linked: [I, 'messenger', 'connection', 'user'],
  account_link_unlinked: [I, 'user', 'reason'],
  account_link_rejected: [I, 'messenger', 'connection', 'user', 'reason'],
  outbound_blocked: [W, 'client', 'rule', 'scheme', 'host'],
  outbound_unverified_address: [I, 'client', 'scheme', 'host'],
  request_records_lost: [W, 'count', 'error'],
  outgoing_heartbeat_failed: [W, 'error'],
  outgoing_heartbeat_recovered: [I],
  live_updates_failed: [W, 'error'],
  live_updates_restored: [I],
} as const satisfies Record<string, readonly ['info' | 'warn' | 'error', ...string[]]>;

/** Members that every line has; a field of the same name would appear twice in it. */
export const LINE_MEMBERS = ['time', 'level', 'event', 'replica'] as const;

export type LogEvent = keyof typeof LOG_EVENTS;

type FieldNames<Event extends LogEvent> = (typeof LOG_EVENTS)[Event] extends readonly [string, ...infer Names]
  ? Names[number]
  : never;

/** Writes a registered event. Field values must already be masked: only what looks like a secret is masked here. */
export type Log = <Event extends LogEvent>(
  event: Event,
  fields?: Readonly<Partial<Record<Extract<FieldNames<Event>, string>, unknown>>>,
) => void;

export type LogLevel = 'info' | 'warn' | 'error';

/** The process's log. `destination` defaults to stdout; tests pass a sink. */
export function createLog(options: {
  readonly level: LogLevel;
  readonly replica: string;
  readonly destination?: pino.DestinationStream;
}): Log {
  const logger = pino(
    {
      level: options.level,
      base: { replica: options.replica },
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    cleaned(options.destination ?? pino.destination({ fd: 1, sync: false })),
  );
  return (event, fields) => logger[LOG_EVENTS[event][0]](fields ?? {}, event);
}

/** A text of a line as JSON writes it. */
const TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/** Marks that turn the direction of text: a terminal would show what follows them on the line backwards. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;

/** Masks each text of a line and writes marks that turn it as JSON escapes, which keeps its value. */
function cleaned(destination: pino.DestinationStream): pino.DestinationStream {
  return {
    write(line) {
      const shown = mayHoldShapes(line) ? line.replace(TEXT, masked) : line;
      destination.write(shown.replace(TURNING, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`));
    },
  };
}

/** The last net (secrets §9), over the text itself: a shape never reaches past its end, nor into an escape. */
function masked(written: string): string {
  const text: string = written.includes('\\') ? JSON.parse(written) : written.slice(1, -1);
  const shown = maskShapes(text);
  return shown === text ? written : JSON.stringify(shown);
}

/** A log that keeps nothing. */
export const silentLog: Log = () => undefined;
