/** An Integration as it arrives and as it is answered (api §10, ingestion §2.1), and what its operations share. */
import * as v from 'valibot';
import type { DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import {
  heartbeatState,
  type IntegrationWarning,
  integrationWarnings,
} from '../../../actors/integration/heartbeat.ts';
import type {
  IntegrationFields,
  IntegrationStore,
  IntegrationToken,
  StoredIntegration,
} from '../../../actors/integration/ports.ts';
import { heartbeatEndpoint, ingestEndpoint } from '../../../actors/integration/snippets.ts';
import { integer } from '../../../actors/schemas.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstant, formatInstantOrNull, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Answer, Call } from '../../operation.ts';
import { conflict, type FieldError, type FieldErrorCode } from '../../problem.ts';
import { pointerInto } from '../../request/json-body.ts';
import * as d from '../../schema/described.ts';
import { freeText, name, nameErrors } from '../../schema/fields.ts';
import { Labels } from '../../schema/shapes.ts';
import { HeartbeatState, IntegrationWarningKind } from '../../schema/words.ts';

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

export const IntegrationInput = d.named(
  'IntegrationInput',
  v.object({
    name,
    description: freeText,
    connection_mode: d.described(
      v.picklist(['webhook_only']),
      '`webhook_only`, the only way: it posts Snapshots.',
    ),
    static_labels: d.described(
      StaticLabels,
      'Labels that each of its Alerts gets. One that the sender sets wins.',
    ),
    duplicate_window_seconds: d.described(
      integer(1, 3_600),
      'Seconds in which the same Snapshot of a pair of senders counts once, 1 to 3,600.',
    ),
    heartbeat: d.described(
      v.object({
        enabled: d.flag('Whether Heartbeats are expected.'),
        timeout_seconds: d.described(
          v.optional(integer(1, 86_400)),
          'Seconds without a Heartbeat until the sender is lost, 1 to 86,400. Left out it stays.',
        ),
      }),
      'Whether silence of the sender is noticed.',
    ),
  }),
  'An Integration as it is saved.',
);
export type IntegrationInput = v.InferOutput<typeof IntegrationInput>;

export const IntegrationShape = d.named(
  'Integration',
  v.object({
    id: d.id('NT'),
    name: d.text('Its name, unique.'),
    description: d.text('Free text.'),
    connection_mode: d.described(v.picklist(['webhook_only']), '`webhook_only`: it posts Snapshots.'),
    static_labels: d.described(Labels, 'Labels that each of its Alerts gets.'),
    duplicate_window_seconds: d.count('Seconds in which the same Snapshot of a pair of senders counts once.'),
    heartbeat: d.described(
      v.object({
        enabled: d.flag('Whether Heartbeats are expected.'),
        timeout_seconds: d.count('Seconds without a Heartbeat until the sender is lost.'),
        state: HeartbeatState,
        url: v.optional(d.url('Where Heartbeats are sent. Absent on the built-in Integration.')),
        last_signal_at: v.nullable(d.time('When the last Heartbeat arrived; null before the first.')),
        lost_since: v.nullable(d.time('Since when the sender counts as lost; null otherwise.')),
      }),
      'The sign of life that the sender gives.',
    ),
    builtin: d.flag('Whether it is that of Internal alerts, which cannot be changed or deleted.'),
    ingest_url: v.optional(d.url('Where Snapshots are sent. Absent on the built-in Integration.')),
    last_snapshot_at: v.nullable(d.time('When the last Snapshot arrived; null before the first.')),
    snapshot_count: d.count('How many Snapshots arrived so far.'),
    warnings: d.described(
      v.array(
        v.object({
          kind: IntegrationWarningKind,
          since: v.optional(d.time('Since when, where that is known.')),
          truncated_group_count: v.optional(d.count('Groups that are cut off, with `snapshot_truncated`.')),
          failed_count: v.optional(
            d.count('Bodies that were no Snapshots, up to 1,000, with `snapshot_failed`.'),
          ),
          stored_snapshot_id: v.optional(
            d.id('SS', 'The newest of those Stored Snapshots, with `snapshot_failed`.'),
          ),
          error: v.optional(d.text('Why that one is no Snapshot, with `snapshot_failed`.')),
          route_path: d.optionalText("Path of the sender's route, with `long_repeat_interval`."),
          repeat_interval_seconds: v.optional(
            d.count('Seconds between its repeats, with `long_repeat_interval`.'),
          ),
        }),
      ),
      'What is not as it should be.',
    ),
    open_alert_group_count: d.count('Open Alert Groups with Alerts of it.'),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
  }),
  'A source of Snapshots.',
);

export const IntegrationTokenShape = d.named(
  'IntegrationToken',
  v.object({
    id: d.id('NK'),
    name: d.textOrNull('Its name; null without one.'),
    created_at: d.CREATED_AT,
    last_used_at: d.LAST_USE,
  }),
  'A token of an Integration, without its value.',
);

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
    case 'snapshot_failed':
      return {
        kind,
        since: formatInstant(warning.receivedAt),
        failed_count: warning.count,
        stored_snapshot_id: warning.snapshotId,
        error: warning.error,
      };
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
        pointer: pointerInto('/static_labels', label),
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

/** What the operations on Integrations and on their tokens have in common. */
export interface IntegrationOperationsDeps {
  readonly store: IntegrationStore;
  /** Forgets what is remembered when tokens stop; the answer waits until other replicas were told. */
  readonly tokens: { invalidate(): void | Promise<void> };
  readonly directory: DirectorySource;
  readonly hints: HintBus;
  /** Makes whoever acts for the Integration look for what a save left in the inbox. */
  readonly messageWaits: (id: PublicId) => void;
  /** The ingest listener as senders reach it, without a slash at the end. */
  readonly ingestUrl: string;
  /** The web interface, without a slash at the end. */
  readonly publicUrl: string;
}

export const INTEGRATION_ID = { integration_id: 'NT' } as const;
export const BUILTIN_REFUSAL = [409, 'conflict', 'builtin_immutable'] as const;

export const BUILTIN: Answer = conflict(
  'builtin_immutable',
  'The built-in Integration belongs to Tocsin itself and cannot be changed.',
);

export function integrationId(call: Call): PublicId {
  return call.params.integration_id as PublicId;
}
