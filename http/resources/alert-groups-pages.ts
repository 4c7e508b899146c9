/** Pages of one Alert Group: Alerts, Timeline, related groups (api §12). */
import * as v from 'valibot';
import type { KeyedPage } from '../../actors/alert-group/reading.ts';
import { TIMELINE_KINDS } from '../../actors/alert-group/timeline.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import { pageOf } from '../shapes.ts';
import { relatedBody } from './alert-groups-body.ts';
import { type AlertGroupOperationsDeps, GROUP_IDS, groupIdOf, TAG } from './alert-groups-deps.ts';
import { AlertShape, RelatedShape, TimelineEntryShape } from './alert-groups-shapes.ts';
import { alertBody, entryBody } from './alert-groups-timeline-body.ts';

export function pageOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const { reader } = deps;
  return [
    operation({
      id: 'listAlertGroupAlerts',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/alerts',
      tag: TAG,
      summary: 'List the Alerts of an Alert Group, firing ones first',
      needs: 'alerts:read',
      ids: GROUP_IDS,
      query: v.object({ ...pageQuery, state: v.optional(v.picklist(['firing', 'resolved'])) }),
      answers: { 200: { description: 'A page of Alerts', schema: pageOf(AlertShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'alert-group-alerts',
          filters: { state: call.query.state ?? null },
          read: (asked) => reader.alerts({ ...asked, state: call.query.state ?? null }),
          body: (alert) => alertBody(alert, call.directory),
        }),
    }),

    operation({
      id: 'listTimeline',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/timeline',
      tag: TAG,
      summary: 'Read the Timeline of an Alert Group, newest first by default',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object({
        ...pageQuery,
        kind: v.optional(v.array(v.picklist(TIMELINE_KINDS)), []),
        order: v.optional(v.picklist(['asc', 'desc']), 'desc'),
      }),
      answers: { 200: { description: 'A page of Timeline entries', schema: pageOf(TimelineEntryShape) } },
      handle: (call) => {
        const { kind: kinds, order } = call.query;
        return pageAnswer(deps, call, {
          list: 'timeline',
          filters: { kinds, order },
          read: (asked) => reader.timeline({ ...asked, kinds, descending: order === 'desc' }),
          body: (entry) => entryBody(entry, call.directory),
        });
      },
    }),

    operation({
      id: 'listRelatedAlertGroups',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/related',
      tag: TAG,
      summary: 'List earlier Alert Groups of the same Route and key, newest first',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object(pageQuery),
      answers: { 200: { description: 'A page of earlier Alert Groups', schema: pageOf(RelatedShape) } },
      handle: (call) =>
        pageAnswer(deps, call, {
          list: 'related',
          filters: {},
          read: (asked) => reader.related(asked),
          body: (group) => relatedBody(group, call.directory),
        }),
    }),
  ];
}

interface Asked {
  readonly groupId: PublicId;
  readonly after: readonly (string | number | null)[] | null;
  readonly limit: number;
}

interface PageReading<Item> {
  /** Name of the list, part of its cursors. */
  readonly list: string;
  readonly filters: Readonly<Record<string, unknown>>;
  read(asked: Asked): Promise<KeyedPage<Item>>;
  body(item: Item): unknown;
}

/** One page of something that belongs to an Alert Group; 404 without the group. */
export async function pageAnswer<Item>(
  { reader }: Pick<AlertGroupOperationsDeps, 'reader'>,
  call: Call<{ readonly cursor?: string | undefined; readonly limit?: number | undefined }>,
  { list, filters, read, body }: PageReading<Item>,
): Promise<Answer> {
  const groupId = groupIdOf(call);
  const { cursor, limit = DEFAULT_LIMIT } = call.query;
  const bound = { groupId, ...filters };
  const after = cursor === undefined ? null : decodeCursor(list, bound, cursor);
  if (cursor !== undefined && after === null) return INVALID_CURSOR;
  if (!(await reader.read(groupId))) return notFound();
  const page = await read({ groupId, after, limit });
  const next = page.next && encodeCursor(list, bound, page.next);
  return { status: 200, body: { items: page.items.map(body), next_cursor: next } };
}
