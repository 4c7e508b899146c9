/** Alert Groups: list, counts, read (alert-groups §10, api §12). */
import * as v from 'valibot';
import { sortKey } from '../../../actors/alert-group/reading/readers.ts';
import { type Answer, type Call, type Operation, operation } from '../../operation.ts';
import { invalid, notFound } from '../../problem.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { foldsBody } from './bodies.ts';
import { bulkOperations } from './bulk.ts';
import { commandOperations } from './commands.ts';
import { noteOperations, pageOperations } from './pages.ts';
import {
  countsFilter,
  countsQuery,
  foldsErrors,
  foldsFilter,
  foldsQuery,
  type ListQuery,
  labelColumns,
  listFilter,
  listQuery,
  queryErrors,
  sortOf,
} from './query.ts';
import { AlertGroupShape, CountsShape, FoldsShape } from './shapes.ts';
import { type AlertGroupOperationsDeps, bodiesFor, GROUP_IDS, groupIdOf, identityOf, TAG } from './shared.ts';
import { presetOperations } from './snooze.ts';

export type { AlertGroupOperationsDeps };

const LIST = 'alert-groups';

/** Everything under /alert-groups that this build does, and the Snooze presets. */
export function alertGroupOperations(deps: AlertGroupOperationsDeps): readonly Operation[] {
  const { reader } = deps;
  return [
    operation({
      id: 'listAlertGroups',
      method: 'GET',
      path: '/alert-groups',
      tag: TAG,
      summary: 'List Alert Groups; the open ones of the last days by default',
      description:
        'With a regular expression a page may be short or empty and still not be the last. 503 when many such readings wait.',
      needs: 'alert-groups:read',
      query: listQuery,
      answers: { 200: { description: 'A page of Alert Groups', schema: pageOf(AlertGroupShape) } },
      refusals: [[422, 'validation-failed', '']],
      handle: (call) => list(deps, call),
    }),

    operation({
      id: 'getAlertGroupCounts',
      method: 'GET',
      path: '/alert-group-counts',
      tag: TAG,
      summary: 'Count Alert Groups by status',
      description: 'The filters of the list, over every status. 503 when counting takes more than 5 s.',
      needs: 'alert-groups:read',
      query: countsQuery,
      answers: { 200: { description: 'How many Alert Groups have each status', schema: CountsShape } },
      refusals: [[422, 'validation-failed', '']],
      async handle(call) {
        const errors = queryErrors(call.query, identityOf(call));
        if (errors.length > 0) return invalid(errors);
        const filter = countsFilter(call.query, identityOf(call), call.directory, call.now);
        const { firing, acknowledged, snoozed, resolved } = await reader.counts(filter);
        const all = firing + acknowledged + snoozed + resolved;
        return { status: 200, body: { firing, acknowledged, snoozed, resolved, all } };
      },
    }),

    operation({
      id: 'getAlertGroupFolds',
      method: 'GET',
      path: '/alert-group-folds',
      tag: TAG,
      summary: 'Count Alert Groups by the values or names of labels',
      description:
        'The 200 largest, of the newest 10,000 that the filters find; of fewer with a regular expression.',
      needs: 'alert-groups:read',
      query: foldsQuery,
      answers: { 200: { description: 'The folds, the largest first', schema: FoldsShape } },
      refusals: [[422, 'validation-failed', '']],
      async handle(call) {
        const { query, directory, now } = call;
        const errors = foldsErrors(query, identityOf(call));
        if (errors.length > 0) return invalid(errors);
        const filter = foldsFilter(query, identityOf(call), directory, now);
        const { by = null } = query;
        const folds = await reader.folds({ filter, by, distinct: [...new Set(query.distinct)] });
        return { status: 200, body: foldsBody(folds) };
      },
    }),

    operation({
      id: 'getAlertGroup',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}',
      tag: TAG,
      summary: 'Read an Alert Group',
      description: '404 once retention removed it.',
      needs: 'alert-groups:read',
      ids: GROUP_IDS,
      query: v.object({ label_columns: labelColumns }),
      answers: { 200: { description: 'The Alert Group', schema: AlertGroupShape } },
      async handle(call) {
        const group = await reader.read(groupIdOf(call));
        if (!group) return notFound();
        const [body] = await bodiesFor(deps, call, [group], call.query.label_columns);
        return { status: 200, body };
      },
    }),

    ...pageOperations(deps),
    ...noteOperations(deps),
    ...commandOperations(deps),
    ...bulkOperations(deps),
    ...presetOperations(),
  ];
}

async function list(deps: AlertGroupOperationsDeps, call: Call<ListQuery>): Promise<Answer> {
  const { query, directory, now } = call;
  const identity = identityOf(call);
  const errors = queryErrors(query, identity);
  if (errors.length > 0) return invalid(errors);
  const { cursor, limit = DEFAULT_LIMIT, label_columns: columns, ...filters } = query;
  const after = cursor === undefined ? null : afterOf(cursor, filters);
  if (after === 'invalid') return INVALID_CURSOR;
  const page = await deps.reader.list({
    filter: listFilter(query, identity, directory, now),
    ...sortOf(query.sort),
    after,
    limit,
  });
  const items = await bodiesFor(deps, call, page.items, columns);
  const last = page.items[items.length - 1];
  const next = last && items.length < page.items.length ? sortKey(last, sortOf(query.sort).sort) : page.next;
  return { status: 200, body: { items, next_cursor: next && encodeCursor(LIST, filters, next) } };
}

function afterOf(cursor: string, filters: unknown): readonly [number, number] | 'invalid' {
  const [value, number] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof value === 'number' && typeof number === 'number' ? [value, number] : 'invalid';
}
