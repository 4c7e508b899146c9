/** The request that an events-mode webhook receives, as the API description tells it (seed 3 §2.3, §5; api §20). */
import * as v from 'valibot';
import { GROUP_STATUSES, RESOLVE_REASONS, SEVERITY_LEVELS } from '../actors/model.ts';
import { answerSchema } from './openapi-schema.ts';
import { EntityRef, Labels } from './shapes.ts';

const Time = v.string();
const Person = { id: v.string(), name: v.string() };
const Transport = v.picklist(['ui', 'api', 'cli', 'chat_server', 'channel_bot', 'bridge']);

const Mention = v.variant('type', [
  v.strictObject({ type: v.literal('everyone') }),
  v.strictObject({ type: v.literal('group'), name: v.string() }),
  v.strictObject({ type: v.literal('user'), ...Person, login: v.string() }),
]);

const Actor = v.variant('kind', [
  v.strictObject({
    kind: v.literal('user'),
    ...Person,
    login: v.string(),
    token_name: v.optional(v.string()),
    transport: Transport,
  }),
  v.strictObject({
    kind: v.literal('service_account'),
    ...Person,
    token_name: v.string(),
    transport: Transport,
  }),
  v.strictObject({ kind: v.literal('system'), reason: v.string() }),
]);

const Group = v.strictObject({
  number: v.number(),
  id: v.string(),
  title: v.string(),
  summary: v.nullable(v.string()),
  status: v.picklist(GROUP_STATUSES),
  owner: v.optional(v.strictObject({ ...Person, login: v.string() })),
  route: EntityRef,
  urgent: v.boolean(),
  severity_level: v.picklist(SEVERITY_LEVELS),
  started_at: Time,
  resolved_at: v.nullable(Time),
  snooze_until: v.nullable(Time),
  reopen_count: v.number(),
  url: v.string(),
});

const Alert = v.strictObject({
  fingerprint: v.string(),
  status: v.picklist(['firing', 'resolved']),
  labels: Labels,
  annotations: Labels,
  starts_at: Time,
  resolved_at: v.nullable(Time),
  resolve_reason: v.nullable(v.picklist(RESOLVE_REASONS)),
  generator_url: v.nullable(v.string()),
});

/** Strict here, so that a field the service adds is added here, too; receivers ignore what they do not know. */
export const WebhookBodyShape = v.strictObject({
  version: v.literal(1),
  /** A lifecycle event, or `test`; names are added within version 1. */
  event: v.string(),
  notify: v.boolean(),
  mentions: v.array(Mention),
  sequence: v.pipe(v.number(), v.integer(), v.minValue(0)),
  occurred_at: Time,
  actor: Actor,
  alert_group: Group,
  alerts: v.array(Alert),
  test: v.optional(v.literal(true)),
});

const HEADERS = [
  ['webhook-id', 'Id of the event, kept across retries: drop what you have seen'],
  ['webhook-timestamp', 'Unix seconds when this attempt was signed'],
  [
    'webhook-signature',
    'One or more of v1,<base64 of HMAC-SHA256 over id.timestamp.body>, separated by spaces',
  ],
] as const;

/** The `webhooks` member of the document. */
export function describedWebhooks(): object {
  return {
    alertGroupEvent: {
      post: {
        operationId: 'alertGroupEvent',
        tags: ['Webhooks'],
        summary: 'A lifecycle event of an Alert Group',
        parameters: HEADERS.map(([name, description]) => ({
          name,
          in: 'header',
          required: true,
          description,
          schema: { type: 'string' },
        })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: openSchema(answerSchema(WebhookBodyShape)) } },
        },
        responses: { '2XX': { description: 'Delivered' } },
      },
    },
  };
}

/** Without the strictness that is only meant for ourselves. */
function openSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.entries(schema).filter(
    ([key, value]) => key !== 'additionalProperties' || value !== false,
  );
  return Object.fromEntries(members.map(([key, value]) => [key, openSchema(value)]));
}
