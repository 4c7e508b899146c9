/** Shapes of the answers about Alert Groups (Alert Group chapter §5, api §12). */
import * as v from 'valibot';
import { COMMAND_NAMES } from '../../actors/alert-group/allowed-commands.ts';
import { SNOOZE_PRESETS } from '../../actors/alert-group/presets.ts';
import { TIMELINE_KINDS } from '../../actors/alert-group/timeline.ts';
import { GROUP_STATUSES, RESOLVE_REASONS, SEVERITY_LEVELS } from '../../actors/model.ts';
import { ActorRef, AlertGroupRef, EntityRef, Labels, UserRef } from '../shapes.ts';

const text = v.nullable(v.string());

export const ResolutionShape = v.object({
  by: v.picklist(['user', 'system']),
  actor: v.nullable(ActorRef),
  reason: v.nullable(v.picklist(RESOLVE_REASONS)),
  reason_text: text,
});

export const NoticeShape = v.object({
  kind: v.picklist([
    'alerts_still_firing',
    'newer_alert_group_exists',
    'firing_again_after_manual_resolve',
    'replacement',
    'details_removed',
  ]),
  count: v.optional(v.number()),
  label: v.optional(v.string()),
  retention_days: v.optional(v.number()),
  resolved_number: v.optional(v.number()),
  related_alert_group: v.optional(AlertGroupRef),
});

export const LinkShape = v.object({
  kind: v.picklist(['link_rule', 'runbook', 'dashboard', 'source']),
  name: v.string(),
  url: v.string(),
  link_rule_id: text,
});

export const AlertGroupShape = v.object({
  id: v.string(),
  number: v.number(),
  title: v.string(),
  summary: text,
  status: v.picklist(GROUP_STATUSES),
  owner: v.nullable(UserRef),
  snooze_until: text,
  snoozed_by: v.nullable(ActorRef),
  severity_level: v.picklist(SEVERITY_LEVELS),
  urgent: v.boolean(),
  route: EntityRef,
  integrations: v.array(EntityRef),
  started_at: v.string(),
  resolved_at: text,
  last_changed_at: v.string(),
  reopen_count: v.number(),
  firing_alert_count: v.number(),
  resolved_alert_count: v.number(),
  resolution: v.nullable(ResolutionShape),
  unclaimed: v.boolean(),
  next_notice: v.nullable(v.object({ kind: v.picklist(['ack_timeout', 'reminder']), at: v.string() })),
  delivery_problem: v.boolean(),
  details_removed: v.boolean(),
  group_labels: Labels,
  common_labels: Labels,
  common_annotations: Labels,
  label_values: Labels,
  notices: v.array(NoticeShape),
  links: v.array(LinkShape),
  allowed_commands: v.array(v.picklist(COMMAND_NAMES)),
});

export const CommandAnswer = v.object({
  outcome: v.picklist(['done', 'unchanged']),
  alert_group: AlertGroupShape,
});

export const BulkAnswer = v.object({
  results: v.array(
    v.object({
      alert_group_id: v.string(),
      number: v.nullable(v.number()),
      outcome: v.picklist(['done', 'unchanged', 'refused', 'skipped', 'failed']),
      code: text,
      message: text,
    }),
  ),
});

export const CountsShape = v.object({
  firing: v.number(),
  acknowledged: v.number(),
  snoozed: v.number(),
  resolved: v.number(),
  all: v.number(),
});

export const AlertShape = v.object({
  fingerprint: v.string(),
  integration: EntityRef,
  labels: Labels,
  annotations: Labels,
  state: v.picklist(['firing', 'resolved']),
  resolve_reason: v.nullable(v.picklist(RESOLVE_REASONS)),
  resolve_reason_text: text,
  starts_at: v.string(),
  resolved_at: text,
  last_seen_at: v.string(),
  alertmanager_groups: v.array(v.string()),
  source_url: text,
});

export const RelatedShape = v.object({
  id: v.string(),
  number: v.number(),
  status: v.picklist(GROUP_STATUSES),
  started_at: v.string(),
  duration_seconds: v.nullable(v.number()),
  resolution: v.nullable(ResolutionShape),
});

export const NoteShape = v.object({
  id: v.string(),
  body: v.string(),
  author: ActorRef,
  transport: v.string(),
  created_at: v.string(),
});

const level = v.nullable(v.picklist(SEVERITY_LEVELS));
const strings = v.array(v.string());

/** `kind` says which of the optional fields are there (Alert Group chapter §5.1). */
export const TimelineEntryShape = v.object({
  id: v.string(),
  at: v.string(),
  kind: v.picklist(TIMELINE_KINDS),
  actor: v.object({
    kind: v.picklist(['user', 'service_account', 'system']),
    id: v.optional(v.string()),
    name: v.optional(v.string()),
    login: v.optional(text),
    token_name: v.optional(text),
    transport: v.optional(v.string()),
    reason: v.optional(v.string()),
  }),
  event: v.optional(v.string()),
  loudness: v.optional(v.picklist(['loud', 'quiet'])),
  mentions: v.optional(strings),
  sequence: v.optional(v.number()),
  from_status: v.optional(v.nullable(v.picklist(GROUP_STATUSES))),
  to_status: v.optional(v.picklist(GROUP_STATUSES)),
  reason: v.optional(text),
  reason_text: v.optional(text),
  owner: v.optional(v.nullable(UserRef)),
  previous_owner: v.optional(v.nullable(UserRef)),
  snooze_until: v.optional(text),
  fingerprints: v.optional(strings),
  label_conflicts: v.optional(strings),
  replaced_label: v.optional(text),
  from_severity_level: v.optional(level),
  to_severity_level: v.optional(level),
  note: v.optional(NoteShape),
  notice_number: v.optional(v.nullable(v.number())),
  missed_count: v.optional(v.nullable(v.number())),
  delivery_event: v.optional(v.string()),
  destination: v.optional(EntityRef),
  error: v.optional(text),
  system_event: v.optional(v.string()),
  period_from: v.optional(text),
  period_to: v.optional(text),
  detail: v.optional(text),
});

export const SnoozePresetsShape = v.object({
  time_zone: v.string(),
  workday_start: v.string(),
  week_start: v.string(),
  items: v.array(v.object({ preset: v.picklist(SNOOZE_PRESETS), until: v.string() })),
});
