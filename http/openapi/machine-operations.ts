/** What machines call, as the API description shows it: ingestion, callbacks, probes. Served outside the table. */
import * as v from 'valibot';
import type { Method } from '../operation.ts';
import { parameterNames } from '../request/router.ts';
import { count, described, documented, named, type Schema, text, time } from '../schema/described.ts';
import { Labels } from '../schema/shapes.ts';
import { AlertState } from '../schema/words.ts';
import { DEFAULT_RESPONSE, pathParameter, problemResponses, type Refusal } from './operation.ts';
import { type Json, type SchemaReader, SHARED_NAMES } from './schema.ts';

/** Bodies that machines send, as the API description shows them. They are read elsewhere, and more leniently. */
const AlertmanagerAlert = named(
  'AlertmanagerAlert',
  v.object({
    status: AlertState,
    labels: described(Labels, 'Its labels.'),
    annotations: described(v.optional(Labels), 'Its annotations.'),
    startsAt: time('When the alert began to fire.'),
    endsAt: described(
      v.optional(documented(v.string(), { format: 'date-time' })),
      'When it ended. While it fires, when Alertmanager would consider it over.',
    ),
    generatorURL: described(v.optional(v.string()), 'The page of the rule that made the alert.'),
    fingerprint: described(
      v.optional(v.string()),
      'Hash of the labels by Alertmanager. Tocsin computes its own.',
    ),
  }),
  'One alert of a notification.',
);

/** The body of Alertmanager's webhook, version 4 (ingestion §4). */
const AlertmanagerSnapshot = named(
  'AlertmanagerSnapshot',
  v.object({
    version: described(v.optional(v.string()), 'Version of the format.', '4'),
    groupKey: text(
      'Key of the group at the sender, with its route. Snapshots of one key replace one another.',
      '{}/{severity="critical"}:{alertname="DiskFull"}',
    ),
    truncatedAlerts: v.optional(
      count('How many alerts `max_alerts` cut off. Those that are not listed then stay as they are.'),
    ),
    status: described(
      v.optional(v.picklist(['firing', 'resolved'])),
      '`firing` while at least one alert fires, else `resolved`.',
    ),
    receiver: described(v.optional(v.string()), 'Name of the receiver at the sender.'),
    groupLabels: described(v.optional(Labels), 'Its labels.'),
    commonLabels: described(v.optional(Labels), 'Shared labels.'),
    commonAnnotations: described(v.optional(Labels), 'Shared annotations.'),
    externalURL: described(v.optional(v.string()), 'Address of the Alertmanager.'),
    alerts: described(v.array(AlertmanagerAlert), 'All alerts of the group, those that ended included.'),
  }),
  'A notification of Alertmanager for one group of alerts.',
);

const BridgePerson = named(
  'BridgePerson',
  v.object({
    external_id: text('Id of the account in the messenger.'),
    username: described(v.optional(v.nullable(v.string())), 'Name by which the account is mentioned.'),
    display_name: described(v.optional(v.nullable(v.string())), 'Name that the messenger shows.'),
    bot: described(v.optional(v.boolean()), 'Whether the account is a program.'),
  }),
  'An account of the messenger.',
);

const common = {
  id: text('Its id. One that was handled before is ignored.'),
  occurred_at: time('When it happened.'),
};
const message = text('Id of the message at the bridge.');
const user = BridgePerson;

/** What a bridge pushes (bridge §3.4). */
const BridgeEventShape = named(
  'BridgeEvent',
  v.variant('type', [
    v.object({
      ...common,
      type: described(v.literal('press'), 'A button was pressed.'),
      message_id: message,
      user,
      data: text('The data of the button.'),
    }),
    v.object({
      ...common,
      type: described(v.literal('thread_message'), 'Somebody wrote in the Thread of a message.'),
      message_id: message,
      thread_ref: described(v.optional(v.nullable(v.string())), 'Reference of the Thread at the bridge.'),
      reply_id: text('Id of what was written.'),
      user,
      text: text('What was written, 1 to 10,000 characters.'),
    }),
    v.object({
      ...common,
      type: described(v.literal('account_link'), 'Somebody sent a link token to the bot.'),
      user,
      token: text('The token, 1 to 512 characters.'),
    }),
    v.object({
      ...common,
      type: described(v.literal('message_deleted'), 'A message of Tocsin was deleted.'),
      message_id: message,
      user: described(v.optional(v.nullable(BridgePerson)), 'Who deleted it; null when that is not known.'),
    }),
  ]),
  'An event of a messenger behind a bridge. Other types are answered 204 and ignored.',
);

/** What a messenger posts for a bot (channel-bot §4.2). */
const ChannelBotUpdateShape = named(
  'ChannelBotUpdate',
  v.looseObject({
    update_id: described(
      v.pipe(v.number(), v.integer()),
      'Number of the update, by which a repeat is known.',
    ),
  }),
  'An update of the Bot API: its number and one member named for its kind.',
  { update_id: 10_000 },
);

export interface MachineOperation {
  readonly id: string;
  readonly method: Method;
  /** Whole path. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly needs: 'integration-token' | 'none';
  readonly body?: Schema;
  readonly answers: Readonly<Record<number, string>>;
  /** Content type of answers with a body; none without. */
  readonly contentType?: string;
  readonly refusals?: readonly Refusal[];
  /** Whether it may be answered with one of the refusals of every operation. */
  readonly mayFail?: true;
}

/** Every listener refuses what is not HTTP, or has no clear length, before it is read. */
const NOT_HTTP = { 400: 'The request is not valid HTTP, or its length is unclear. No body.' } as const;

const INGEST_REFUSALS: readonly Refusal[] = [
  [401, 'unauthenticated', ''],
  [500, 'internal', ''],
  [503, 'coordination-unavailable', ''],
];

const SNAPSHOT = {
  tag: 'Ingestion',
  needs: 'integration-token',
  body: AlertmanagerSnapshot,
  answers: { ...NOT_HTTP, 202: 'Stored durably; processed after the answer. No body.' },
  refusals: [...INGEST_REFUSALS, [413, 'payload-too-large', '']],
} as const;

const SNAPSHOT_TEXT =
  'Takes notifications of Alertmanager and answers after the body is committed. Any body up to 16 MiB is kept byte for ' +
  'byte; one that is no Snapshot is 202, too, and listed as failed in Stored Snapshots. After 500 and 503, send it again.';

const HEARTBEAT = {
  tag: 'Ingestion',
  needs: 'integration-token',
  answers: { ...NOT_HTTP, 204: 'Recorded, or Heartbeats are off.' },
  refusals: INGEST_REFUSALS,
} as const;

const HEARTBEAT_TEXT =
  'A sign that the path from the sender works. The body is not read. While the Heartbeat of the Integration is on, ' +
  'its timeout without a signal makes it lost, and an Internal alert fires.';

const CALLBACK = { method: 'POST', tag: 'Callbacks', needs: 'none', mayFail: true } as const;

const PROBE = {
  method: 'GET',
  tag: 'Internal',
  needs: 'none',
  contentType: 'text/plain',
} as const;

export const MACHINE_OPERATIONS: readonly MachineOperation[] = [
  {
    id: 'ingestSnapshot',
    method: 'POST',
    path: '/api/v1/ingest',
    summary: 'Send a Snapshot',
    description: SNAPSHOT_TEXT,
    ...SNAPSHOT,
  },
  {
    id: 'ingestSnapshotByPath',
    method: 'POST',
    path: '/api/v1/ingest/{ingest_token}',
    summary: 'Send a Snapshot with the token in the path',
    description: 'As `ingestSnapshot`, for senders that cannot set a header.',
    ...SNAPSHOT,
  },
  {
    id: 'heartbeat',
    method: 'POST',
    path: '/api/v1/heartbeat',
    summary: 'Send a Heartbeat',
    description: HEARTBEAT_TEXT,
    ...HEARTBEAT,
  },
  {
    id: 'heartbeatByPath',
    method: 'POST',
    path: '/api/v1/heartbeat/{ingest_token}',
    summary: 'Send a Heartbeat with the token in the path',
    description: 'As `heartbeat`, for senders that cannot set a header.',
    ...HEARTBEAT,
  },
  {
    id: 'heartbeatByGet',
    method: 'GET',
    path: '/api/v1/heartbeat',
    summary: 'Send a Heartbeat by GET',
    description: 'As `heartbeat`, for senders that can only read a URL.',
    ...HEARTBEAT,
  },
  {
    id: 'heartbeatByGetAndPath',
    method: 'GET',
    path: '/api/v1/heartbeat/{ingest_token}',
    summary: 'Send a Heartbeat by GET with the token in the path',
    description: 'As `heartbeat`, for senders that can only read a URL and cannot set a header.',
    ...HEARTBEAT,
  },
  {
    id: 'chatServerAction',
    path: '/api/v1/callbacks/chat-server/{connection_id}',
    summary: 'A button was pressed in a chat',
    description:
      'Sent by the chat server with the signed data of the button. Always answered 200: with a text for the person, or ' +
      'with nothing.',
    ...CALLBACK,
    answers: { ...NOT_HTTP, 200: 'Taken. `ephemeral_text` is shown to the person who pressed.' },
    contentType: 'application/json',
    refusals: [[413, 'payload-too-large', '']],
  },
  {
    id: 'channelBotUpdate',
    path: '/api/v1/callbacks/channel-bot/{connection_id}',
    summary: 'A channel bot received an update',
    description:
      'Posted by the messenger to a Connection in webhook mode, with its secret token in the header ' +
      '`X-Telegram-Bot-Api-Secret-Token`. Updates handled before, and kinds that nobody asked for, are answered 200 ' +
      'and ignored.',
    ...CALLBACK,
    body: ChannelBotUpdateShape,
    answers: { ...NOT_HTTP, 200: '`{}`: handled, or handled before.' },
    contentType: 'application/json',
    refusals: [
      [400, 'validation-failed', ''],
      [401, 'unauthenticated', ''],
      [500, 'internal', ''],
    ],
  },
  {
    id: 'bridgeEvent',
    path: '/api/v1/callbacks/bridge/{connection_id}',
    summary: 'A bridge reports an event',
    description:
      'Signed as Standard Webhooks prescribe, with the push secret of the Connection, in the headers `webhook-id`, ' +
      '`webhook-timestamp` and `webhook-signature`. Repeat an event until it is answered 204 or 400; one handled ' +
      'before is 204 and ignored.',
    ...CALLBACK,
    body: BridgeEventShape,
    answers: { 204: 'Handled, or handled before.' },
    refusals: [
      [400, 'validation-failed', ''],
      [401, 'unauthenticated', ''],
      [500, 'internal', ''],
      [503, 'coordination-unavailable', ''],
    ],
  },
  {
    id: 'liveness',
    path: '/health/live',
    summary: 'Is the process alive?',
    description: 'Answers while the process can answer at all, without database and Redis.',
    answers: { ...NOT_HTTP, 200: '`ok`' },
    ...PROBE,
  },
  {
    id: 'readiness',
    path: '/health/ready',
    summary: 'May it be sent requests?',
    description: 'Send requests to this replica only while the answer is 200.',
    answers: {
      ...NOT_HTTP,
      200: '`ok`',
      503: '`starting`, `database unavailable`, `database disk full` or `shutting down`',
    },
    ...PROBE,
  },
  {
    id: 'metrics',
    path: '/metrics',
    summary: 'Prometheus metrics',
    description: 'What this replica measures, in the Prometheus text format 0.0.4.',
    answers: { ...NOT_HTTP, 200: 'The metrics.' },
    ...PROBE,
  },
];

const INGEST_TOKEN = { ingest_token: 'The Integration token, `svc_int_…`.' };

export function describedMachineOperation(machine: MachineOperation, reader: SchemaReader): Json {
  const {
    id,
    tag,
    summary,
    description,
    needs,
    path,
    body,
    answers,
    contentType,
    refusals = [],
    mayFail,
  } = machine;
  const names = parameterNames(path);
  const inPath = names.includes('ingest_token');
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    'x-permission': needs,
    security: needs === 'integration-token' && !inPath ? [{ integrationToken: [] }] : [],
    ...(names.length === 0
      ? {}
      : {
          parameters: names.map((name) =>
            pathParameter({ ids: { connection_id: 'CN' }, paths: INGEST_TOKEN }, name, reader),
          ),
        }),
    ...(body
      ? { requestBody: { required: true, content: { 'application/json': { schema: reader.body(body) } } } }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, text]) => [
          status,
          {
            ...(status === '400' ? { [SHARED_NAMES]: ['E400NotHttp'] } : {}),
            description: text,
            ...(contentType === undefined || status === '400'
              ? {}
              : { content: { [contentType]: { schema: { type: textType(contentType) } } } }),
          },
        ]),
      ),
      ...problemResponses(refusals),
      ...(mayFail ? { default: DEFAULT_RESPONSE } : {}),
    },
  };
}

function textType(contentType: string): 'object' | 'string' {
  return contentType === 'application/json' ? 'object' : 'string';
}
