/** An Integration as it arrives and as it is answered (api §10, ingestion §2.1). */
import * as v from 'valibot';
import {
  HEARTBEAT_STATES,
  heartbeatState,
  type IntegrationWarning,
  integrationWarnings,
} from '../../actors/integration/heartbeat.ts';
import type {
  IntegrationFields,
  IntegrationToken,
  StoredIntegration,
} from '../../actors/integration/ports.ts';
import { heartbeatEndpoint, ingestEndpoint } from '../../actors/integration/snippets.ts';
import { integer, text } from '../../actors/schemas.ts';
import { codePoints } from '../../actors/text.ts';
import { formatInstant, formatInstantOrNull, SECOND } from '../../runtime/clock.ts';
import { name, nameErrors } from '../fields.ts';
import { escapePointer } from '../json-body.ts';
import type { FieldError, FieldErrorCode } from '../problem.ts';
import { Labels } from '../shapes.ts';

const DEFAULT_HEARTBEAT_TIMEOUT = 300;
const STATIC_LABELS_LIMIT = 64;
const LABEL_VALUE_LIMIT = 1_024;
const PROMETHEUS_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Own schema: valibot's record drops names such as `constructor`, which are good label names. */
const StaticLabels = v.pipe(
  v.custom<Readonly<Record<string, string>>>(isObject, 'invalid_format'),
  v.description('An object of label names and their values'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const entries = Object.entries(dataset.value);
    if (entries.length > STATIC_LABELS_LIMIT) addIssue({ message: 'too_long' });
    for (const [key, value] of entries) {
      const message = labelValueProblem(value);
      if (!message) continue;
      addIssue({ message, path: [{ type: 'object', origin: 'value', input: dataset.value, key, value }] });
    }
  }),
);

export const IntegrationInput = v.object({
  name,
  description: v.optional(v.nullable(text(2_000))),
  connection_mode: v.picklist(['webhook_only']),
  static_labels: StaticLabels,
  duplicate_window_seconds: integer(1, 3_600),
  heartbeat: v.object({ enabled: v.boolean(), timeout_seconds: v.optional(integer(1, 86_400)) }),
});
export type IntegrationInput = v.InferOutput<typeof IntegrationInput>;

export const IntegrationShape = v.object({
  id: v.string(),
  name: v.string(),
  description: v.string(),
  connection_mode: v.picklist(['webhook_only']),
  static_labels: Labels,
  duplicate_window_seconds: v.number(),
  heartbeat: v.object({
    enabled: v.boolean(),
    timeout_seconds: v.number(),
    state: v.picklist(HEARTBEAT_STATES),
    url: v.optional(v.string()),
    last_signal_at: v.nullable(v.string()),
    lost_since: v.nullable(v.string()),
  }),
  builtin: v.boolean(),
  ingest_url: v.optional(v.string()),
  last_snapshot_at: v.nullable(v.string()),
  snapshot_count: v.number(),
  warnings: v.array(
    v.object({
      kind: v.picklist([
        'heartbeat_not_configured',
        'heartbeat_waiting',
        'heartbeat_lost',
        'snapshot_truncated',
        'long_repeat_interval',
      ]),
      since: v.optional(v.string()),
      truncated_group_count: v.optional(v.number()),
      route_path: v.optional(v.string()),
      repeat_interval_seconds: v.optional(v.number()),
    }),
  ),
  open_alert_group_count: v.number(),
  created_at: v.string(),
  etag: v.string(),
});

export const IntegrationTokenShape = v.object({
  id: v.string(),
  name: v.nullable(v.string()),
  created_at: v.string(),
  last_used_at: v.nullable(v.string()),
});

/** @param ingestUrl the ingest listener as senders reach it */
export function integrationBody(
  integration: StoredIntegration,
  ingestUrl: string,
): v.InferOutput<typeof IntegrationShape> {
  const { builtin, fields } = integration;
  const { static_labels, heartbeat, ...others } = fields;
  const state = heartbeatState(integration);
  return {
    id: integration.id,
    ...others,
    connection_mode: 'webhook_only',
    static_labels: { ...static_labels },
    heartbeat: {
      ...heartbeat,
      state,
      ...(builtin ? {} : { url: heartbeatEndpoint(ingestUrl) }),
      last_signal_at: formatInstantOrNull(integration.lastSignalAt),
      lost_since: state === 'lost' ? formatInstantOrNull(integration.lastSignalAt) : null,
    },
    builtin,
    ...(builtin ? {} : { ingest_url: ingestEndpoint(ingestUrl) }),
    last_snapshot_at: formatInstantOrNull(integration.lastSnapshotAt),
    snapshot_count: integration.snapshotCount,
    warnings: integrationWarnings(integration).map(warningBody),
    open_alert_group_count: integration.openAlertGroups,
    created_at: formatInstant(integration.createdAt),
    etag: `"${integration.version}"`,
  };
}

function warningBody(
  warning: IntegrationWarning,
): v.InferOutput<typeof IntegrationShape>['warnings'][number] {
  const { kind } = warning;
  switch (kind) {
    case 'heartbeat_not_configured':
    case 'heartbeat_waiting':
      return { kind };
    case 'heartbeat_lost':
      return warning.since === null ? { kind } : { kind, since: formatInstant(warning.since) };
    case 'snapshot_truncated':
      return { kind, truncated_group_count: warning.truncatedGroups };
    case 'long_repeat_interval':
      return {
        kind,
        route_path: warning.routePath,
        repeat_interval_seconds: Math.round(warning.interval / SECOND),
      };
    default:
      return kind satisfies never;
  }
}

export function tokenBody(token: IntegrationToken): v.InferOutput<typeof IntegrationTokenShape> {
  return {
    id: token.id,
    name: token.name,
    created_at: formatInstant(token.createdAt),
    last_used_at: formatInstantOrNull(token.lastUsedAt),
  };
}

/** Everything of the body that is 422. */
export function integrationErrors(input: IntegrationInput): readonly FieldError[] {
  const malformed = Object.keys(input.static_labels).filter((label) => !PROMETHEUS_NAME.test(label));
  return [
    ...nameErrors(input.name),
    ...malformed.map(
      (label): FieldError => ({
        pointer: `/static_labels/${escapePointer(label)}`,
        code: 'invalid_format',
        detail: 'A label name has letters, digits and underscores and does not start with a digit.',
      }),
    ),
  ];
}

/** What is stored: names trimmed, what was left out kept. */
export function integrationFields(
  input: IntegrationInput,
  current: StoredIntegration | null,
): IntegrationFields {
  const { description, heartbeat } = input;
  const stored = current?.fields;
  return {
    name: input.name.trim(),
    description: description === undefined ? (stored?.description ?? '') : (description ?? ''),
    static_labels: input.static_labels,
    duplicate_window_seconds: input.duplicate_window_seconds,
    heartbeat: {
      enabled: heartbeat.enabled,
      timeout_seconds:
        heartbeat.timeout_seconds ?? stored?.heartbeat.timeout_seconds ?? DEFAULT_HEARTBEAT_TIMEOUT,
    },
  };
}

function isObject(input: unknown): boolean {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function labelValueProblem(value: unknown): FieldErrorCode | null {
  if (typeof value !== 'string') return 'invalid_format';
  if (value === '') return 'too_short';
  return codePoints(value) > LABEL_VALUE_LIMIT ? 'too_long' : null;
}
