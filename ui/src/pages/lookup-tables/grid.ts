/** Rows of a Lookup table as they are typed, pasted and exchanged with spreadsheets. Pure. */
import type { LookupEntry, LookupTableInput } from '../../api/configuration.ts';

/** The key, then a cell for every column. */
export type GridRow = readonly string[];

export const MOST_COLUMNS = 50;
export const MOST_ROWS = 10_000;

export interface LookupTableDraft {
  name: string;
  description: string;
  columns: readonly string[];
  rows: readonly GridRow[];
}

export const NEW_TABLE: LookupTableInput = { name: '', description: '', columns: [''], entries: [] };

export function toDraft({ name, description, columns, entries }: LookupTableInput): LookupTableDraft {
  const rows = entries.map(({ key, values }) => [key, ...columns.map((column) => values[column] ?? '')]);
  return { name, description, columns: [...columns], rows };
}

/** Rows without anything in them are left out. */
export function fromDraft({ name, description, columns, rows }: LookupTableDraft): LookupTableInput {
  return { name, description, columns, entries: filledRows(rows).map((row) => entryOf(row, columns)) };
}

export function filledRows(rows: readonly GridRow[]): readonly GridRow[] {
  return rows.filter((row) => row.some((cell) => cell !== ''));
}

function entryOf([key = '', ...cells]: GridRow, columns: readonly string[]): LookupEntry {
  return { key, values: Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])) };
}

export function emptyRow(columns: readonly string[]): GridRow {
  return ['', ...columns.map(() => '')];
}

/** @param at 0 is the key */
export function withCell(
  rows: readonly GridRow[],
  row: number,
  at: number,
  value: string,
): readonly GridRow[] {
  return rows.map((cells, index) => (index === row ? cells.with(at, value) : cells));
}

export function withColumn(rows: readonly GridRow[]): readonly GridRow[] {
  return rows.map((cells) => [...cells, '']);
}

/** @param column index among the columns */
export function withoutColumn(rows: readonly GridRow[], column: number): readonly GridRow[] {
  return rows.map((cells) => cells.toSpliced(column + 1, 1));
}

/**
 * What was copied from a spreadsheet, laid over the rows from a cell on; rows are added as needed. Too many of them are
 * for the server to refuse: none is lost without a word.
 */
export function pasted(
  rows: readonly GridRow[],
  columns: readonly string[],
  row: number,
  at: number,
  copied: readonly GridRow[],
): readonly GridRow[] {
  const length = Math.max(rows.length, row + copied.length);
  return Array.from({ length }, (_, index) => {
    const cells = rows[index] ?? emptyRow(columns);
    const over = copied[index - row];
    return over ? cells.map((cell, place) => over[place - at] ?? cell) : cells;
  });
}

/** The row that a pointer of the server is about; null for any other pointer. */
export function rowOf(pointer: string | undefined): number | null {
  const [, row] = /^\/entries\/(\d+)(?:\/|$)/.exec(pointer ?? '') ?? [];
  return row === undefined ? null : Number(row);
}

/** How many rows are not as they were at the beginning. */
export function changedRows(before: readonly GridRow[], after: readonly GridRow[]): number {
  const written = new Set(before.map((row) => JSON.stringify(row)));
  const present = filledRows(after).map((row) => JSON.stringify(row));
  const kept = present.filter((row) => written.has(row)).length;
  return Math.max(present.length, before.length) - kept;
}

/**
 * Reads what spreadsheets copy (tabs) and write (commas or semicolons); cells may be quoted. What stands behind the quotes
 * of a cell belongs to it.
 */
export function parseCells(text: string, separator: string): readonly GridRow[] {
  const rows: string[][] = [];
  let row: string[] = [];
  const other = `[^${separator}\\r\\n]*`;
  const cell = new RegExp(`"((?:[^"]|"")*)"(${other})|${other}`, 'y');
  for (let at = 0; at <= text.length; ) {
    cell.lastIndex = at;
    const [whole = '', quoted, behind = ''] = cell.exec(text) ?? [];
    row.push(quoted === undefined ? whole : quoted.replaceAll('""', '"') + behind);
    at += whole.length;
    if (text[at] === separator) {
      at += 1;
      continue;
    }
    rows.push(row);
    row = [];
    at += text.startsWith('\r\n', at) ? 2 : 1;
  }
  // A line feed at the end begins no row.
  return rows.filter((cells) => cells.length > 1 || cells[0] !== '');
}

/** The separator that a file is written with. */
export function separatorOf(text: string): string {
  const [first = ''] = text.split('\n', 1);
  const counts = [',', ';', '\t'].map((separator) => first.split(separator).length);
  return [',', ';', '\t'][counts.indexOf(Math.max(...counts))] ?? ',';
}

/** A file with a heading: the key, then the columns. */
export function readCsv(text: string): Pick<LookupTableDraft, 'columns' | 'rows'> {
  const body = text.replace(/^\uFEFF/, '');
  const [[, ...columns] = [], ...lines] = parseCells(body, separatorOf(body));
  const rows = lines.map((line) => emptyRow(columns).map((cell, at) => line[at] ?? cell));
  return { columns, rows };
}

export function writeCsv(columns: readonly string[], rows: readonly GridRow[]): string {
  const quoted = (cell: string) => (/[",\r\n;\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return [['key', ...columns], ...rows].map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('');
}
