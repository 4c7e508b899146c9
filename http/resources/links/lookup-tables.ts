/** Lookup tables and their shapes: list, create, read, update, delete (messages §10, api §16). */
import * as v from 'valibot';
import { entryOf, rowOf } from '../../../actors/links/configuration.ts';
import type {
  LinkRuleRef,
  LookupTableFields,
  LookupTableStore,
  StoredLookupTable,
} from '../../../actors/links/ports.ts';
import { text } from '../../../actors/schemas.ts';
import { codePoints } from '../../../actors/text.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import {
  conflict,
  type FieldError,
  type FieldErrorCode,
  invalid,
  notFound,
  preconditionFailed,
  refuse,
} from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { duplicates, NAME_LIMIT, name, nameErrors } from '../../schema/fields.ts';
import { decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { Labels, pageOf } from '../../schema/shapes.ts';

/** A Lookup table as it arrives and as it is answered (messages §10, api §16). */
const MOST_COLUMNS = 50;
const MOST_ENTRIES = 10_000;
const CELL_LIMIT = 4_096;

/** Own schema: valibot's record drops names such as `constructor`, which are good names of columns. */
const Cells = v.pipe(
  v.custom<Readonly<Record<string, string>>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'invalid_format',
  ),
  v.description('An object of column names and the cells of this row'),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, value] of Object.entries(dataset.value)) {
      const message = cellProblem(value);
      if (!message) continue;
      addIssue({ message, path: [{ type: 'object', origin: 'value', input: dataset.value, key, value }] });
    }
  }),
);

function cellProblem(value: unknown): FieldErrorCode | null {
  if (typeof value !== 'string') return 'invalid_format';
  return codePoints(value) > CELL_LIMIT ? 'too_long' : null;
}

const LookupTableInput = d.named(
  'LookupTableInput',
  v.object({
    name,
    description: d.described(
      v.optional(v.nullable(text(2_000))),
      'Free text, up to 2,000 characters; null or left out is empty.',
    ),
    columns: d.described(
      v.pipe(v.array(v.string()), v.nonEmpty('too_short'), v.maxLength(MOST_COLUMNS, 'too_long')),
      'Names of the columns, 1 to 50, each once, 1 to 200 characters.',
    ),
    entries: d.described(
      v.pipe(
        v.array(
          v.object({
            key: d.described(
              v.pipe(text(CELL_LIMIT), v.nonEmpty('too_short')),
              'Key of the row, 1 to 4,096 characters, each once.',
            ),
            values: d.described(Cells, 'A value of up to 4,096 characters for each column and no other.'),
          }),
        ),
        v.maxLength(MOST_ENTRIES, 'too_long'),
      ),
      'Rows, at most 10,000.',
    ),
  }),
  'A Lookup table as it is saved.',
);
export type LookupTableInput = v.InferOutput<typeof LookupTableInput>;

const LookupTableShape = d.named(
  'LookupTable',
  v.object({
    id: d.id('TB'),
    name: d.text('Its name, by which templates read it.'),
    description: d.text('Free text.'),
    columns: d.described(v.array(v.string()), 'Names of the columns.'),
    entries: d.described(
      v.array(
        v.object({
          key: d.text('Key of the row.'),
          values: d.described(Labels, 'The value of each column.'),
        }),
      ),
      'Rows by key.',
    ),
    created_at: d.time('When it was created.'),
    etag: d.text('Its version, as in the header `ETag`.'),
  }),
  'Values by key, which templates read.',
);

function lookupTableBody({
  id,
  version,
  fields,
  createdAt,
}: StoredLookupTable): v.InferOutput<typeof LookupTableShape> {
  const { name, description, columns, rows } = fields;
  return {
    id,
    name,
    description,
    columns: [...columns],
    entries: rows.map((row) => entryOf(row, columns)),
    created_at: formatInstant(createdAt),
    etag: `"${version}"`,
  };
}

/** Everything about the body that is 422. */
function lookupTableErrors(input: LookupTableInput): readonly FieldError[] {
  const { columns, entries } = input;
  return [
    ...nameErrors(input.name),
    ...columns.flatMap(columnErrors),
    ...duplicates(columns, '/columns'),
    ...duplicates(
      entries.map(({ key }) => key),
      '/entries',
    ).map((error) => ({ ...error, pointer: `${error.pointer}/key` })),
    ...mismatchErrors(columns, entries),
  ];
}

function columnErrors(column: string, index: number): readonly FieldError[] {
  const pointer = `/columns/${index}`;
  if (column === '') return [{ pointer, code: 'required', detail: 'Give the column a name.' }];
  if (codePoints(column) <= NAME_LIMIT) return [];
  return [{ pointer, code: 'too_long', detail: `A name has at most ${NAME_LIMIT} characters.` }];
}

function mismatchErrors(
  columns: readonly string[],
  entries: LookupTableInput['entries'],
): readonly FieldError[] {
  const wanted = new Set(columns);
  const fits = (values: object) => {
    const names = Object.keys(values);
    return names.length === wanted.size && names.every((each) => wanted.has(each));
  };
  return entries.flatMap(({ values }, index): FieldError[] => {
    if (fits(values)) return [];
    const detail = 'A row has a cell for every column of the table and no other.';
    return [{ pointer: `/entries/${index}/values`, code: 'column_mismatch', detail }];
  });
}

/** What is stored: the name trimmed, rows by key, a description that was left out kept. */
function lookupTableFields(input: LookupTableInput, current: StoredLookupTable | null): LookupTableFields {
  const { columns, description } = input;
  const rows = input.entries.map((entry) => rowOf(entry, columns));
  return {
    name: input.name.trim(),
    description: description === undefined ? (current?.fields.description ?? '') : (description ?? ''),
    columns,
    rows: rows.sort(([left], [right]) => (left < right ? -1 : 1)),
  };
}

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
      description: 'By name, with all entries; a page holds at most 50.',
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
      description: 'Templates read it with `lookup`.',
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
      description: 'With all entries, by key.',
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
      description:
        'Columns and entries are replaced as a whole. A table that Link rules read keeps its name.',
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
      description: '409 `in_use` names the Link rules that read it.',
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
