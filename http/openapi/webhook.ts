/** The request that an events-mode webhook receives, as the API description has it (webhooks §3.3, §5; api §20). */
import * as v from 'valibot';
import * as d from '../schema/described.ts';
import { EntityRef, Labels } from '../schema/shapes.ts';
import { AlertState, GroupStatus, ResolveReason, SeverityLevel, TRANSPORTS } from '../schema/words.ts';
import type { Json, SchemaReader } from './schema.ts';

const Person = { id: d.ANY_ID, name: d.text('Its name.') };
const Transport = d.words('WebhookTransport', TRANSPORTS, 'The way in which it was done.');

const Mention = d.named(
  'WebhookMention',
  v.variant('type', [
    v.strictObject({ type: d.described(v.literal('everyone'), 'Everybody.') }),
    v.strictObject({
      type: d.described(v.literal('group'), 'A group of the messenger.'),
      name: d.text('Name of the group or the user.'),
    }),
    v.strictObject({
      type: d.described(v.literal('user'), 'A user.'),
      ...Person,
      login: d.text('Login of the user.'),
    }),
  ]),
  'Somebody to mention.',
);

const Actor = d.named(
  'WebhookActor',
  v.variant('kind', [
    v.strictObject({
      kind: d.described(v.literal('user'), 'A person.'),
      ...Person,
      login: d.text('Login of the person.'),
      token_name: d.optionalText('Name of the API token that was used.'),
      transport: Transport,
    }),
    v.strictObject({
      kind: d.described(v.literal('service_account'), 'A Service account.'),
      ...Person,
      token_name: d.described(v.string(), 'Name of the API token that was used.'),
      transport: Transport,
    }),
    v.strictObject({
      kind: d.described(v.literal('system'), 'The service itself.'),
      reason: d.text('Why the service did it.'),
    }),
  ]),
  'Who did it.',
);

const Group = d.named(
  'WebhookAlertGroup',
  v.strictObject({
    number: d.count('The number that people know it by, `#N`.'),
    id: d.id('AG'),
    title: d.text('A line that names it.'),
    summary: d.textOrNull('The summary of an Alert that fires, or that did last; null without one.'),
    status: GroupStatus,
    owner: d.described(
      v.optional(v.strictObject({ ...Person, login: d.text('Login of the Owner.') })),
      'Who acknowledged it. Absent without an Owner.',
    ),
    route: EntityRef,
    urgent: d.flag('Whether it is Urgent.'),
    severity_level: SeverityLevel,
    started_at: d.time('When it was created: its first Alert was received.'),
    resolved_at: v.nullable(d.time('When it was resolved; null while open.')),
    snooze_until: v.nullable(d.time('When the Snooze ends; null without an end, and unless snoozed.')),
    reopen_count: d.count('How often it was opened again.'),
    url: d.url('Its page in the UI.'),
  }),
  'The Alert Group after the event.',
);

const Alert = d.named(
  'WebhookAlert',
  v.strictObject({
    fingerprint: d.text('Identity of the Alert: a hash of its labels.'),
    status: AlertState,
    labels: d.described(Labels, 'Its labels.'),
    annotations: d.described(Labels, 'Its annotations.'),
    starts_at: d.time('When it began to fire.'),
    resolved_at: v.nullable(d.time('When it ended; null while it fires.')),
    resolve_reason: d.described(v.nullable(ResolveReason), 'Why it ended; null while it fires.'),
    generator_url: v.nullable(d.url('The page of the rule that made it; null without one.')),
  }),
  'An Alert of the Alert Group.',
);

/** Strict here, so that a field the service adds is added here, too; receivers ignore what they do not know. */
export const WebhookBodyShape = d.named(
  'WebhookEvent',
  v.strictObject({
    version: d.described(v.literal(1), 'Version of the format. Fields and events may be added within it.'),
    /** A lifecycle event, or `test`; names are added within version 1. */
    event: d.text('Name of the event, or `test`. Ignore names you do not know.'),
    notify: d.flag('Whether the event rings; else it is only news.'),
    mentions: d.described(v.array(Mention), 'Whom to mention.'),
    sequence: d.described(
      v.pipe(v.number(), v.integer(), v.minValue(0)),
      'Its place among those of the Alert Group. A higher one is newer.',
    ),
    occurred_at: d.time('When it happened.'),
    actor: Actor,
    alert_group: d.described(Group, 'The Alert Group after the event.'),
    alerts: d.described(v.array(Alert), 'The Alerts of the Alert Group.'),
    test: d.described(v.optional(v.literal(true)), '`true` on a test. Absent otherwise.'),
  }),
  'A lifecycle event of an Alert Group.',
);

const HEADERS = [
  ['webhook-id', 'Id of the event, kept across retries. Ignore an id that was received before.'],
  ['webhook-timestamp', 'Unix seconds at which this attempt was signed.'],
  [
    'webhook-signature',
    'One or more of `v1,<base64 of HMAC-SHA256 over id.timestamp.body>`, separated by spaces.',
  ],
] as const;

const RECEIVER_ANSWERS = {
  '2XX': 'Delivered.',
  408: 'Repeated with growing pauses, as after every other 5xx and after network errors.',
  410: 'The Destination becomes Broken, as after 401, 403 and 404; its events wait.',
  429: 'Repeated after `Retry-After`, as after a 503 with that header.',
  '4XX': 'This event is given up; later ones are sent.',
} as const;

/** The `webhooks` member of the document. */
export function describedWebhooks(reader: SchemaReader): Json {
  return {
    alertGroupEvent: {
      post: {
        operationId: 'alertGroupEvent',
        tags: ['Webhooks'],
        summary: 'A lifecycle event of an Alert Group',
        description:
          'Sent to Destinations of the type `webhook` in the mode `events`, at least once, and in order for each Alert Group. Signed as Standard Webhooks prescribe.',
        security: [],
        parameters: HEADERS.map(([name, description]) => ({
          name,
          in: 'header',
          required: true,
          description,
          schema: { type: 'string' },
        })),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: reader.answer(WebhookBodyShape) } },
        },
        responses: Object.fromEntries(
          Object.entries(RECEIVER_ANSWERS).map(([status, description]) => [status, { description }]),
        ),
      },
    },
  };
}
