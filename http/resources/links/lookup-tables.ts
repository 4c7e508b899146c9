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
import { type Answer, authorOf, type Call, type Operation } from '../../operation.ts';
import { type FieldError, type FieldErrorCode, invalid, preconditionFailed, refuse } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { duplicates, freeText, NAME_LIMIT, name, nameErrors } from '../../schema/fields.ts';
import { Labels } from '../../schema/shapes.ts';
import { configurationOperations, NAME_REFUSAL, PlainQuery } from '../configuration.ts';

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
    description: freeText,
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
          values: d.described(Labels, 'By column.'),
        }),
      ),
      'Rows by key.',
    ),
    created_at: d.CREATED_AT,
    etag: d.VERSION,
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

/** Tables carry their rows, so that a page holds few of them whatever is asked for. */
const PAGE = 50;
const IN_USE_REFUSAL = [409, 'conflict', 'in_use'] as const;

export function lookupTableOperations({ store, links }: LookupTableOperationsDeps): readonly Operation[] {
  return configurationOperations({
    names: ['LookupTable', 'LookupTables'],
    tag: 'Lookup tables',
    path: '/lookup-tables',
    id: ['lookup_table_id', 'TB'],
    noun: 'Lookup table',
    words: {
      create: ['Create a Lookup table', 'Templates read it with `lookup`.'],
      get: ['Read a Lookup table', 'With all entries, by key.'],
      update: [
        'Update a Lookup table; its rows are replaced as a whole',
        'Columns and entries are replaced as a whole. A table that Link rules read keeps its name.',
      ],
      delete: [
        'Delete a Lookup table that no Link rule reads by its name',
        '409 `in_use` names the Link rules that read it.',
      ],
    },
    shape: LookupTableShape,
    input: LookupTableInput,
    refusals: { create: [NAME_REFUSAL], update: [IN_USE_REFUSAL, NAME_REFUSAL], delete: [IN_USE_REFUSAL] },
    list: {
      words: [
        'List Lookup tables by name, at most 50 a page',
        'By name, with all entries; a page holds at most 50.',
      ],
      answer: 'Lookup tables with their rows',
      query: PlainQuery,
      most: PAGE,
      place: v.tuple([v.string()]),
      filters: () => ({}),
      async page(_call, after, limit) {
        const [name = null] = (after ?? []) as readonly string[];
        const { items, more } = await store.page(name, limit);
        const last = more ? items.at(-1) : undefined;
        return { items, next: last ? [last.fields.name] : null };
      },
    },
    body: lookupTableBody,
    read: (id) => store.read(id),
    async create(call) {
      const errors = lookupTableErrors(call.body);
      if (errors.length > 0) return { refuse: invalid(errors) };
      const created = await store.create(lookupTableFields(call.body, null), authorOf(call));
      if (created === 'name_taken') return created;
      await links.reload();
      return { saved: created };
    },
    async update(call, id) {
      const update = await store.update(id, (current) => decide(call, current), authorOf(call));
      if (update.outcome === 'refused') return { refuse: update.refusal };
      if (update.outcome === 'in_use') return { refuse: inUse(update.linkRules) };
      if (update.outcome === 'saved') await links.reload();
      return 'table' in update ? { saved: update.table } : update.outcome;
    },
    async remove(call, id, isCurrent) {
      const removal = await store.remove(id, isCurrent, authorOf(call));
      if (removal.outcome === 'in_use') return { refuse: inUse(removal.linkRules) };
      if (removal.outcome === 'removed') await links.reload();
      return removal.outcome;
    },
  });
}

type Decided = { readonly save: LookupTableFields } | { readonly refuse: ReturnType<typeof refuse> };

/** Stale before meaning (api §1.3). */
function decide(call: Call<unknown, LookupTableInput>, current: StoredLookupTable): Decided {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = lookupTableErrors(call.body);
  return errors.length > 0 ? { refuse: invalid(errors) } : { save: lookupTableFields(call.body, current) };
}

function inUse(linkRules: readonly LinkRuleRef[]): Answer {
  const detail = 'Link rules read this Lookup table by its name. Change their templates first.';
  return refuse({ status: 409, type: 'conflict', code: 'in_use', detail, linkRules });
}
