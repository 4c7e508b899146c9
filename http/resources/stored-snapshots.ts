/** Stored Snapshots: list and read with the body as it was sent (ingestion §9, api §10). */
import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import type { Directory } from '../../actors/directory.ts';
import {
  SNAPSHOT_STATES,
  type StoredSnapshotBody,
  type StoredSnapshotItem,
  type StoredSnapshotReader,
} from '../../actors/feed/stored-snapshots.ts';
import { formatInstant, formatInstantOrNull, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { publicId } from '../fields.ts';
import { type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { invalid, notFound } from '../problem.ts';
import { instant, many, rangeErrors } from '../query-fields.ts';
import { EntityRef, pageOf } from '../shapes.ts';
import { integrationRef } from './alert-groups-refs.ts';

export interface StoredSnapshotOperationsDeps {
  readonly reader: StoredSnapshotReader;
}

const LIST = 'stored-snapshots';

const item = {
  id: v.string(),
  integration: EntityRef,
  received_at: v.string(),
  processed_at: v.nullable(v.string()),
  size_bytes: v.number(),
  group_key: v.nullable(v.string()),
  alert_count: v.nullable(v.number()),
  truncated_alerts: v.nullable(v.number()),
  state: v.picklist(SNAPSHOT_STATES),
  processing_error: v.nullable(v.string()),
};

const ItemShape = v.object(item);

const BodyShape = v.object({
  ...item,
  body: v.string(),
  content_type: v.nullable(v.string()),
  body_encoding: v.picklist(['utf8', 'base64']),
});

export function storedSnapshotOperations({ reader }: StoredSnapshotOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listStoredSnapshots',
      method: 'GET',
      path: '/stored-snapshots',
      tag: 'Integrations',
      summary: 'List Stored Snapshots of an Integration, newest first',
      needs: 'stored-snapshots:read',
      query: v.object({
        ...pageQuery,
        integration: publicId,
        from: instant,
        to: instant,
        state: many(v.picklist(SNAPSHOT_STATES)),
      }),
      answers: { 200: { description: 'A page of Stored Snapshots', schema: pageOf(ItemShape) } },
      async handle({ query, directory, now }) {
        const { cursor, limit = DEFAULT_LIMIT, ...filters } = query;
        const errors = rangeErrors(query.from, query.to);
        if (errors.length > 0) return invalid(errors);
        const after = cursor === undefined ? null : afterOf(cursor, filters);
        if (after === 'invalid') return INVALID_CURSOR;
        const { integration, from = null, to = null, state: states } = filters;
        const page = await reader.list({ integrationId: integration, from, to, states, after, limit }, now);
        return {
          status: 200,
          body: {
            items: page.items.map((snapshot) => itemBody(snapshot, directory)),
            next_cursor: page.next && encodeCursor(LIST, filters, page.next),
          },
        };
      },
    }),

    operation({
      id: 'getStoredSnapshot',
      method: 'GET',
      path: '/stored-snapshots/{stored_snapshot_id}',
      tag: 'Integrations',
      summary: 'Read a Stored Snapshot with its body as it was sent',
      needs: 'stored-snapshots:read',
      ids: { stored_snapshot_id: 'SS' },
      answers: { 200: { description: 'The Stored Snapshot', schema: BodyShape } },
      async handle({ params, directory, now }) {
        const found = await reader.read(params.stored_snapshot_id as PublicId, now);
        return found ? { status: 200, body: fullBody(found, directory) } : notFound();
      },
    }),
  ];
}

function afterOf(cursor: string, filters: unknown): readonly [Micros, number] | 'invalid' {
  const [receivedAt, seq] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof receivedAt === 'number' && typeof seq === 'number' ? [receivedAt, seq] : 'invalid';
}

function itemBody(snapshot: StoredSnapshotItem, directory: Directory) {
  return {
    id: snapshot.id,
    integration: integrationRef(directory, snapshot.integrationId),
    received_at: formatInstant(snapshot.receivedAt),
    processed_at: formatInstantOrNull(snapshot.processedAt),
    size_bytes: snapshot.sizeBytes,
    group_key: snapshot.groupKey,
    alert_count: snapshot.alertCount,
    truncated_alerts: snapshot.truncatedAlerts,
    state: snapshot.state,
    processing_error: snapshot.processingError,
  };
}

/** Text where the bytes are UTF-8, a mark at their beginning included; else base64. Either gives back every byte. */
function fullBody(snapshot: StoredSnapshotBody, directory: Directory) {
  const { body, contentType } = snapshot;
  const encoding = isUtf8(body) ? 'utf8' : 'base64';
  return {
    ...itemBody(snapshot, directory),
    body: body.toString(encoding),
    content_type: contentType,
    body_encoding: encoding,
  };
}
