/** Stored Snapshots: list and read with the body as it was sent (ingestion §9, api §10). */
import { isUtf8 } from 'node:buffer';
import * as v from 'valibot';
import type { Directory } from '../../../actors/directory.ts';
import type {
  StoredSnapshotBody,
  StoredSnapshotItem,
  StoredSnapshotReader,
} from '../../../actors/feed/ports.ts';
import { formatInstant, formatInstantOrNull, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Operation, operation } from '../../operation.ts';
import { invalid, notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { instant, many, publicId, rangeErrors } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { EntityRef, pageOf } from '../../schema/shapes.ts';
import { SnapshotState } from '../../schema/words.ts';
import { integrationRef } from '../alert-groups/bodies.ts';

export interface StoredSnapshotOperationsDeps {
  readonly reader: StoredSnapshotReader;
}

const LIST = 'stored-snapshots';

const item = {
  id: d.id('SS'),
  integration: EntityRef,
  received_at: d.time('When it arrived.'),
  processed_at: v.nullable(d.time('When it was processed or found unreadable; null while it waits.')),
  size_bytes: d.count('Size of the body in bytes.'),
  group_key: d.textOrNull('Key of the group at the sender; null until understood.'),
  alert_count: v.nullable(d.count('How many Alerts it lists; null until understood.')),
  truncated_alerts: v.nullable(d.count('How many Alerts the sender cut off; null until understood.')),
  state: SnapshotState,
  processing_error: d.textOrNull('Why it could not be processed; null otherwise.'),
};

const ItemShape = d.named('StoredSnapshot', v.object(item), 'A body that a sender posted.');

const BodyShape = d.extending(
  ItemShape,
  'StoredSnapshotBody',
  v.object({
    ...item,
    body: d.text('The body exactly as it was sent: text where it is UTF-8, else base64.'),
    content_type: d.textOrNull('The `Content-Type` it was sent with; null without one.'),
    body_encoding: d.described(
      v.picklist(['utf8', 'base64']),
      '`utf8`: `body` is the text itself; `base64`: it is base64 of the bytes.',
    ),
  }),
  'A body that a sender posted, with its content.',
);

export function storedSnapshotOperations({ reader }: StoredSnapshotOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listStoredSnapshots',
      method: 'GET',
      path: '/stored-snapshots',
      tag: 'Integrations',
      summary: 'List Stored Snapshots of an Integration, newest first',
      description: 'Those that wait or failed included; nothing older than retention.',
      needs: 'stored-snapshots:read',
      query: v.object({
        ...pageQuery,
        integration: d.described(publicId, 'Id of the Integration. An unknown one has no Snapshots.'),
        from: d.described(instant, 'Only Snapshots that arrived at or after this time.'),
        to: d.described(instant, 'Only Snapshots that arrived before this time; after `from`.'),
        state: d.described(many(SnapshotState), 'Only Snapshots in this state.'),
      }),
      answers: { 200: { description: 'A page of Stored Snapshots', schema: pageOf(ItemShape) } },
      refusals: [[422, 'validation-failed', '']],
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
      description: '404 once retention removed it.',
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
