/** Lookup tables: list, create, read, update, delete (seed 2 §2.11, messages §10, api §16). */
import * as v from 'valibot';
import type {
  LinkRuleRef,
  LookupTableFields,
  LookupTableStore,
  StoredLookupTable,
} from '../../actors/links/ports.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { conflict, invalid, notFound, preconditionFailed, refuse } from '../problem.ts';
import { pageOf } from '../shapes.ts';
import {
  LookupTableInput,
  LookupTableShape,
  lookupTableBody,
  lookupTableErrors,
  lookupTableFields,
} from './lookup-tables-shapes.ts';

export interface LookupTableOperationsDeps {
  readonly store: LookupTableStore;
  /** Reads what links are made of again, here and wherever else it is kept. */
  readonly links: { reload(): Promise<void> };
}

const TAG = 'Lookup tables';
const LIST = 'lookup-tables';
/** Tables carry their rows, so that a page holds few of them whatever is asked for. */
const PAGE = 50;
const TABLE_ID = { lookup_table_id: 'TB' } as const;
const OF_TABLE = { description: 'The Lookup table', schema: LookupTableShape, etag: true } as const;
const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const;
const IN_USE_REFUSAL = [409, 'conflict', 'in_use'] as const;

const ListQuery = v.object(pageQuery);

export function lookupTableOperations({ store, links }: LookupTableOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listLookupTables',
      method: 'GET',
      path: '/lookup-tables',
      tag: TAG,
      summary: 'List Lookup tables by name, at most 50 a page',
      needs: 'lookup-tables:read',
      query: ListQuery,
      answers: { 200: { description: 'Lookup tables with their rows', schema: pageOf(LookupTableShape) } },
      handle: (call) => list(store, call),
    }),

    operation({
      id: 'createLookupTable',
      method: 'POST',
      path: '/lookup-tables',
      tag: TAG,
      summary: 'Create a Lookup table',
      needs: 'lookup-tables:write',
      body: LookupTableInput,
      answers: { 201: OF_TABLE },
      refusals: [NAME_REFUSAL],
      async handle(call) {
        const errors = lookupTableErrors(call.body);
        if (errors.length > 0) return invalid(errors);
        const created = await store.create(lookupTableFields(call.body, null), authorOf(call));
        if (created === 'name_taken') return NAME_TAKEN;
        await links.reload();
        return { ...tableAnswer(201, created), location: `/api/v1/lookup-tables/${created.id}` };
      },
    }),

    operation({
      id: 'getLookupTable',
      method: 'GET',
      path: '/lookup-tables/{lookup_table_id}',
      tag: TAG,
      summary: 'Read a Lookup table',
      needs: 'lookup-tables:read',
      ids: TABLE_ID,
      answers: { 200: OF_TABLE },
      async handle(call) {
        const table = await store.read(tableId(call));
        return table ? tableAnswer(200, table) : notFound();
      },
    }),

    operation({
      id: 'updateLookupTable',
      method: 'PUT',
      path: '/lookup-tables/{lookup_table_id}',
      tag: TAG,
      summary: 'Update a Lookup table; its rows are replaced as a whole',
      needs: 'lookup-tables:write',
      ids: TABLE_ID,
      ifMatch: 'required',
      body: LookupTableInput,
      answers: { 200: OF_TABLE },
      refusals: [IN_USE_REFUSAL, NAME_REFUSAL],
      async handle(call) {
        const update = await store.update(tableId(call), (current) => decide(call, current), authorOf(call));
        switch (update.outcome) {
          case 'unknown':
            return notFound();
          case 'refused':
            return update.refusal;
          case 'in_use':
            return inUse(update.linkRules);
          case 'name_taken':
            return NAME_TAKEN;
          case 'saved':
            await links.reload();
            return tableAnswer(200, update.table);
          case 'unchanged':
            return tableAnswer(200, update.table);
        }
      },
    }),

    operation({
      id: 'deleteLookupTable',
      method: 'DELETE',
      path: '/lookup-tables/{lookup_table_id}',
      tag: TAG,
      summary: 'Delete a Lookup table that no Link rule reads by its name',
      needs: 'lookup-tables:write',
      ids: TABLE_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [IN_USE_REFUSAL],
      async handle(call) {
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removal = await store.remove(tableId(call), isCurrent, authorOf(call));
        switch (removal.outcome) {
          case 'unknown':
            return notFound();
          case 'stale':
            return preconditionFailed();
          case 'in_use':
            return inUse(removal.linkRules);
          case 'removed':
            await links.reload();
            return { status: 204 };
        }
      },
    }),
  ];
}

function tableId(call: Pick<Call, 'params'>): PublicId {
  return call.params.lookup_table_id as PublicId;
}

function tableAnswer(status: number, table: StoredLookupTable) {
  return { status, body: lookupTableBody(table), etag: table.version };
}

async function list(
  store: LookupTableStore,
  { query }: Call<v.InferOutput<typeof ListQuery>>,
): Promise<Answer> {
  const [after = null] = query.cursor === undefined ? [] : (decodeCursor(LIST, {}, query.cursor) ?? [false]);
  if (after !== null && typeof after !== 'string') return INVALID_CURSOR;
  const { items, more } = await store.page(after, Math.min(query.limit ?? PAGE, PAGE));
  const last = more ? items.at(-1) : undefined;
  return {
    status: 200,
    body: {
      items: items.map(lookupTableBody),
      next_cursor: last ? encodeCursor(LIST, {}, [last.fields.name]) : null,
    },
  };
}

type Decided = { readonly save: LookupTableFields } | { readonly refuse: ReturnType<typeof refuse> };

/** Stale before meaning (api §1.3). */
function decide(call: Call<unknown, LookupTableInput>, current: StoredLookupTable): Decided {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = lookupTableErrors(call.body);
  return errors.length > 0 ? { refuse: invalid(errors) } : { save: lookupTableFields(call.body, current) };
}

const NAME_TAKEN = conflict('name_taken', 'Another Lookup table has this name. Choose a different one.');

function inUse(linkRules: readonly LinkRuleRef[]): Answer {
  const detail = 'Link rules read this Lookup table by its name. Change their templates first.';
  return refuse({ status: 409, type: 'conflict', code: 'in_use', detail, linkRules });
}
