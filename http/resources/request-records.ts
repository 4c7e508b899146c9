/** The Request log: what was asked of receivers and messengers, and what they answered (outbound-http §4, api §17). */
import * as v from 'valibot';
import { formatInstant } from '../../runtime/clock.ts';
import {
  type RequestDetail,
  type RequestItem,
  type RequestLogReader,
  type RequestScope,
  type RequestsQuery,
  STATUS_CLASSES,
} from '../../runtime/outbound/request-log/reader.ts';
import { REQUEST_CHECKS } from '../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { publicId } from '../fields.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import type { Permission } from '../permissions.ts';
import { invalid, notFound, refuse } from '../problem.ts';
import { AlertGroupRef, EntityRef, pageOf } from '../shapes.ts';

export interface RequestRecordDeps {
  readonly reader: RequestLogReader;
}

const LIST = 'request-records';
const TAG = 'Request log';
/** Records of a Connection need connections:read, those of a Destination destinations:read. */
const BY_OWNER = ['connections:read', 'destinations:read'] as const;
const DIRECTIONS = ['outbound', 'inbound'] as const;

const item = {
  id: v.string(),
  at: v.string(),
  direction: v.picklist(DIRECTIONS),
  operation: v.string(),
  method: v.string(),
  url: v.string(),
  status: v.nullable(v.number()),
  latency_ms: v.number(),
  via: v.nullable(v.picklist(['direct', 'proxy'])),
  attempt: v.number(),
  error_class: v.nullable(v.string()),
  error_code: v.nullable(v.string()),
  error: v.nullable(v.string()),
  check: v.nullable(v.picklist(REQUEST_CHECKS)),
  check_run: v.nullable(v.string()),
  connection_id: v.nullable(v.string()),
  destination: v.nullable(EntityRef),
  alert_group: v.nullable(AlertGroupRef),
  request_body_bytes: v.nullable(v.number()),
  request_body_truncated: v.boolean(),
  response_body_bytes: v.nullable(v.number()),
  response_body_truncated: v.boolean(),
};

const Headers = v.array(v.object({ name: v.string(), value: v.string() }));

const ItemShape = v.object(item);

const DetailShape = v.object({
  ...item,
  request_headers: Headers,
  request_body: v.nullable(v.string()),
  response_headers: v.nullable(Headers),
  response_body: v.nullable(v.string()),
});

const ListQuery = v.object({
  ...pageQuery,
  connection: v.optional(publicId),
  destination: v.optional(publicId),
  run: v.optional(publicId),
  direction: v.optional(v.picklist(DIRECTIONS)),
  status_class: v.optional(v.picklist(STATUS_CLASSES)),
  operation: v.optional(v.pipe(v.string(), v.minLength(1, 'too_short'), v.maxLength(64, 'too_long'))),
  alert_group: v.optional(publicId),
});

export function requestRecordOperations({ reader }: RequestRecordDeps): readonly Operation[] {
  return [
    operation({
      id: 'listRequestRecords',
      method: 'GET',
      path: '/request-records',
      tag: TAG,
      summary: 'List the Request log of a Connection, a Destination or one run of a check, newest first',
      needs: 'authenticated',
      mayAlsoNeed: BY_OWNER,
      query: ListQuery,
      answers: {
        200: { description: 'A page of records without headers and bodies', schema: pageOf(ItemShape) },
      },
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
