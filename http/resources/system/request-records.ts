/** The Request log: what was asked of receivers and messengers, and what they answered (outbound-http §4, api §17). */
import * as v from 'valibot';
import { formatInstant } from '../../../runtime/clock.ts';
import {
  type RequestDetail,
  type RequestItem,
  type RequestLogReader,
  type RequestScope,
  type RequestsQuery,
  STATUS_CLASSES,
} from '../../../runtime/outbound/request-log/reader.ts';
import type { RequestCheck } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Call, type Operation, operation } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';
import { invalid, notFound, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { AlertGroupRef, EntityRef, pageOf } from '../../schema/shapes.ts';
import { Via } from '../../schema/words.ts';

export interface RequestRecordDeps {
  readonly reader: RequestLogReader;
}

const LIST = 'request-records';
const TAG = 'Request log';
/** Records of a Connection need connections:read, those of a Destination destinations:read. */
const BY_OWNER = ['connections:read', 'destinations:read'] as const;
const DIRECTIONS = ['outbound', 'inbound'] as const;

const Check = d.words(
  'RequestCheck',
  {
    connection_check: 'The check of a Connection.',
    destination_check: 'The check of a Destination.',
    destination_test: 'A test message.',
    probe: 'A probe of a Broken Destination.',
  } satisfies Record<RequestCheck, string>,
  'What a recorded request was sent for, besides delivery.',
);

const item = {
  id: d.id('RQ'),
  at: d.time('When the request began.'),
  direction: d.described(v.picklist(DIRECTIONS), '`outbound`: Tocsin sent it; `inbound`: it was received.'),
  operation: d.text('What was called.'),
  method: d.text('HTTP method.'),
  url: d.text('Address, masked.'),
  status: d.described(v.nullable(v.number()), 'HTTP status of the answer; null without an answer.'),
  latency_ms: d.described(v.number(), 'Milliseconds until the answer or the failure.'),
  via: d.described(v.nullable(Via), 'How it went out; null for inbound ones.'),
  attempt: d.count('Which attempt it was, from 1.'),
  error_class: d.textOrNull('What kind of failure it was; null without one.'),
  error_code: d.textOrNull('Code of the failure; null without one.'),
  error: d.textOrNull('What went wrong, masked; null without a failure.'),
  check: d.described(v.nullable(Check), 'The check that it belonged to; null outside checks.'),
  check_run: v.nullable(d.id('RN', 'The run of the check; null outside checks.')),
  connection_id: v.nullable(d.id('CN', 'The Connection that was used; null without one.')),
  destination: d.described(v.nullable(EntityRef), 'The Destination that was sent to; null without one.'),
  alert_group: d.described(v.nullable(AlertGroupRef), 'The Alert Group it was about; null without one.'),
  request_body_bytes: v.nullable(d.count('Bytes of the request body; null without one.')),
  request_body_truncated: d.flag('Whether the kept request body is cut.'),
  response_body_bytes: v.nullable(d.count('Bytes of the answer; null without one.')),
  response_body_truncated: d.flag('Whether the kept answer is cut.'),
};

const Headers = v.array(
  d.named(
    'RecordedHeader',
    v.object({ name: d.text('Its name.'), value: d.text('Its value, masked.') }),
    'A header of a recorded request.',
  ),
);

const ItemShape = d.named('RequestRecord', v.object(item), 'A request that was sent or received.');

const DetailShape = d.extending(
  ItemShape,
  'RequestRecordDetail',
  v.object({
    ...item,
    request_headers: d.described(Headers, 'Headers of the request.'),
    request_body: d.textOrNull('Body of the request, masked and possibly cut; null without one.'),
    response_headers: d.described(v.nullable(Headers), 'Headers of the answer; null without one.'),
    response_body: d.textOrNull('Body of the answer, masked and possibly cut; null without one.'),
  }),
  'A request that was sent or received, with headers and bodies.',
);

const ListQuery = v.object({
  ...pageQuery,
  connection: d.described(
    v.optional(publicId),
    'Id of a Connection. One of `connection`, `destination` and `run` is needed, not both of the first two.',
  ),
  destination: d.described(v.optional(publicId), 'Id of a Destination.'),
  run: d.described(v.optional(publicId), 'Id of one run of a check or test.'),
  direction: d.described(
    v.optional(v.picklist(DIRECTIONS)),
    'Only `outbound` (sent) or only `inbound` (received) ones.',
  ),
  status_class: d.described(
    v.optional(v.picklist(STATUS_CLASSES)),
    'How it was answered: `2xx` taken, `3xx` redirected, `4xx` refused, `5xx` failed, `none` not at all.',
  ),
  operation: d.described(
    v.optional(v.pipe(v.string(), v.minLength(1, 'too_short'), v.maxLength(64, 'too_long'))),
    'Only this operation, exactly; 1 to 64 characters.',
  ),
  alert_group: d.described(v.optional(publicId), 'Id of an Alert Group: only requests about it.'),
});

export function requestRecordOperations({ reader }: RequestRecordDeps): readonly Operation[] {
  return [
    operation({
      id: 'listRequestRecords',
      method: 'GET',
      path: '/request-records',
      tag: TAG,
      summary: 'List the Request log of a Connection, a Destination or one run of a check, newest first',
      description: 'Needs the Permission to read the owner. Kept for 7 days, at most 1,000 for each owner.',
      needs: 'authenticated',
      mayAlsoNeed: BY_OWNER,
      query: ListQuery,
      answers: {
        200: { description: 'A page of records without headers and bodies', schema: pageOf(ItemShape) },
      },
      refusals: [
        [422, 'validation-failed', ''],
        [404, 'not-found', ''],
      ],
      async handle(call) {
        const { cursor, limit = DEFAULT_LIMIT, ...filters } = call.query;
        const scope = scopeOf(filters);
        if (scope === null) return ONE_OWNER;
        const needed = scope.destinationId === null ? 'connections:read' : 'destinations:read';
        if (!holds(call, needed)) return forbidden(needed);
        const after = cursor === undefined ? null : afterOf(cursor, filters);
        if (after === 'invalid') return INVALID_CURSOR;
        const query: RequestsQuery = {
          ...scope,
          direction: filters.direction ?? null,
          statusClass: filters.status_class ?? null,
          operation: filters.operation ?? null,
          alertGroupId: filters.alert_group ?? null,
          after,
          limit,
        };
        const page = await reader.list(query, call.now);
        if (page === null) return notFound();
        const next = page.next && encodeCursor(LIST, filters, page.next);
        return { status: 200, body: { items: page.items.map(itemBody), next_cursor: next } };
      },
    }),

    operation({
      id: 'getRequestRecord',
      method: 'GET',
      path: '/request-records/{request_record_id}',
      tag: TAG,
      summary: 'Read a record with its headers and bodies, masked',
      description: 'Credentials are masked; large bodies are cut.',
      needs: 'authenticated',
      mayAlsoNeed: BY_OWNER,
      ids: { request_record_id: 'RQ' },
      answers: { 200: { description: 'The record', schema: DetailShape } },
      async handle(call) {
        if (!BY_OWNER.some((permission) => holds(call, permission))) return forbidden('destinations:read');
        const record = await reader.read(call.params.request_record_id as PublicId, call.now);
        if (record === null) return notFound();
        const ofWebhook = record.connectionId === null && record.destination !== null;
        const needed = ofWebhook ? 'destinations:read' : 'connections:read';
        return holds(call, needed) ? { status: 200, body: detailBody(record) } : forbidden(needed);
      },
    }),
  ];
}

/** Null unless there is exactly one owner, or a run of its own. */
function scopeOf(filters: v.InferOutput<typeof ListQuery>): RequestScope | null {
  const { connection = null, destination = null, run = null } = filters;
  const owners = [connection, destination].filter((owner) => owner !== null).length;
  if (owners > 1 || (owners === 0 && run === null)) return null;
  return { connectionId: connection, destinationId: destination, run };
}

function afterOf(cursor: string, filters: unknown): readonly [number, string] | 'invalid' {
  const [at, id] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof at === 'number' && typeof id === 'string' ? [at, id] : 'invalid';
}

function holds({ identity }: Pick<Call, 'identity'>, permission: Permission): boolean {
  return identity?.permissions.has(permission) ?? false;
}

function forbidden(permission: Permission) {
  return refuse({ status: 403, type: 'forbidden', detail: `This needs the Permission ${permission}.` });
}

const ONE_OWNER = invalid([
  {
    pointer: '/query/connection',
    code: 'one_of_required',
    detail: 'Name one Connection or one Destination, or a run.',
  },
]);

function itemBody(record: RequestItem) {
  return {
    id: record.id,
    at: formatInstant(record.at),
    direction: record.direction,
    operation: record.operation,
    method: record.method,
    url: record.url,
    status: record.status,
    latency_ms: record.latencyMs,
    via: record.via,
    attempt: record.attempt,
    error_class: record.errorClass,
    error_code: record.errorCode,
    error: record.error,
    check: record.check,
    check_run: record.checkRun,
    connection_id: record.connectionId,
    destination: record.destination,
    alert_group: record.alertGroup,
    request_body_bytes: record.requestBodyBytes,
    request_body_truncated: record.requestBodyTruncated,
    response_body_bytes: record.responseBodyBytes,
    response_body_truncated: record.responseBodyTruncated,
  };
}

function detailBody(record: RequestDetail) {
  return {
    ...itemBody(record),
    request_headers: headersBody(record.requestHeaders),
    request_body: record.requestBody,
    response_headers: record.responseHeaders && headersBody(record.responseHeaders),
    response_body: record.responseBody,
  };
}

function headersBody(headers: RequestDetail['requestHeaders']) {
  return headers.map(([name, value]) => ({ name, value }));
}
