/** A Lookup table as it arrives and as it is answered (messages §10, api §16). */
import * as v from 'valibot';
import { entryOf, rowOf } from '../../actors/links/lookup-table.ts';
import type { LookupTableFields, StoredLookupTable } from '../../actors/links/ports.ts';
import { text } from '../../actors/schemas.ts';
import { codePoints } from '../../actors/text.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { duplicates, NAME_LIMIT, name, nameErrors } from '../fields.ts';
import type { FieldError, FieldErrorCode } from '../problem.ts';
import { Labels } from '../shapes.ts';

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

export const LookupTableInput = v.object({
  name,
  description: v.optional(v.nullable(text(2_000))),
  columns: v.pipe(v.array(v.string()), v.nonEmpty('too_short'), v.maxLength(MOST_COLUMNS, 'too_long')),
  entries: v.pipe(
    v.array(v.object({ key: v.pipe(text(CELL_LIMIT), v.nonEmpty('too_short')), values: Cells })),
    v.maxLength(MOST_ENTRIES, 'too_long'),
  ),
});
export type LookupTableInput = v.InferOutput<typeof LookupTableInput>;

export const LookupTableShape = v.object({
  id: v.string(),
  name: v.string(),
  description: v.string(),
  columns: v.array(v.string()),
  entries: v.array(v.object({ key: v.string(), values: Labels })),
  created_at: v.string(),
  etag: v.string(),
});

export function lookupTableBody({
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
export function lookupTableErrors(input: LookupTableInput): readonly FieldError[] {
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
export function lookupTableFields(
  input: LookupTableInput,
  current: StoredLookupTable | null,
): LookupTableFields {
  const { columns, description } = input;
  const rows = input.entries.map((entry) => rowOf(entry, columns));
  return {
    name: input.name.trim(),
    description: description === undefined ? (current?.fields.description ?? '') : (description ?? ''),
    columns,
    rows: rows.sort(([left], [right]) => (left < right ? -1 : 1)),
  };
}
